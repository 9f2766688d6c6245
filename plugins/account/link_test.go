package account_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
)

// service simulates the provider. Every user is "other".
type service struct{}

func (service) RoundTrip(r *http.Request) (*http.Response, error) {
	body := `{"access_token":"a","token_type":"bearer"}`
	if r.URL.Path == "/user" {
		body = `{"id":"other","name":"Other","email":"other@example.com"}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// TestLinkNeedsARecentSignIn: linking an account requires a recent sign-in, so that an attacker with an open session
// cannot link one.
func TestLinkNeedsARecentSignIn(t *testing.T) {
	s := newSite(t, setup{
		options: account.Options{Fresh: 10 * time.Minute},
		configure: func(c *core.Config) {
			c.Providers[2].(*core.OAuthProvider).HTTPClient = &http.Client{Transport: service{}}
		},
	})
	b := s.as(ada)
	link := func() {
		t.Helper()
		target, err := url.Parse(b.post("signin/hub", nil).Redirect)
		s.must(err)
		b.open("callback/hub?" + url.Values{"code": {"c"}, "state": {target.Query().Get("state")}}.Encode())
	}
	s.wait(11 * time.Minute)
	link()
	if n := len(b.overview().Accounts); n != 1 {
		t.Fatalf("%d accounts after linking with an old proof", n)
	}
	b.signIn(ada)
	link()
	if n := len(b.overview().Accounts); n != 2 {
		t.Errorf("%d accounts after linking with a fresh proof", n)
	}
}
