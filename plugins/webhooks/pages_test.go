package webhooks_test

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// page requests a page, follows redirects, and returns the status and the text.
func (s *site) page(c *http.Client, path string) (int, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+"/auth/"+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	return s.read(c, r)
}

func (s *site) read(c *http.Client, r *http.Request) (int, string) {
	s.Helper()
	r.Header.Set("Accept", "text/html")
	follows := *c
	follows.CheckRedirect = nil
	res, err := follows.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	return res.StatusCode, html.UnescapeString(string(text))
}

var csrfInput = regexp.MustCompile(`name="csrfToken" value="([^"]+)"`)

// submit sends a form of the page at path, and returns the page after the redirect.
func (s *site) submit(c *http.Client, path, action string, fields url.Values) (int, string) {
	s.Helper()
	return s.read(c, s.form(c, path, action, fields))
}

// form returns the request of a form.
func (s *site) form(c *http.Client, path, action string, fields url.Values) *http.Request {
	s.Helper()
	_, text := s.page(c, path)
	token := csrfInput.FindStringSubmatch(text)
	if token == nil || !strings.Contains(text, `/auth/`+action+`"`) {
		s.Fatalf("the page %s has no form %s: %s", path, action, text)
	}
	fields.Set("csrfToken", token[1])
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.url+"/auth/"+action,
		strings.NewReader(fields.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	return r
}

var (
	shownSecret = regexp.MustCompile(`value="(whsec_[^"]+)"`)
	shownID     = regexp.MustCompile(`webhooks\?id=(we_[A-Za-z0-9_-]+)`)
)

// TestPages manages an endpoint with forms, as a browser without JavaScript does.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			s := newSite(t, memory.New(), webhooks.Options{Managers: []core.Guard{manager}},
				func(c *core.Config) { c.Session.Strategy = strategy })
			r := newReceiver(t, httptest.NewTLSServer)
			s.hooks.Through(to(r))
			ada := s.as("ada")
			says := func(what, text, want string) {
				t.Helper()
				if !strings.Contains(text, want) {
					t.Errorf("%s: the page does not say %q: %s", what, want, text)
				}
			}
			if status, _ := s.page(s.as("eve"), "webhooks"); status != http.StatusForbidden {
				t.Errorf("the page of another user: %d", status)
			}
			_, text := s.page(ada, "webhooks")
			says("without endpoints", text, "No endpoints yet.")
			_, text = s.submit(ada, "webhooks", "webhooks", url.Values{"url": {"https://10.0.0.1/"}})
			says("an internal address", text, "Enter the https URL of a server on the internet.")
			_, text = s.submit(ada, "webhooks", "webhooks", url.Values{
				"url": {"https://example.com/x"}, "description": {"<Billing>"}, "events": {"user.* signin"},
			})
			secret := shownSecret.FindStringSubmatch(text)
			says("a new endpoint", text, "Endpoint added.")
			says("a new endpoint", text, "<Billing> · user.* signin")
			if secret == nil {
				t.Fatalf("no secret: %s", text)
			}
			r.secrets = []core.Secret{core.Secret(secret[1])}
			_, text = s.page(ada, "webhooks")
			if shownSecret.MatchString(text) {
				t.Error("the secret is shown twice")
			}
			id := shownID.FindStringSubmatch(text)
			if id == nil {
				t.Fatalf("no link to the endpoint: %s", text)
			}
			one := "webhooks?id=" + id[1]
			act := func(verb string, more ...string) string {
				t.Helper()
				fields := url.Values{"id": {id[1]}}
				if len(more) > 0 {
					fields.Set("delivery", more[0])
				}
				_, text := s.submit(ada, one, strings.TrimSuffix("webhooks/"+verb, "/"), fields)
				return text
			}
			says("the test", act("test"), "The endpoint accepted the test event.")
			r.respond(503)
			says("a test that fails", act("test"), "The endpoint did not accept the test event: status 503")
			r.respond(410)
			s.emit(audit.UserCreated, "bob")
			s.flush()
			_, text = s.page(ada, one)
			says("a failed delivery", text, "status 410")
			says("a failed delivery", text, "Disabled")
			r.respond(200)
			r.take()
			says("a replay of a disabled endpoint", act("replay"), "Enable the endpoint first.")
			says("enable", act("enable"), "Endpoint enabled.")
			says("replay", act("replay"), "The failed deliveries will be sent again.")
			s.flush()
			if got := r.take(); len(got) != 1 || got[0].kind != "user.created" {
				t.Errorf("the replay sent %+v", got)
			}
			_, text = s.page(ada, one)
			says("after the replay", text, "No failed deliveries.")
			says("disable", act("disable"), "Endpoint disabled.")
			text = act("rotate")
			if next := shownSecret.FindStringSubmatch(text); next == nil || next[1] == secret[1] {
				t.Errorf("rotate: %s", text)
			}
			says("delete", act("delete"), "Endpoint deleted.")
			status, text := s.page(ada, one)
			if status != http.StatusNotFound {
				t.Errorf("the page of a deleted endpoint: %d", status)
			}
			says("a deleted endpoint", text, "This endpoint or delivery no longer exists.")
		})
	}
}

// TestPageOfConfigured: the page of an endpoint of the configuration offers neither a new secret nor its deletion.
func TestPageOfConfigured(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, httptest.NewServer)
	options := configured(r)
	options.Managers = []core.Guard{manager}
	s := newSite(t, memory.New(), options)
	_, text := s.page(s.as("ada"), "webhooks?id=own")
	for _, verb := range []string{"rotate", "delete"} {
		if strings.Contains(text, "webhooks/"+verb) {
			t.Errorf("the page offers %s", verb)
		}
	}
	if !strings.Contains(text, "webhooks/test") {
		t.Errorf("the page offers no test: %s", text)
	}
}

// TestSecretOfAnother: a new secret is not shown to another user who signs in to the same browser.
func TestSecretOfAnother(t *testing.T) {
	t.Parallel()
	all := func(context.Context, *core.Session) error { return nil }
	s := newSite(t, memory.New(), webhooks.Options{Managers: []core.Guard{all}})
	ada, eve := s.as("ada"), s.as("eve")
	for name, next := range map[string]*http.Client{"ada": ada, "eve": eve} {
		r := s.form(ada, "webhooks", "webhooks", url.Values{"url": {"https://example.com/x"}})
		stays := *ada
		stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		res, err := stays.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		at, err := url.Parse(s.url)
		if err != nil {
			t.Fatal(err)
		}
		next.Jar.SetCookies(at.JoinPath("auth"), res.Cookies())
		_, text := s.page(next, "webhooks")
		if shown := shownSecret.MatchString(text); shown != (name == "ada") || !strings.Contains(text, "Endpoint added.") {
			t.Errorf("the secret is shown to %s: %v %s", name, shown, text)
		}
	}
}
