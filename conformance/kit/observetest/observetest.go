// Package observetest drives an instrumented application, and returns the values that no metric, span or event may
// contain. Packages that implement Config.Observe and Config.Audit use it in their tests.
package observetest

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Secret or personal data in the flows.
const (
	secret   = "CANARY-secret-of-32-bytes-or-more-"
	password = "CANARY-password"
	address  = "canary-address@example.com"
	typed    = "canary-typed@example.com"
	code     = "CANARY-code"
	access   = "CANARY-access-token"
	client   = "CANARY-client-secret"
	account  = "CANARY-account-id"
	hostile  = "CANARY-provider"
	token    = "CANARY-mailed-token"
)

const base = "https://app.test"

// Drive creates an Auth with the configuration that wrap returns, and sends requests to it: sign-ins with right and
// wrong passwords, with the provider "acme" that accepts and rejects, and by email, and requests without a CSRF token
// and for unknown providers. The requests have the context ctx. The store must support sessions and tokens. Drive
// returns the values that must not appear in any output.
func Drive(ctx context.Context, t testing.TB, store core.Store, wrap func(core.Config) core.Config) []string {
	t.Helper()
	user, err := store.CreateUser(ctx, &core.User{ID: core.NewID(), Email: address})
	if err != nil {
		t.Fatal(err)
	}
	a := &application{user: user}
	auth, err := core.New(wrap(a.config(store)))
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{
		secret, password, address, typed, code, access, client, account, hostile, token, user.ID, "192.0.2.1",
	}
	for _, way := range []func(*browser, *application){byPassword, byProvider, byMail, lost} {
		v := &browser{TB: t, ctx: ctx, auth: auth, cookies: map[string]string{}, seen: map[string]bool{}}
		way(v, a)
		for value := range v.seen {
			secrets = append(secrets, value)
		}
	}
	if len(a.mails) != 1 || len(secrets) < 20 {
		t.Fatalf("%d mails, %d secrets", len(a.mails), len(secrets))
	}
	return append(secrets, a.mails...)
}

// application is the application that the flows use.
type application struct {
	user    *core.User
	mails   []string // tokens
	refuses bool     // the provider's token endpoint returns an error
}

func (a *application) config(store core.Store) core.Config {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	return core.Config{
		Store: store, URL: base, Secrets: []core.Secret{secret}, Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		Now: func() time.Time { return now }, Getenv: func(string) string { return "" },
		Logger: slog.New(slog.DiscardHandler), CleanUp: core.False,
		Providers: []core.Provider{
			&core.CredentialsProvider{Authorize: a.authorize},
			&core.OAuthProvider{
				ID: "acme", Type: core.TypeOAuth, ClientID: "app", ClientSecret: client,
				Authorization: core.Endpoint{URL: "https://acme.test/authorize"},
				Token:         core.Endpoint{URL: "https://acme.test/token"},
				Userinfo:      core.Endpoint{URL: "https://acme.test/me"},
				HTTPClient:    &http.Client{Transport: transport(a.provider)},
			},
			&core.EmailProvider{Send: func(_ context.Context, m core.Email) error {
				a.mails = append(a.mails, string(m.Token))
				return nil
			}},
		},
	}
}

func (a *application) authorize(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
	if form["email"] == address && form["password"] == password {
		return a.user, nil
	}
	return nil, nil
}

type transport func(r *http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func (a *application) provider(r *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, `{"sub":"`+account+`","name":"Ada"}`
	switch {
	case r.URL.Path == "/token" && a.refuses:
		status, body = http.StatusBadRequest, `{"error":"invalid_grant"}`
	case r.URL.Path == "/token":
		body = `{"access_token":"` + access + `","token_type":"bearer"}`
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

func byPassword(v *browser, _ *application) {
	v.submit("/auth/callback/credentials", url.Values{"email": {address}, "password": {password + "?"}})
	v.submit("/auth/callback/credentials", url.Values{"email": {typed}, "password": {password}})
	v.submit("/auth/callback/credentials", url.Values{"email": {address}, "password": {password}})
	if body := string(v.send("GET", "/auth/session", "").Body); !strings.Contains(body, address) {
		v.Fatalf("the session is %s", body)
	}
	v.submit("/auth/signout", nil)
}

func byProvider(v *browser, a *application) {
	for _, a.refuses = range []bool{false, true} {
		sent, err := url.Parse(v.submit("/auth/signin/acme", nil).Redirect)
		if err != nil || sent.Host != "acme.test" {
			v.Fatalf("sent to %v: %v", sent, err)
		}
		back := url.Values{"code": {code}, "state": {sent.Query().Get("state")}}
		v.send("GET", "/auth/callback/acme?"+back.Encode(), "")
	}
}

func byMail(v *browser, _ *application) {
	v.submit("/auth/signin/email", url.Values{"email": {typed}})
	v.submit("/auth/callback/email?token="+token+"&email="+typed, nil)
}

// lost sends requests with unknown actions and providers.
func lost(v *browser, _ *application) {
	v.send("POST", "/auth/callback/credentials", "email="+typed)
	v.submit("/auth/signin/"+hostile, nil)
	v.send("GET", "/auth/callback/"+hostile+"?code="+code, "")
	v.send("GET", "/auth/"+hostile, "")
}

// browser is a browser without a network.
type browser struct {
	testing.TB
	ctx     context.Context //nolint:containedctx // one visit
	auth    *core.Auth
	cookies map[string]string
	seen    map[string]bool // secret cookie values
}

func (v *browser) submit(target string, fields url.Values) *core.Response {
	v.Helper()
	_, rest, _ := strings.Cut(string(v.send("GET", "/auth/csrf", "").Body), `"csrfToken":"`)
	proof, _, _ := strings.Cut(rest, `"`)
	form := url.Values{"csrfToken": {proof}}
	for name, values := range fields {
		form[name] = values
	}
	return v.send("POST", target, form.Encode())
}

func (v *browser) send(method, target, body string) *core.Response {
	r := &core.Request{
		Method: method, Target: target, Hosts: []string{"app.test"}, Scheme: "https", RemoteAddr: "192.0.2.1:1234",
		Header: http.Header{"Accept": {"text/html"}, "Content-Type": {"application/x-www-form-urlencoded"}},
		Body:   strings.NewReader(body),
	}
	var pairs []string
	for name, value := range v.cookies {
		pairs = append(pairs, name+"="+url.QueryEscape(value))
	}
	r.Header.Set("Cookie", strings.Join(pairs, "; "))
	response := v.auth.Handle(v.ctx, r)
	for _, c := range response.Cookies {
		if c.HasMaxAge && c.MaxAge <= 0 {
			delete(v.cookies, c.Name)
			continue
		}
		v.cookies[c.Name] = c.Value
		if !strings.Contains(c.Name, "callback-url") && len(c.Value) > 8 {
			v.seen[c.Value] = true
		}
	}
	return response
}
