package main

import (
	"context"
	"net/http"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// freshFor is the maximum time since the sign-in of a user who creates a token.
const freshFor = 15 * time.Minute

// signedInPerson is a guard for pages with changes. It refuses the session of an API token, also as a cookie, because
// no sign-in created that session.
func signedInPerson(_ context.Context, s *core.Session) error {
	if s.AuthTime.IsZero() {
		return core.ErrForbidden
	}
	return nil
}

// withoutBearer refuses requests with an Authorization header, which API clients send.
func withoutBearer(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			http.Error(w, "This page takes no token.", http.StatusForbidden)
			return
		}
		next(w, r)
	}
}

// tokenPages creates API tokens.
type tokenPages struct {
	*answers
	auth *core.Auth
	url  string // of the site
}

func (t *tokenPages) get(w http.ResponseWriter, r *http.Request) { t.show(w, r, "") }

// post creates an API token: a separate session that does not count as a sign-in. It can change neither the account nor
// the team, and can create no further token. The account page lists it and can end it.
func (t *tokenPages) post(w http.ResponseWriter, r *http.Request) {
	token, err := t.make(r)
	if err != nil {
		t.fail(w, r, err)
		return
	}
	t.show(w, r, token)
}

func (t *tokenPages) show(w http.ResponseWriter, r *http.Request, token string) {
	_, me, err := t.people.me(r.Context())
	if err != nil {
		t.fail(w, r, err)
		return
	}
	show(w, r, http.StatusOK, tokenPage(me, token, t.url))
}

func (t *tokenPages) make(r *http.Request) (string, error) {
	session, err := authhttp.Session(r)
	if err != nil {
		return "", err
	}
	// Without the browser's cookies, so that the new session replaces no other.
	ask := *authhttp.Request(r)
	ask.Header = http.Header{"User-Agent": {"API token"}}
	cookies, err := t.auth.NewSession(r.Context(), &ask, &core.User{
		ID: session.UserID, Name: session.User.Name, Email: session.User.Email,
	})
	if err != nil {
		return "", err
	}
	for _, c := range cookies {
		ask.Header.Add("Cookie", c.Name+"="+c.Value)
	}
	return t.auth.RawToken(r.Context(), &ask)
}
