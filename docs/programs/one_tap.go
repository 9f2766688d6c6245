package main

import (
	"context"
	"html/template"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/onetap"
	"github.com/latchkey-go/latchkey/ui"
)

// newAuth gets providers.Google().
func newAuth(store core.Store, google *core.OAuthProvider) (*core.Auth, error) {
	return core.New(core.Config{
		Store: store, Providers: []core.Provider{google}, Plugins: []core.Plugin{onetap.New(onetap.Options{})},
	})
}

var pages = template.Must(template.New("home").Funcs(ui.Funcs(context.Background())).Parse(
	`<!doctype html><html lang="en"><title>Acme</title><h1>Welcome to Acme</h1>{{oneTap}}`))

func site(auth *core.Auth) http.Handler {
	mux, a := http.NewServeMux(), authhttp.New(auth)
	a.Mount(mux)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		if err := ui.Render(w, r, pages, "home", nil); err != nil {
			http.Error(w, "Please try again.", http.StatusInternalServerError)
		}
	})
	return a.Hook(mux)
}
