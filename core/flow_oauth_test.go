package core_test

import (
	"crypto/ed25519"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestProviderFaultsTellWhatToCheck checks that the log names the provider and the fields and variables to check.
func TestProviderFaultsTellWhatToCheck(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) transport {
		return func(r *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(body)), Request: r,
			}, nil
		}
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	for _, row := range []struct {
		name   string
		client transport
		auth   core.ClientAuth
		want   []string
		not    string
	}{
		{"wrong secret", answer(401, `{"error":"invalid_client"}`), core.ClientSecretBasic,
			[]string{`provider \"my-op\"`, "ClientSecret (AUTH_MY_OP_ID, AUTH_MY_OP_SECRET)", "client_secret_basic"}, ""},
		{"wrong secret, as GitHub says it", answer(200, `{"error":"incorrect_client_credentials"}`), core.ClientSecretPost,
			[]string{"AUTH_MY_OP_SECRET", "client_secret_post"}, ""},
		{"not for this grant", answer(400, `{"error":"unauthorized_client"}`), core.ClientAuthNone,
			[]string{"ClientID (AUTH_MY_OP_ID)", "public"}, "AUTH_MY_OP_SECRET"},
		{"wrong key", answer(401, `{"error":"invalid_client"}`), core.PrivateKeyJWT,
			[]string{"AUTH_MY_OP_PRIVATE_KEY", "private_key_jwt"}, "AUTH_MY_OP_SECRET"},
		{"another refusal", answer(400, `{"error":"invalid_scope"}`), core.ClientSecretBasic,
			[]string{"invalid_scope"}, "AUTH_MY_OP_SECRET"},
		{"a code that was used", answer(400, `{"error":"invalid_grant"}`), core.ClientSecretBasic,
			[]string{"invalid_grant"}, "AUTH_MY_OP_SECRET"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &service{}
			p := s.provider("my-op", core.CheckState)
			p.ClientAuth, p.HTTPClient, p.ClientKey = row.auth, &http.Client{Transport: row.client}, key
			a := newApp(t, core.Config{Providers: []core.Provider{p}})
			b := visit(t, a)
			r := b.submit("/auth/signin/my-op", nil)
			b.get(s.grant(t, r.Redirect))
			log := a.log.String()
			for _, word := range row.want {
				if !strings.Contains(log, word) {
					t.Errorf("no %s in\n%s", word, log)
				}
			}
			level := "level=ERROR"
			if row.name == "a code that was used" { // for example after a reload
				level = "level=WARN"
			}
			if row.not != "" && strings.Contains(log, row.not) || !strings.Contains(log, level) {
				t.Errorf("the log says\n%s", log)
			}
		})
	}

	t.Run("down", func(t *testing.T) {
		down := transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
		a := newApp(t, core.Config{Providers: []core.Provider{&core.OAuthProvider{
			ID: "my-op", Type: core.TypeOIDC, Issuer: "https://op.example", ClientID: "id", ClientSecret: "s",
			HTTPClient: &http.Client{Transport: down},
		}}})
		visit(t, a).submit("/auth/signin/my-op", nil)
		for _, word := range []string{
			"my-op", "connection refused", "AUTH_MY_OP_ISSUER", "this machine reaches it", "level=ERROR",
		} {
			if !strings.Contains(a.log.String(), word) {
				t.Errorf("no %s in\n%s", word, a.log)
			}
		}
	})
}
