package main

import (
	"fmt"
	"net/http"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

func main() {
	// reads AUTH_SECRET, AUTH_URL, AUTH_GITHUB_ID and AUTH_GITHUB_SECRET
	auth, err := core.New(core.Config{Providers: []core.Provider{providers.GitHub()}})
	if err != nil {
		panic(err) // lists every configuration error and its fix
	}
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /account", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r)
		fmt.Fprintf(w, "Hello, %s", session.User.Name)
	})))
	server := &http.Server{Addr: "localhost:3000", Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	panic(server.ListenAndServe())
}
