package main

import (
	"context"
	"errors"
	"net/http"
	"strings"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// oldSessions has the methods of *scs.SessionManager that adopt calls. With gorilla/sessions, implement them yourself.
type oldSessions interface {
	GetString(ctx context.Context, key string) string
	Remove(ctx context.Context, key string)
}

// adopt must run after the old library's middleware.
func adopt(auth *core.Auth, a *authhttp.Adapter, users core.Store, old oldSessions, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := a.LoadSession(w, r)
		id := ""
		if session == nil && err == nil {
			id = old.GetString(r.Context(), "userID")
		}
		if id == "" { // a Latchkey session, no session, or an error: next handles these
			next.ServeHTTP(w, r)
			return
		}
		user, err := users.User(r.Context(), id)
		if errors.Is(err, core.ErrNotFound) { // the user was deleted
			old.Remove(r.Context(), "userID")
			next.ServeHTTP(w, r)
			return
		}
		if err != nil {
			http.Error(w, "Please try again.", http.StatusServiceUnavailable)
			return
		}
		cookies, err := auth.NewSession(r.Context(), authhttp.Request(r), user)
		if err != nil {
			http.Error(w, "Please try again.", http.StatusServiceUnavailable)
			return
		}
		for _, c := range cookies {
			w.Header().Add("Set-Cookie", c.String())
		}
		old.Remove(r.Context(), "userID") // last, because the old session must stay valid until here
		// The browser repeats the request with the new session, including the body of a POST. Two slashes would be a host.
		http.Redirect(w, r, "/"+strings.TrimLeft(r.URL.RequestURI(), "/"), http.StatusTemporaryRedirect)
	})
}
