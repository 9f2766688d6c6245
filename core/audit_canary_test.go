package core_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

// canaries records the secrets in the flows of an application, and the pages that it shows.
type canaries struct {
	handler
	secrets map[string]string // the kind of secret, by value
	pages   strings.Builder
}

func (c *canaries) secret(what, value string) {
	if len(value) >= 6 {
		c.secrets[value] = what
	}
}

// Handle records each cookie, and the parameters of each redirect.
func (c *canaries) Handle(ctx context.Context, r *core.Request) *core.Response {
	response := c.handler.Handle(ctx, r)
	c.pages.Write(response.Body)
	for _, cookie := range response.Cookies {
		name := cookie.Name
		switch {
		case strings.Contains(name, "callback-url"):
		case strings.Contains(name, "csrf-token"): // pages contain the token itself
			_, hash, _ := strings.Cut(cookie.Value, "|")
			c.secret(name, hash)
		default:
			c.secret(name, cookie.Value)
		}
	}
	if u, err := url.Parse(response.Redirect); err == nil {
		for _, name := range []string{"state", "nonce", "code_challenge"} {
			c.secret(name, u.Query().Get(name))
		}
	}
	return response
}

// watch records the requests to a service and its responses.
func (c *canaries) watch(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			form, _ := url.ParseQuery(string(raw))
			c.secret("code_verifier", form.Get("code_verifier"))
			c.secret("client_secret", form.Get("client_secret"))
		}
		return next.RoundTrip(r)
	})
}

// TestNoSecretIsAudited runs every flow, with and without errors. No token, code, password, cookie, verifier or state
// may be in an audit event, a log line (with Debug) or a page. The page that asks a user to confirm an emailed link is
// an exception: it repeats its URL with the token. The links of such pages are opened here.
func TestNoSecretIsAudited(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			var trail trail
			seen := &canaries{secrets: map[string]string{}}
			w := newTown(t, all, strategy, func(c *core.Config) {
				c.Audit, c.Debug = trail.note, true
				for _, p := range c.Providers[:4] {
					o := p.(*core.OAuthProvider)
					o.Checks = []core.Check{core.CheckPKCE, core.CheckState}
					o.ClientSecret = "CANARY-client-secret"
					o.HTTPClient = &http.Client{Transport: seen.watch(o.HTTPClient.Transport)}
				}
			})
			seen.handler = w.app
			for _, text := range []string{"CANARY-password", "CANARY-client-secret", "CANARY-code", "CANARY-token", testSecret} {
				seen.secret("canary", text)
			}
			everyFlow(w, seen)
			events := trail.all()
			if len(events) < 20 || len(seen.secrets) < 25 || seen.pages.Len() < 8_000 {
				t.Fatalf("%d events, %d secrets, %d bytes of pages", len(events), len(seen.secrets), seen.pages.Len())
			}
			for place, text := range map[string]string{
				"an event": fmt.Sprintf("%+v", events), "the log": w.app.log.String(), "a page": seen.pages.String(),
			} {
				for value, what := range seen.secrets {
					if at := strings.Index(text, value); at >= 0 {
						t.Errorf("%s has the %s: …%q", place, what, text[max(0, at-200):min(len(text), at+len(value)+20)])
					}
				}
			}
		})
	}
}

// everyFlow uses every method to sign in and out, and makes each error that has an event.
func everyFlow(w *town, seen *canaries) {
	browser := func() *browser {
		b := w.browser()
		b.auth = seen
		b.header.Set("Accept", "text/html")
		b.header.Set("User-Agent", "Browser/1")
		return b
	}
	b := browser()
	w.through(b, "plain", "s1", "s1@example.com", "")
	w.through(browser(), "vouching", "v1", "s1@example.com", vouched)
	readSession(w, b)
	b.get("/auth/signout")
	b.submit("/auth/signout", nil)

	known(w, b)
	b = browser()
	b.submit("/auth/callback/credentials", url.Values{"id": {"known"}, "password": {"CANARY-password"}})
	b.submit("/auth/callback/credentials", url.Values{"id": {"nobody"}, "password": {"CANARY-password"}})
	b.post("/auth/callback/credentials", url.Values{"id": {"known"}, "password": {"CANARY-password"}})

	b = browser()
	w.byMail(b, victim)
	link := w.mails[len(w.mails)-1]
	u, err := url.Parse(link)
	if err != nil {
		w.Fatal(err)
	}
	used := u.Query().Get("token")
	seen.secret("mailed token", used)
	delete(b.cookies, sessionCookie)
	b.submit(strings.TrimPrefix(link, "https://app.test"), nil)
	b.get("/auth/callback/email?email=" + victim)
	b.submit("/auth/callback/email?token=CANARY-token&token=CANARY-token&email="+victim, nil)
	b.submit("/auth/callback/email?token=CANARY-token&email="+victim, nil)
	b.submit("/auth/signin/email", url.Values{"email": {"no address CANARY-token"}})

	b = browser()
	w.passkey(b, "action=register&email="+stranger, "register", "key")
	usesPasskey("key")(w, b)
	usesPasskey("another")(w, b)

	b = browser()
	b.get("/auth/callback/plain?code=CANARY-code&state=CANARY-token")
	b.submit("/auth/signin/plain", nil)
	b.get("/auth/callback/plain?error=access_denied&error_description=CANARY-token&state=CANARY-token")
	b.cookies[sessionCookie] = "CANARY-token"
	readSession(w, b)
	b.get("/auth/signin?error=CANARY-token&code=CANARY-code")
	b.get("/auth/error?error=CANARY-token")
	b.get("/auth/nothing/?code=CANARY-code")
	b.get("/auth/callback/nobody?code=CANARY-code")

	b = browser()
	w.through(b, "plain", "s1", "s1@example.com", "")
	w.app.clock.Advance(31 * 24 * time.Hour)
	readSession(w, b)
	for range 60 {
		b.submit("/auth/callback/credentials", url.Values{"id": {"known"}, "password": {"CANARY-password"}})
	}
}

// TestNoAuditIsFree checks that no event is created if Config.Audit is nil.
func TestNoAuditIsFree(t *testing.T) {
	measure := func(c core.Config) float64 {
		c.Providers, c.Callbacks.Limit = []core.Provider{passwords()}, noPatience
		a := newApp(t, c)
		b := visit(t, a)
		body := url.Values{"csrfToken": {b.csrf()}, "email": {"ada@example.com"}}.Encode()
		return testing.AllocsPerRun(200, func() {
			a.Handle(t.Context(), b.request("POST", "/auth/callback/credentials", "application/x-www-form-urlencoded", body))
		})
	}
	silent := measure(core.Config{})
	loud := measure(core.Config{Audit: func(context.Context, audit.Event) {}})
	if loud <= silent {
		t.Errorf("%v allocations with an audit, %v without: the test proves nothing", loud, silent)
	}
	t.Logf("%v allocations without an audit, %v with one", silent, loud)
}
