package core_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// full is a store that takes no new users.
type full struct{ *people }

func (full) CreateUser(context.Context, *core.User) (*core.User, error) {
	return nil, errors.New("disk full")
}

// TestNamesThatAreNotSent brings about what the names Signin, OAuthSignin, OAuthCreateAccount, EmailCreateAccount and
// Callback once stood for: no visitor can mend it, so they are told Configuration, and the log has the rest
// (docs/protocol.md §11.1).
func TestNamesThatAreNotSent(t *testing.T) {
	t.Parallel()
	const errorPage, signInPage = "https://app.test/auth/error", "https://app.test/auth/signin"
	down := &http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("connection refused")
	})}
	begin := func(b *browser, _ *url.URL) *core.Response { return b.submit("/auth/signin/op", nil) }
	comeBack := func(b *browser, _ *url.URL) *core.Response {
		return b.get((&service{}).grant(b.t, b.submit("/auth/signin/op", nil).Redirect))
	}
	follow := func(b *browser, mailed *url.URL) *core.Response {
		b.submit("/auth/signin/op", url.Values{"email": {"new@example.com"}})
		return b.get(mailed.RequestURI())
	}
	for _, row := range []struct {
		name     string // that once was sent
		provider core.Provider
		run      func(b *browser, mailed *url.URL) *core.Response
		page     string
	}{
		{"Signin and OAuthSignin, discovery", &core.OAuthProvider{
			ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example", ClientID: "id", ClientSecret: "s", HTTPClient: down,
		}, begin, errorPage},
		{"OAuthSignin, OAuth 1.0a", &core.OAuthProvider{
			ID: "op", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "s", HTTPClient: down,
			RequestToken:  core.Endpoint{URL: "https://op.example/request"},
			Authorization: core.Endpoint{URL: "https://op.example/authorize"},
			Token:         core.Endpoint{URL: "https://op.example/token"},
			Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
		}, begin, signInPage},
		{"Callback", func() core.Provider {
			p := (&service{}).provider("op")
			p.HTTPClient = down
			return p
		}(), comeBack, errorPage},
		{"OAuthCreateAccount", granting(new(string)), comeBack, errorPage},
		{"EmailCreateAccount", &core.EmailProvider{ID: "op", ConfirmLink: core.Off}, follow, errorPage},
	} {
		t.Run(row.name, func(t *testing.T) {
			mailed := &url.URL{}
			if p, ok := row.provider.(*core.EmailProvider); ok {
				p.Send = func(_ context.Context, m core.SignInMail) error {
					return mailed.UnmarshalBinary([]byte(m.URL))
				}
			}
			a := newApp(t, core.Config{
				Store: full{newPeople()}, Session: core.SessionConfig{Strategy: core.StrategyJWT},
				Providers: []core.Provider{row.provider},
			})
			r := row.run(visit(t, a), mailed)
			if r.Redirect != row.page+"?error=Configuration" || r.Err == nil {
				t.Errorf("led to %s: %v", r.Redirect, r.Err)
			}
			if log := a.log.String(); !strings.Contains(log, "ERROR") {
				t.Errorf("the log says %s", log)
			}
		})
	}
}
