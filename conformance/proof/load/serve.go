package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

const sessionCookie = "authjs.session-token"

// serve serves the auth routes, and below /bare what they answer, byte by byte.
func serve(out io.Writer) error {
	service := func(id string) core.Provider {
		return &core.OAuthProvider{
			ID: id, Name: strings.ToUpper(id[:1]) + id[1:], Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
			Authorization: core.Endpoint{URL: "https://op.example/authorize"},
			Token:         core.Endpoint{URL: "https://op.example/token"},
			Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
		}
	}
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, TrustHost: core.On,
		Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		Providers: []core.Provider{service("github"), service("google"), &core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
			Fields:    []core.Field{{Name: "email", Label: "E-mail"}, {Name: "password", Label: "Password", Type: "password"}},
		}},
	})
	if err != nil {
		return err
	}
	token, err := auth.SealToken(&core.Token{
		Subject: "4f8b6a52-6a6d-4d3e-9a53-2c1b0f5d9e11", Name: "Ada Lovelace",
		Email: "ada@example.com", Picture: "https://example.com/ada.png",
	}, sessionCookie, long)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	csrf, err := csrfCookie(mux, l.Addr().String())
	if err != nil {
		return err
	}
	s := served{Address: l.Addr().String(), Targets: []target{
		{"session", "/auth/session", sessionCookie + "=" + token + "; " + csrf, 0.5},
		{"csrf", "/auth/csrf", csrf, 0.8},
		{"providers", "/auth/providers", csrf, 0.8},
		{"signin", "/auth/signin", csrf, 0.5},
	}}
	for _, t := range s.Targets {
		answer, err := ask(mux, s.Address, t.Path, t.Cookie)
		if err != nil {
			return err
		}
		body, kind := answer.Body.Bytes(), answer.Header().Get("Content-Type")
		mux.HandleFunc("/bare"+t.Path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(body)
		})
	}
	if err := json.NewEncoder(out).Encode(s); err != nil {
		return err
	}
	return (&http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}).Serve(l)
}

func ask(mux http.Handler, host, path, cookie string) (*httptest.ResponseRecorder, error) {
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+host+path, nil)
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	mux.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", path, w.Code)
	}
	return w, nil
}

// csrfCookie is what a browser holds after its first visit.
func csrfCookie(mux http.Handler, host string) (string, error) {
	answer, err := ask(mux, host, "/auth/csrf", "")
	if err != nil {
		return "", err
	}
	var pairs []string
	for _, c := range answer.Result().Cookies() {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return strings.Join(pairs, "; "), nil
}
