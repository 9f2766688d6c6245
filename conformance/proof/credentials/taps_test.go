package credentials_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/onetap"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestTaps signs in with one tap on each router and with both strategies. A replay, the nonce of another browser, and a
// post without a token are refused.
func TestTaps(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, adapter := range wire.Adapters() {
			t.Run(string(strategy)+"/"+adapter, func(t *testing.T) { taps(t, adapter, strategy) })
		}
	}
}

// tapBrowser is a browser with cookies.
type tapBrowser struct {
	*site
	client *http.Client
}

func (s *site) tapBrowser() *tapBrowser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &tapBrowser{s, &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// member returns a text member of a JSON response.
func (b *tapBrowser) member(path, name string) string {
	b.Helper()
	var all map[string]string
	r := b.send(b.client, "GET", path, nil, "Accept", "application/json")
	if err := json.Unmarshal([]byte(r.body), &all); err != nil || r.StatusCode != http.StatusOK {
		b.Fatalf("%s: %d %s", path, r.StatusCode, r.body)
	}
	return all[name]
}

// tap posts an ID token of a person, and reports whether the private page opens then.
func (b *tapBrowser) tap(nonce string, header ...string) (signedIn bool, to string) {
	b.Helper()
	form := url.Values{
		"credential": {newSDK().idTokenFor(b.T, "web", "lin", nonce)}, "callbackUrl": {"/cart"},
		"csrfToken": {b.member("/auth/csrf", "csrfToken")},
	}
	if len(header) > 0 {
		form.Del("csrfToken")
	}
	r := b.send(b.client, "POST", "/auth/onetap", form, append([]string{"Accept", "text/html"}, header...)...)
	page := b.send(b.client, "GET", private, nil, "Accept", "application/json")
	return page.StatusCode == http.StatusOK && page.body == wire.Secret, r.Header.Get("Location")
}

func taps(t *testing.T, adapter string, strategy core.Strategy) {
	l, err := wire.Listen(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, url: "http://" + l.Addr().String()}
	s.auth, err = core.New(core.Config{
		URL: s.url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(),
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: strategy}, Providers: []core.Provider{newSDK().provider()},
		Plugins: []core.Plugin{onetap.New(onetap.Options{Provider: "sdk"})},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, err := wire.Serve(adapter, wire.Site{Auth: s.auth, Mounted: true, Private: private}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	b, other := s.tapBrowser(), s.tapBrowser()
	nonce := b.member("/auth/onetap", "nonce")
	if in, _ := b.tap(nonce, "Origin", "https://evil.example"); in {
		t.Error("a post of another site signed the user in")
	}
	if in, to := b.tap(nonce); !in || to != s.url+"/cart" {
		t.Errorf("signed in: %t, redirected to %s", in, to)
	}
	if got := b.member("/auth/onetap", "nonce"); got != "" {
		t.Error("a signed-in user gets a nonce")
	}
	if in, _ := other.tap(nonce); in {
		t.Error("a browser without a nonce is signed in")
	}
	other.member("/auth/onetap", "nonce")
	if in, _ := other.tap(nonce); in {
		t.Error("a browser with another nonce is signed in")
	}
	page := s.send(http.DefaultClient, "GET", "/auth/signin", nil, "Accept", "text/html")
	if !strings.Contains(page.body, `data-client="web"`) ||
		page.Header.Get("Referrer-Policy") != "strict-origin-when-cross-origin" {
		t.Errorf("the sign-in page: %v", page.Header)
	}
}
