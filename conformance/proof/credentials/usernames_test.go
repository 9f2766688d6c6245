package credentials_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestUsernames signs up with a username only, on each router and with both strategies, and sets a new password with a
// recovery code, in a browser and in a program.
func TestUsernames(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, adapter := range wire.Adapters() {
			t.Run(string(strategy)+"/"+adapter, func(t *testing.T) { recovered(t, adapter, strategy) })
		}
	}
}

var shownCode = regexp.MustCompile(`\b[0-9][0-9A-Z]{3}(-[0-9A-Z]{4}){3}\b`)

func recovered(t *testing.T, adapter string, strategy core.Strategy) {
	l, err := wire.Listen(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, url: "http://" + l.Addr().String()}
	s.auth, err = core.New(core.Config{
		URL: s.url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(),
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: strategy},
		Providers: []core.Provider{password.New(password.Options{
			Mail: mailbox.New(), Usernames: password.Usernames{On: true, Alone: true},
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop, err := wire.Serve(adapter, wire.Site{Auth: s.auth, Mounted: true, Private: private}, l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop() })
	browser := func() *http.Client {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Client{
			Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	post := func(c *http.Client, accept, path string, fields ...string) reply {
		t.Helper()
		var token struct{ CSRFToken string }
		body := s.send(c, "GET", "/auth/csrf", nil, "Accept", "application/json").body
		if err := json.Unmarshal([]byte(body), &token); err != nil {
			t.Fatal(err)
		}
		form := url.Values{"csrfToken": {token.CSRFToken}}
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return s.send(c, "POST", path, form, "Accept", accept)
	}
	const first, second, third = "violet otter ladder", "seven quiet lanterns", "nine copper kettles"
	ada, program := browser(), browser()
	r := post(ada, "text/html", "/auth/password/sign-up", "username", "ada.l", "password", first)
	codes := shownCode.FindAllString(r.body, -1)
	if r.StatusCode != http.StatusOK || len(codes) != 10 {
		t.Fatalf("the sign-up has status %d, %d codes: %s", r.StatusCode, len(codes), r.body)
	}
	page := func(c *http.Client, signedIn bool) {
		t.Helper()
		r := s.send(c, "GET", private, nil, "Accept", "application/json")
		if (r.body == wire.Secret) != signedIn {
			t.Errorf("the page has status %d, want signed in: %t", r.StatusCode, signedIn)
		}
	}
	page(ada, true)
	r = post(program, "application/json", "/auth/password/recover", "username", "ada.l", "code", codes[0], "newPassword",
		second)
	if r.StatusCode != http.StatusOK || r.body != `{"next":"signin","left":9}` {
		t.Errorf("the recovery has status %d: %s", r.StatusCode, r.body)
	}
	page(ada, false)
	r = post(program, "application/json", "/auth/password/recover", "username", "ada.l", "code", codes[0], "newPassword",
		third)
	if r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, `"code":"recovery_wrong"`) {
		t.Errorf("a used code has status %d: %s", r.StatusCode, r.body)
	}
	r = post(ada, "text/html", "/auth/password/recover", "username", "ada.l", "code", codes[1], "newPassword", third)
	if r.StatusCode != http.StatusOK || !strings.Contains(r.body, "Recovery codes left: 8.") {
		t.Errorf("the recovery in a browser has status %d: %s", r.StatusCode, r.body)
	}
	page(ada, false)
	post(ada, "text/html", "/auth/callback/password", "email", "ada.l", "password", third)
	page(ada, true)
	r = post(ada, "application/json", "/auth/password/recovery-codes")
	if r.StatusCode != http.StatusOK || len(shownCode.FindAllString(r.body, -1)) != 10 {
		t.Errorf("new codes have status %d: %s", r.StatusCode, r.body)
	}
}
