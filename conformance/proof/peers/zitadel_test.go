package peers_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// zitadel serves the example provider of zitadel/oidc. Its issuer ends in a slash, claims are only in userinfo, users
// fill in a form, and the callback has no iss. rotate replaces its keys and all its data.
func zitadel(t *testing.T, s *site) (issuer string, rotate func()) {
	t.Helper()
	var current atomic.Pointer[http.Handler]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(*current.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	issuer = server.URL + "/"
	rotate = func() {
		callback := s.URL + "/auth/callback/op"
		storage.RegisterClients(storage.WebClient("site", secret, callback), storage.NativeClient("native", callback))
		users := storage.NewStorage(storage.NewUserStore(issuer))
		var h http.Handler = exampleop.SetupServer(issuer, users, slog.New(slog.DiscardHandler), false)
		current.Store(&h)
	}
	rotate()
	return issuer, rotate
}

// fillIn submits the provider's form.
func (v *visitor) fillIn(at page) page {
	v.t.Helper()
	if at.url.Path != "/login/username" {
		v.t.Fatalf("ended at %s %s\n%s", at.url, at.body, v.site.logged())
	}
	form := *at.url
	form.RawQuery = ""
	r, err := v.PostForm(form.String(), url.Values{
		"username": {"test-user2"}, "password": {"verysecure"}, "id": {at.url.Query().Get("authRequestID")},
	})
	return v.arrive(r, err)
}

const testUser = "Test User2 test-user2@zitadel.ch"

func TestZitadel(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(p *core.OAuthProvider)
		good   bool
	}{
		{"client_secret_basic", func(*core.OAuthProvider) {}, true},
		{"client_secret_post", func(p *core.OAuthProvider) { p.ClientAuth = core.ClientSecretPost }, true},
		{"none", func(p *core.OAuthProvider) {
			p.ClientID, p.ClientAuth, p.ClientSecret = "native", core.ClientAuthNone, ""
		}, true},
		{"wrong secret", func(p *core.OAuthProvider) { p.ClientSecret = "wrong" }, false},
		{"no secret", func(p *core.OAuthProvider) { p.ClientAuth, p.ClientSecret = core.ClientAuthNone, "" }, false},
		{"issuer without its slash", func(p *core.OAuthProvider) { p.Issuer = strings.TrimSuffix(p.Issuer, "/") }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t)
			issuer, _ := zitadel(t, s)
			p := providers.OIDC("op", issuer, providers.Options{ClientID: "site", ClientSecret: secret})
			p.ProfileFromUserinfo = true
			row.change(p)
			s.open(t, p)
			v := s.visitor(t)
			at := v.click("op")
			if at.url.Path == "/login/username" {
				at = v.fillIn(at)
			}
			if (at.body == "home") != row.good || (v.signedIn() == testUser) != row.good {
				t.Fatalf("ended at %s\n%s", at.url, s.logged())
			}
			if strings.Contains(s.logged(), "p%ss") {
				t.Error("the log has the secret")
			}
			if !row.good {
				return
			}
			if q := v.pass("/auth/callback/op").Query(); q.Has("iss") {
				t.Error("the callback has an iss: this peer is here because it sends none")
			}
			if e := s.last(t); e.Account.ProviderAccountID != "id2" || e.Account.IDToken == "" {
				t.Errorf("account %q", e.Account.ProviderAccountID)
			}
		})
	}
}

func TestZitadelKeyRotation(t *testing.T) {
	s := newSite(t)
	issuer, rotate := zitadel(t, s)
	p := providers.OIDC("op", issuer, providers.Options{ClientID: "site", ClientSecret: secret})
	p.ProfileFromUserinfo = true
	s.open(t, p)
	for range 3 {
		v := s.visitor(t)
		if at := v.fillIn(v.click("op")); at.body != "home" || v.signedIn() != testUser {
			t.Fatalf("ended at %s\n%s", at.url, s.logged())
		}
		rotate()
		s.setSkew(s.skew + 2*time.Minute)
	}
}

func TestZitadelRefreshTokenAndMetadata(t *testing.T) {
	s := newSite(t)
	issuer, _ := zitadel(t, s)
	p := providers.OIDC("op", issuer, providers.Options{
		ClientID: "site", ClientSecret: secret, Scope: "openid profile email offline_access",
	})
	p.ProfileFromUserinfo = true
	s.open(t, p)
	v := s.visitor(t)
	if at := v.fillIn(v.click("op")); at.body != "home" {
		t.Fatalf("ended at %s\n%s", at.url, s.logged())
	}
	var metadata map[string]any
	if err := json.Unmarshal([]byte(v.get(issuer+".well-known/openid-configuration").body), &metadata); err != nil {
		t.Fatal(err)
	}
	if metadata["end_session_endpoint"] == nil || metadata["authorization_response_iss_parameter_supported"] == true {
		t.Errorf("metadata %v", metadata)
	}
	account, err := s.store.Account(t.Context(), "op", "id2")
	if err != nil {
		t.Fatal(err)
	}
	s.refresh(t, account)
}
