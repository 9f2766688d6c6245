package main

import (
	"context"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// tenant is a customer with its own host, identity provider and store.
type tenant struct {
	name, host, issuer string
	id, secret         string
	store              core.Store
}

func newAuth(t tenant) (*core.Auth, error) {
	return core.New(core.Config{
		URL:      "https://" + t.host,
		Audience: t.name, // the Auths of other tenants do not accept this tenant's tokens
		Store:    t.store,
		Providers: []core.Provider{providers.OIDC("work", t.issuer, providers.Options{
			ClientID: t.id, ClientSecret: core.Secret(t.secret),
		})},
	})
}

func site(tenants []tenant) (http.Handler, error) {
	byHost := map[string]*core.Auth{}
	for _, t := range tenants {
		auth, err := newAuth(t)
		if err != nil {
			return nil, err
		}
		byHost[t.host] = auth
	}
	auth := core.PerRequest("/auth", func(_ context.Context, r *core.Request) (*core.Auth, error) {
		if len(r.Hosts) == 1 && byHost[r.Hosts[0]] != nil {
			return byHost[r.Hosts[0]], nil
		}
		return nil, core.ErrNoTenant // 404
	})
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /", a.RequireSession(http.HandlerFunc(home)))
	return mux, nil
}

func home(w http.ResponseWriter, r *http.Request) {
	session, err := authhttp.Session(r)
	if err != nil {
		http.Error(w, "Please try again.", http.StatusInternalServerError)
		return
	}
	_, _ = w.Write([]byte("Hello, " + session.User.Name))
}
