// The net/http example: home page, protected account page, session JSON, four sign-in methods, offline.
package main

import (
	"encoding/json"
	"log"
	"net/http"

	"github.com/a-h/templ"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/examples/internal/demo"
)

func main() {
	app, err := demo.Start()
	if err != nil {
		log.Fatal(err)
	}
	if err := app.Serve(routes(app)); err != nil {
		log.Fatal(err)
	}
}

func routes(app *demo.App) http.Handler {
	mux := http.NewServeMux()
	a := authhttp.New(app.Auth)
	a.Mount(mux)

	page := func(view func(*core.Session) templ.Component) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			session, err := authhttp.Session(r)
			if err != nil {
				http.Error(w, "The session could not be read.", http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Security-Policy", demo.ContentPolicy)
			templ.Handler(view(session)).ServeHTTP(w, r)
		})
	}
	mux.Handle("GET /{$}", a.Hook(page(demo.Home)))
	mux.Handle("GET /account", a.RequireSession(page(demo.Account)))
	mux.Handle("GET /api/session", a.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := authhttp.Session(r)
		if err != nil {
			http.Error(w, "The session could not be read.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(session)
	})))
	mux.HandleFunc("GET /demo.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write(demo.Stylesheet())
	})
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write(demo.Icon())
	})
	mux.Handle("GET /mailbox", app.Mailbox)
	return mux
}
