package main

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

var pages = template.Must(template.New("").Funcs(ui.Funcs(context.Background())).Parse(`
{{define "home"}}<!doctype html>
<html lang="en">
<title>Notes</title>
<script src="/htmx.min.js"></script>
<body>
{{if signedIn}}<button hx-get="/notes" hx-target="#notes">Show my notes</button> {{signOut}}{{else}}{{signIn}}{{end}}
<div id="notes"></div>
{{end}}
{{define "notes"}}<ul>{{range .}}<li>{{.}}</li>{{end}}</ul>{{end}}
`))

// render writes a template for this request.
func render(w http.ResponseWriter, r *http.Request, name string, data any) {
	if err := ui.Render(w, r, pages, name, data); err != nil { // it has already responded with 500
		slog.ErrorContext(r.Context(), "page failed", "name", name, "error", err)
	}
}

func site(auth *core.Auth, notes func(ctx context.Context, userID string) []string) http.Handler {
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /{$}", a.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		render(w, r, "home", nil)
	})))
	mux.Handle("GET /notes", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r) // RequireSession has read it
		render(w, r, "notes", notes(r.Context(), session.UserID))
	})))
	own := http.NewCrossOriginProtection()               // for hx-post
	own.AddInsecureBypassPattern("POST /auth/callback/") // Latchkey checks these: Apple posts from its own site
	return own.Handler(mux)
}
