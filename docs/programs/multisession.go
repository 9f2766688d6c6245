package main

import (
	"fmt"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/multisession"
	"github.com/latchkey-go/latchkey/providers"
)

func newAuth(store core.Store, more ...core.Provider) (*core.Auth, *multisession.Accounts, error) {
	accounts := multisession.New()
	auth, err := core.New(core.Config{
		Store:     store,
		Providers: append([]core.Provider{providers.GitHub()}, more...),
		Plugins:   []core.Plugin{accounts},
	})
	return auth, accounts, err
}

func site(auth *core.Auth, accounts *multisession.Accounts) http.Handler {
	mux, a := http.NewServeMux(), authhttp.New(auth)
	a.Mount(mux)
	mux.Handle("GET /inbox", a.Require()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := core.SessionFrom(r.Context())
		if err != nil {
			http.Error(w, "Please try again.", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintln(w, "<!doctype html><title>Inbox</title><p>The inbox of", s.UserID)
		if err := accounts.Switcher().Render(r.Context(), w); err != nil {
			http.Error(w, "Please try again.", http.StatusServiceUnavailable)
		}
	})))
	return mux
}
