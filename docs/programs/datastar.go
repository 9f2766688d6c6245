package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

var home = template.Must(template.New("").Funcs(ui.Funcs(context.Background())).Parse(`
{{define "home"}}<!doctype html>
<html lang="en">
<title>Notes</title>
<script type="module" src="/datastar.js"></script>
<body data-signals="{note: ''}">
{{if signedIn}}{{signOut}}{{else}}{{signIn}}{{end}}
<button id="show" data-on:click="@get('/notes')">Show my notes</button>
<input id="note" data-bind="note" aria-label="Note"> <button id="add" data-on:click="@post('/notes')">Add</button>
<ul id="notes"></ul>
{{end}}`))

var list = template.Must(template.New("").Parse(`<ul id="notes">{{range .}}<li>{{.}}</li>{{end}}</ul>`))

// notebook stores the notes of users.
type notebook interface {
	Notes(ctx context.Context, userID string) []string
	Add(ctx context.Context, userID, note string)
}

// patch sends an event that replaces the element with the same ID on the page.
func patch(w http.ResponseWriter, notes []string) {
	var element strings.Builder
	if err := list.Execute(&element, notes); err != nil {
		slog.Error("list failed", "error", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: datastar-patch-elements\n")
	for line := range strings.FieldsFuncSeq(element.String(), func(c rune) bool { return c == '\n' || c == '\r' }) {
		fmt.Fprintf(w, "data: elements %s\n", line) // a line break in a note must not start another field
	}
	fmt.Fprint(w, "\n")
}

func site(auth *core.Auth, book notebook) http.Handler {
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /{$}", a.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := ui.Render(w, r, home, "home", nil); err != nil { // it has already responded with 500
			slog.ErrorContext(r.Context(), "page failed", "error", err)
		}
	})))
	mux.Handle("GET /notes", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r) // RequireSession has read it
		patch(w, book.Notes(r.Context(), session.UserID))
	})))
	mux.Handle("POST /notes", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r)
		var signals struct{ Note string }
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&signals); err != nil {
			http.Error(w, "the signals are no JSON", http.StatusBadRequest)
			return
		}
		book.Add(r.Context(), session.UserID, signals.Note)
		patch(w, book.Notes(r.Context(), session.UserID))
	})))
	own := http.NewCrossOriginProtection()               // for @post
	own.AddInsecureBypassPattern("POST /auth/callback/") // Latchkey checks these: Apple posts from its own site
	return own.Handler(mux)
}
