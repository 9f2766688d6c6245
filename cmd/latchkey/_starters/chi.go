package main

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// newSite returns the router: the application's pages, and Latchkey's sign-in page and other routes under /auth.
func newSite(auth *core.Auth, mails http.Handler) http.Handler {
	a := authhttp.New(auth)
	r := chi.NewRouter()
	r.Handle("/auth/*", a)
	r.Method(http.MethodGet, "/mailbox", mails)
	r.With(a.Hook).Get("/", show("Welcome"))
	r.With(a.RequireSession).Get("/members", show("Members"))
	r.With(a.Require(adminsOnly)).Get("/admin", show("Administration"))
	return r
}

func show(title string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		session, err := authhttp.Session(r)
		if err != nil {
			http.Error(w, "Please try again.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = render(w, title, session)
	}
}

func serve(site http.Handler, addr string) error {
	server := &http.Server{
		Addr: addr, Handler: site,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
	}
	return server.ListenAndServe()
}
