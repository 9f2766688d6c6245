package main

import (
	"fmt"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
	"github.com/latchkey-go/latchkey/providers"
)

const orders = "https://orders.example" // the ID of the other service

// newAuth is in the application, at https://app.example.
func newAuth(url string, store core.Store) (*core.Auth, error) {
	return core.New(core.Config{
		URL: url, Store: store, Providers: []core.Provider{providers.GitHub()},
		Plugins: []core.Plugin{accesstoken.New(accesstoken.Options{Audiences: []accesstoken.Audience{
			{ID: orders, Scopes: []string{"orders:read", "orders:write"}},
		}})},
	})
}

// application is the application's handler.
func application(auth *core.Auth) http.Handler {
	mux, a := http.NewServeMux(), authhttp.New(auth)
	a.Mount(mux)          // POST /auth/access-token
	a.MountWellKnown(mux) // GET /.well-known/jwks.json
	return mux
}

// service is the handler of the other service.
func service(issuer string) (http.Handler, error) {
	verifier, err := verify.New(verify.Options{Issuer: issuer, Audience: orders})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /orders", verifier.Require("orders:read")(http.HandlerFunc(list)))
	return mux, nil
}

func list(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprintln(w, "orders of user", verify.FromContext(r.Context()).Subject)
}
