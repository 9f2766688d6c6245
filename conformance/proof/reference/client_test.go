package reference

import (
	"context"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// answered maps the cells of the table in docs/authjs.md to the requests that a front end without a client sends.
var answered = map[string]func(s *site) *core.Response{
	"`GET csrf`": func(s *site) *core.Response { return s.ask("GET", "/auth/csrf", nil) },
	"`POST callback/credentials`": func(s *site) *core.Response {
		return s.submit("/auth/callback/credentials", url.Values{"password": {"right"}, "callbackUrl": {"/x"}})
	},
	"the same, wrong password": func(s *site) *core.Response {
		return s.submit("/auth/callback/credentials", url.Values{"password": {"wrong"}})
	},
	"any POST without the token": func(s *site) *core.Response {
		return s.ask("POST", "/auth/signin/plain", url.Values{})
	},
	"`POST signin/<provider>`": func(s *site) *core.Response { return s.submit("/auth/signin/plain", nil) },
	"`POST signin/email`": func(s *site) *core.Response {
		return s.submit("/auth/signin/email", url.Values{"email": {"ada@example.com"}})
	},
	"`POST signout`": func(s *site) *core.Response { return s.submit("/auth/signout", url.Values{"callbackUrl": {"/x"}}) },
	"`GET session`":  func(s *site) *core.Response { s.signIn(); return s.ask("GET", "/auth/session", nil) },
}

// placeholders replaces the parts of the table that differ in each run by regular expressions.
var placeholders = strings.NewReplacer("323e…", "[0-9a-f]{64}", "…", ".+", "<callbackUrl>", "https://api.app.example/x",
	"<the provider's page>", `https://op\.example/.+`)

// TestResponsesWithoutAClient compares the JSON of each row with the response.
func TestResponsesWithoutAClient(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../docs/authjs.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (.+?) \\| `(\\{.+?\\})`").FindAllStringSubmatch(string(raw), -1)
	seen := map[string]bool{}
	for _, m := range rows {
		ask := answered[m[1]]
		if ask == nil {
			t.Errorf("docs/authjs.md has a row %s without a test", m[1])
			continue
		}
		seen[m[1]] = true
		mail := &core.EmailProvider{Send: func(context.Context, core.Email) error { return nil }}
		s := open(t, core.Config{
			URL: "https://api.app.example/auth", Store: newRows(), Session: core.SessionConfig{Strategy: core.StrategyJWT},
			Providers: []core.Provider{passwords(), service(), mail},
		})
		s.header.Set("X-Auth-Return-Redirect", "1")
		r := ask(s)
		shape := placeholders.Replace(regexp.QuoteMeta(m[2]))
		body := strings.ReplaceAll(string(r.Body), `\u0026`, "&")
		if r.Status != 200 || !regexp.MustCompile("^"+shape+"$").MatchString(body) {
			t.Errorf("%s: answered %d: %s, docs/authjs.md says %s", m[1], r.Status, body, m[2])
		}
	}
	if len(seen) != len(answered) {
		t.Errorf("docs/authjs.md has %d of the %d rows", len(seen), len(answered))
	}
}
