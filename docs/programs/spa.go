package main

import (
	"encoding/json"
	"io/fs"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// site serves the files of the front end's build.
func site(auth *core.Auth, dist fs.FS) http.Handler {
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /api/me", a.RequireSession(http.HandlerFunc(me)))
	mux.Handle("GET /assets/", http.FileServerFS(dist))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { // the front end has its own router
		http.ServeFileFS(w, r, dist, "index.html")
	})
	own := http.NewCrossOriginProtection()               // for POSTs to /api
	own.AddInsecureBypassPattern("POST /auth/callback/") // Latchkey checks these: Apple posts from its own site
	return own.Handler(mux)
}

func me(w http.ResponseWriter, r *http.Request) {
	session, _ := authhttp.Session(r) // RequireSession has read it
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"name": session.User.Name})
}
