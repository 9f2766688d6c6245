package main

import (
	"embed"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// assets are the stylesheet, the script and the logo, as they are: there is no build step.
//
//go:embed assets
var assets embed.FS

// routes says who may ask for what. All of it stands here: a handler that is reached has nothing left to check.
func (s *site) routes() http.Handler {
	a, mux := authhttp.New(s.auth), http.NewServeMux()
	a.Mount(mux) // sign-in, account page and session JSON below /auth

	anybody := a.Hook
	signedIn := a.RequireSession
	writers := a.Require(core.Role(s.team.people, member, owner))
	owners := a.Require(core.Role(s.team.people, owner))
	proved := a.Require(core.Fresh(freshFor)) // asks again whom nobody asked for a while
	route := func(pattern string, guard func(http.Handler) http.Handler, handle http.HandlerFunc) {
		mux.Handle(pattern, guard(policy(handle)))
	}

	route("GET /{$}", anybody, s.getHome)
	route("GET /board", signedIn, s.getBoard)
	route("GET /live", signedIn, s.getLive)
	route("POST /cards", writers, s.postCard)
	route("POST /cards/{id}/move", writers, s.postMove)
	route("POST /cards/{id}/remove", writers, s.postRemove)

	route("GET /team", owners, s.getTeam)
	route("POST /team/invite", owners, s.postInvite)
	route("POST /team/{id}", owners, s.postRole)

	route("GET /token", proved, s.getToken)
	route("POST /token", proved, s.postToken)
	route("GET /api/cards", signedIn, s.apiList)
	route("POST /api/cards", writers, s.apiAdd)
	route("PATCH /api/cards/{id}", writers, s.apiMove)
	route("DELETE /api/cards/{id}", writers, s.apiRemove)

	route("POST /language", anybody, chooseLanguage)
	mux.Handle("GET /assets/", http.FileServerFS(assets))
	mux.Handle("GET /favicon.ico", http.RedirectHandler("/assets/logo.svg", http.StatusMovedPermanently))
	mux.Handle("GET /mailbox", s.ways.mailbox)

	// Other sites may not have a visitor's browser post here: the cookies would come along.
	return http.NewCrossOriginProtection().Handler(mux)
}

// contentPolicy lets pages have what this site serves, and nothing else. Not a line of script or style is in them.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// policy sets what holds for every answer of the board's own, and bounds what a visitor posts.
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
