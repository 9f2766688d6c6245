package peers_test

import (
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// oauthlib starts the OAuth 1.0a provider and returns its configuration.
func oauthlib(t *testing.T) *core.OAuthProvider {
	t.Helper()
	const hint = "the OAuth 1.0a provider needs python3-oauthlib: " +
		"apt-get install -y --no-install-recommends python3-oauthlib"
	const python = "/usr/bin/python3" // the system's Python, because apt installs packages only for it
	if err := exec.CommandContext(t.Context(), python, "-c", "import oauthlib.oauth1").Run(); err != nil {
		engines.Absent(t, hint)
	}
	address := engines.Peer(t, exec.CommandContext(t.Context(), python, "oauth1/server.py"))
	p := providers.TwitterOAuth1(providers.Options{ClientID: "consumer-key", ClientSecret: "consumer & secret+/="})
	for _, e := range []*core.Endpoint{&p.RequestToken, &p.Authorization, &p.Token, &p.Userinfo} {
		e.URL = address + strings.TrimPrefix(e.URL, "https://api.x.com")
	}
	return p
}

func TestOAuth1(t *testing.T) {
	p := oauthlib(t)
	s := newSite(t)
	s.open(t, p)
	v := s.visitor(t)
	if at := v.click("twitter"); at.body != "home" {
		t.Fatalf("ended at %s\n%s", at.url, s.logged())
	}
	if who := v.signedIn(); who != "X Dev dev@example.com" {
		t.Errorf("signed in as %q", who)
	}
	account, err := s.store.Account(t.Context(), "twitter", "2244994945")
	if err != nil {
		t.Fatal(err)
	}
	token, secret := account.Extra.Text("oauth_token"), account.Extra.Text("oauth_token_secret")
	if token == "" || secret == "" ||
		token == v.pass("/oauth/authenticate").Query().Get("oauth_token") || account.AccessToken != "" {
		t.Errorf("the account has no separate access token: %d, %d", len(token), len(secret))
	}
	user, err := s.store.UserByAccount(t.Context(), "twitter", "2244994945")
	if err != nil || user.Image != "https://pbs.example.com/p.jpg" {
		t.Errorf("user %v, error %v", user, err)
	}
	for _, private := range []string{secret, token, "consumer & secret"} {
		if strings.Contains(s.logged(), private) {
			t.Error("the log has a secret")
		}
	}
	for _, u := range v.seen {
		if strings.Contains(u.String(), url.QueryEscape(secret)) {
			t.Errorf("the browser has seen the secret at %s", u.Path)
		}
	}
}

// TestOAuth1Refused sends callbacks that must not sign a user in.
func TestOAuth1Refused(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(p *core.OAuthProvider)
		answer func(v *visitor, callback *url.URL) string
		error  string
	}{
		{"wrong consumer secret", func(p *core.OAuthProvider) { p.ClientSecret = "wrong" }, nil, "Configuration"},
		{"unknown consumer", func(p *core.OAuthProvider) { p.ClientID = "unknown-key" }, nil, "Configuration"},
		{"the visitor denies", func(p *core.OAuthProvider) {
			p.Authorization.Params = url.Values{"deny": {"1"}}
		}, nil, "OAuthCallbackError"},
		{"another browser", nil, func(v *visitor, callback *url.URL) string {
			return v.site.visitor(v.t).get(callback.String()).url.Query().Get("error")
		}, "Configuration"},
		{"again", nil, func(v *visitor, callback *url.URL) string {
			return v.get(callback.String()).url.Query().Get("error") // the user is signed in and continues
		}, ""},
		{"made-up token", nil, func(v *visitor, callback *url.URL) string {
			callback.RawQuery = "oauth_token=made-up&oauth_verifier=made-up"
			return v.get(callback.String()).url.Query().Get("error") // as above
		}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := oauthlib(t)
			if row.change != nil {
				row.change(p)
			}
			s := newSite(t)
			s.open(t, p)
			v := s.visitor(t)
			at := v.click("twitter")
			got := at.url.Query().Get("error")
			if row.answer != nil {
				if at.body != "home" {
					t.Fatalf("ended at %s\n%s", at.url, s.logged())
				}
				callback := *v.pass("/auth/callback/twitter")
				before := len(s.signIns)
				got = row.answer(v, &callback)
				if len(s.signIns) != before {
					t.Error("a user was signed in")
				}
			} else if v.signedIn() != "" {
				t.Error("a user was signed in")
			}
			if got != row.error {
				t.Errorf("error %q, want %q\n%s", got, row.error, s.logged())
			}
		})
	}
}

// TestOAuth1TwoTabs starts two sign-ins in one browser and completes each of them.
func TestOAuth1TwoTabs(t *testing.T) {
	p := oauthlib(t)
	s := newSite(t)
	s.open(t, p)
	for i, name := range []string{"the older", "the newer"} {
		t.Run(name, func(t *testing.T) {
			v := s.visitor(t)
			follow := v.CheckRedirect
			v.CheckRedirect = stop // before the provider's page
			tabs := []string{v.click("twitter").location, v.click("twitter").location}
			v.CheckRedirect = follow
			if at := v.get(tabs[i]); at.body != "home" || v.signedIn() == "" {
				t.Fatalf("ended at %s\n%s", at.url, s.logged())
			}
		})
	}
}
