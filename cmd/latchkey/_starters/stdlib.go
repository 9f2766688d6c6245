package main

import (
	"net/http"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// newSite returns the router: the application's pages, and Latchkey's sign-in page and other routes under /auth.
func newSite(auth *core.Auth, mails http.Handler) http.Handler {
	a := authhttp.New(auth)
	mux := http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /mailbox", mails)
	mux.Handle("GET /{$}", a.Hook(show("Welcome")))
	mux.Handle("GET /members", a.RequireSession(show("Members")))
	mux.Handle("GET /admin", a.Require(adminsOnly)(show("Administration")))
	return mux
}

func show(title string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := authhttp.Session(r)
		if err != nil {
			http.Error(w, "Please try again.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = render(w, title, session)
	})
}

func serve(site http.Handler, addr string) error {
	server := &http.Server{
		Addr: addr, Handler: site,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
	}
	return server.ListenAndServe()
}
