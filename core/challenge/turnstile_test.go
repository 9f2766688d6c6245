package challenge_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/challenge"
)

const secret = "0x4AAAAAAA-the-secret"

// TestTurnstile verifies a token against responses of siteverify.
func TestTurnstile(t *testing.T) {
	right := `{"success":true,"hostname":"app.example","action":"sign-in"}`
	const testing1 = "1x0000000000000000000000000000000AA"
	for _, row := range []struct {
		name, token, secret string
		hostnames           []string
		status              int
		body                string
		want                string // "ok", "refused" or "unavailable"
		calls               int
	}{
		{name: "a valid token", body: right, want: "ok", calls: 1},
		{name: "host in other case", body: strings.Replace(right, "app", "APP", 1), want: "ok", calls: 1},
		{name: "made on another host", body: strings.Replace(right, "app.", "evil.", 1), want: "refused", calls: 1},
		{name: "made on a subdomain", body: strings.Replace(right, "app.", "x.app.", 1), want: "refused", calls: 1},
		{name: "without a host", body: `{"success":true,"action":"sign-in"}`, want: "refused", calls: 1},
		{
			name: "made on a listed host", hostnames: []string{"www.example"},
			body: strings.Replace(right, "app.", "www.", 1), want: "ok", calls: 1,
		},
		{name: "the list replaces the host", hostnames: []string{"www.example"}, body: right, want: "refused", calls: 1},
		{name: "made for another action", body: strings.Replace(right, "-in", "-up", 1), want: "refused", calls: 1},
		{name: "without an action", body: `{"success":true,"hostname":"app.example"}`, want: "refused", calls: 1},
		{
			name: "used before", body: `{"success":false,"error-codes":["timeout-or-duplicate"]}`, want: "refused", calls: 1,
		},
		{name: "failed without a code", body: `{"success":false}`, want: "refused", calls: 1},
		{
			name: "status 400 with a verdict", status: 400,
			body: `{"success":false,"error-codes":["invalid-input-response"]}`, want: "refused", calls: 1,
		},
		{
			name: "the secret is wrong", body: `{"success":false,"error-codes":["invalid-input-secret"]}`,
			want: "unavailable", calls: 1,
		},
		{
			name: "internal error", body: `{"success":false,"error-codes":["internal-error"]}`, want: "unavailable", calls: 1,
		},
		{name: "status 500", status: 500, body: right, want: "unavailable", calls: 1},
		{name: "an HTML page", body: "<!doctype html>", want: "unavailable", calls: 1},
		{name: "success is a text", body: `{"success":"true"}`, want: "unavailable", calls: 1},
		{name: "a redirect", status: 302, body: "", want: "unavailable", calls: 1},
		{name: "an endless body", body: `{"x":"` + strings.Repeat("x", 1<<20), want: "unavailable", calls: 1},
		{name: "no token", token: "-", body: right, want: "refused"},
		{name: "a long token", token: strings.Repeat("x", 2049), body: right, want: "refused"},
		{name: "a testing secret", secret: testing1, body: `{"success":true,"hostname":"example.com"}`, want: "ok", calls: 1},
		{
			name: "a testing secret that fails", secret: "2" + testing1[1:], body: `{"success":false}`, want: "refused",
			calls: 1,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				if r.Method != "POST" || r.URL.String() != "/turnstile/v0/siteverify" || r.FormValue("secret") == "" {
					t.Errorf("request %s %s", r.Method, r.URL)
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(max(row.status, 200))
				_, _ = io.WriteString(w, row.body)
			}))
			defer server.Close()
			o := challenge.TurnstileOptions{
				SiteKey: "site", Secret: secret, Hostnames: row.hostnames, Origin: server.URL,
			}
			if row.secret != "" {
				o.Secret = row.secret
			}
			c := challenge.Turnstile(o)
			if problems := c.Validate(); problems != nil {
				t.Fatal(problems)
			}
			token := strings.TrimPrefix(row.token, "-")
			if row.token == "" {
				token = "token"
			}
			err := c.Verify(t.Context(), challenge.Params{
				Token: token, Action: challenge.SignIn, Host: "app.example", Client: noRedirects,
			})
			got := "ok"
			switch {
			case errors.Is(err, challenge.ErrRefused):
				got = "refused"
			case err != nil:
				got = "unavailable"
			}
			if got != row.want || calls != row.calls {
				t.Errorf("%s after %d calls: %v, want %s after %d", got, calls, err, row.want, row.calls)
			}
			if err != nil && (strings.Contains(err.Error(), o.Secret) || strings.Contains(err.Error(), token) && token != "" &&
				token != "token") {
				t.Errorf("the error has a secret: %v", err)
			}
		})
	}
}

var noRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}}

// TestTurnstileRemoteIP: the client's address is sent if it is known.
func TestTurnstileRemoteIP(t *testing.T) {
	for _, at := range []netip.Addr{{}, netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")} {
		want := ""
		if at.IsValid() {
			want = at.String()
		}
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if got := r.FormValue("remoteip"); got != want || r.Form.Has("remoteip") != at.IsValid() {
				t.Errorf("remoteip is %q, want %q", got, want)
			}
		}))
		c := challenge.Turnstile(challenge.TurnstileOptions{SiteKey: "site", Secret: secret, Origin: server.URL})
		_ = c.Verify(t.Context(), challenge.Params{Token: "token", RemoteIP: at, Client: http.DefaultClient})
		server.Close()
		err := c.Verify(t.Context(), challenge.Params{Token: "token", RemoteIP: at, Client: http.DefaultClient})
		if err == nil || errors.Is(err, challenge.ErrRefused) {
			t.Errorf("a closed server: %v", err)
		}
	}
}

func TestValidate(t *testing.T) {
	if problems := challenge.Turnstile(challenge.TurnstileOptions{SiteKey: "a", Secret: "b"}).Validate(); problems != nil {
		t.Error(problems)
	}
	if problems := challenge.Turnstile(challenge.TurnstileOptions{}).Validate(); len(problems) != 2 {
		t.Errorf("without keys: %q", problems)
	}
	if problems := new(challenge.Challenge).Validate(); len(problems) != 5 {
		t.Errorf("an empty challenge: %q", problems)
	}
	for _, source := range []string{
		"", "'unsafe-inline'", "https:", "*", "captcha.example", "http://captcha.example", "https://a.example/path",
		"https://a.example https://b.example", "https://a.example; script-src *", "https://a.example\n",
	} {
		c := challenge.Turnstile(challenge.TurnstileOptions{SiteKey: "a", Secret: "b"})
		c.Widget.StyleSources = []string{source}
		if problems := c.Validate(); !slices.ContainsFunc(problems, func(p string) bool {
			return strings.Contains(p, "StyleSources[0]")
		}) {
			t.Errorf("%q is accepted", source)
		}
	}
	c := challenge.Turnstile(challenge.TurnstileOptions{SiteKey: "a", Secret: "b"})
	c.Verify = func(context.Context, challenge.Params) error { return nil }
	c.Widget.Script = "http://captcha.example/api.js"
	if problems := c.Validate(); len(problems) != 1 {
		t.Errorf("a script of plain http: %q", problems)
	}
}
