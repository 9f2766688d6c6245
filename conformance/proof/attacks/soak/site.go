package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

const (
	host    = "app.example"
	secret  = "latchkey-soak-secret-0123456789abcdef"
	private = "/private"
	people  = 64 // users that sign in
)

// site is the application behind one adapter, with stored sessions, default limits and timeouts.
type site struct {
	address  string
	store    *memory.Store
	stop     func() error
	kinds    []kind // what its clients do
	*guessed        // nil if credentials are not guessed
}

func openSite(ctx context.Context, adapter string, deadline time.Duration) (*site, error) {
	s := &site{store: memory.New(), kinds: kinds}
	auth, err := core.New(core.Config{
		URL: "http://" + host, Secrets: []core.Secret{secret}, Store: s.store,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Logger:         slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		Providers: []core.Provider{
			&core.OAuthProvider{
				ID: "op", Type: core.TypeOAuth, ClientID: "client", ClientSecret: "secret",
				Authorization: core.Endpoint{URL: "https://op.example/authorize"},
				Token:         core.Endpoint{URL: "https://op.example/token"},
				Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
				HTTPClient:    &http.Client{Transport: service{}},
			},
			&core.EmailProvider{From: "app@" + host, Send: func(context.Context, core.Email) error { return nil }},
		},
	})
	if err != nil {
		return nil, err
	}
	return s, s.serve(ctx, adapter, wire.Site{
		Auth: auth, Mounted: true, Private: private, ReadTimeout: deadline, WriteTimeout: deadline,
	})
}

func (s *site) serve(ctx context.Context, adapter string, w wire.Site) error {
	listener, err := wire.Listen(ctx, false)
	if err != nil {
		return err
	}
	s.address = listener.Addr().String()
	s.stop, err = wire.Serve(adapter, w, listener)
	return err
}

func (s *site) close() { _ = s.stop() }

// sessions returns the number of stored sessions.
func (s *site) sessions(ctx context.Context) (n int, err error) {
	for i := range people {
		user, err := s.store.UserByAccount(ctx, "op", strconv.Itoa(i))
		if err != nil {
			continue // this user never signed in
		}
		list, err := s.store.Sessions(ctx, user.ID)
		if err != nil {
			return 0, err
		}
		n += len(list)
	}
	return n, nil
}

// service is the provider, without a network. A code is a person's number, and so is the token for it.
type service struct{}

func (service) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.URL.Path == "/token" {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return nil, err
		}
		body = fmt.Sprintf(`{"access_token":%q,"token_type":"bearer"}`, form.Get("code"))
	} else {
		who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		body = fmt.Sprintf(`{"sub":%q,"name":"Person %s","email":"p%s@%s"}`, who, who, who, host)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}
