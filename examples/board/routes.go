package main

import (
	"embed"
	"net/http"
	"strings"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// assets contains the stylesheet, the script and the logo. There is no build step.
//
//go:embed assets
var assets embed.FS

// routes has every path and its guards, so that handlers need no checks.
func (s *site) routes() http.Handler {
	a, mux := authhttp.New(s.auth), http.NewServeMux()
	a.Mount(mux) // sign-in, account page and session JSON under /auth
	a.MountWellKnown(mux)

	anybody := a.Hook
	signedIn := a.RequireSession
	writers := a.Require(s.people.Permission(write))
	proved := a.Require(signedInPerson, core.RecentSignIn(freshFor)) // requires a recent sign-in
	route := func(pattern string, guard func(http.Handler) http.Handler, handle http.HandlerFunc) {
		mux.Handle(pattern, guard(policy(handle)))
	}

	shared := &answers{s.people, s.live, s.log}
	board := &boardPages{shared, s.cards}
	lives := &livePages{answers: shared, board: board, auth: s.auth}
	tokens := &tokenPages{shared, s.auth, s.url}
	programs := &api{shared, s.cards}

	route("GET /{$}", anybody, board.home)
	route("GET /board", signedIn, board.get)
	route("GET /live", signedIn, lives.get)
	route("POST /cards", writers, board.add)
	route("POST /cards/{id}/move", writers, board.move)
	route("POST /cards/{id}/remove", writers, board.remove)

	route("GET /token", proved, withoutBearer(tokens.get))
	route("POST /token", proved, withoutBearer(tokens.post))
	route("GET /api/cards", signedIn, programs.list)
	route("POST /api/cards", writers, programs.add)
	route("PATCH /api/cards/{id}", writers, programs.move)
	route("DELETE /api/cards/{id}", writers, programs.remove)

	route("POST /language", anybody, chooseLanguage)
	mux.Handle("GET /assets/", http.FileServerFS(assets))
	mux.Handle("GET /favicon.ico", http.RedirectHandler("/assets/logo.svg", http.StatusMovedPermanently))
	mux.Handle("GET /mailbox", s.ways.mailbox)

	// Browsers send the cookies with posts from other sites too, so such posts are refused.
	own := http.NewCrossOriginProtection()
	own.AddInsecureBypassPattern("POST /auth/callback/") // Latchkey checks these: Apple posts from its own site
	return own.Handler(onlyPersons("/auth/organization/", a.Require(signedInPerson)(mux), mux))
}

// onlyPersons passes requests below a path, the pages for members and invitations, to a guarded handler: the session of
// an API token may not use them.
func onlyPersons(below string, guarded, open http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, below) {
			guarded.ServeHTTP(w, r)
			return
		}
		open.ServeHTTP(w, r)
	})
}

// contentPolicy only allows resources of this site, and no inline scripts or styles.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// policy sets the headers of every response of the board, and limits the size of posts.
func policy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
		next.ServeHTTP(w, r)
	})
}
