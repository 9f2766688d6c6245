package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/plugins/internal/flaky"
)

// strong returns a browser of a user who has just signed in with two factors.
func (s *site) strong(id string) *client {
	s.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	at := s.parsed()
	set, err := s.auth.NewSession(s.Context(), &core.Request{
		Method: http.MethodGet, Target: "/", Hosts: []string{at.Host}, Scheme: "http", Header: http.Header{},
	}, &core.User{ID: id, Name: strings.ToUpper(id), Email: id + "@example.com"}, core.SessionOptions{
		AuthTime: s.clock(), Methods: []amr.Method{amr.Password, amr.OTP},
	})
	if err != nil {
		s.Fatal(err)
	}
	var cookies []*http.Cookie
	for _, c := range set {
		parsed, err := http.ParseSetCookie(c.String())
		if err != nil {
			s.Fatal(err)
		}
		cookies = append(cookies, parsed)
	}
	jar.SetCookies(at, cookies)
	return &client{&http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}, s}
}

// who returns the user and the actor of the browser's session, or "" without a session.
func (c *client) who() string {
	c.s.Helper()
	r := c.get("/who")
	if r.status == http.StatusUnauthorized {
		return ""
	}
	return r.body
}

// at returns the browser's requests to another process, with the same cookies.
func (c *client) at(s *site) *client {
	c.s.Helper()
	c.s.copyCookies(c, s)
	return &client{c.Client, s}
}

// copyCookies gives a browser the cookies of one process for another one: their ports differ.
func (s *site) copyCookies(c *client, to *site) {
	c.Jar.SetCookies(to.parsed(), c.Jar.Cookies(s.parsed()))
}

// cookie returns the value of the first cookie whose name ends with a text.
func (c *client) cookie(suffix string) string {
	for _, one := range c.Jar.Cookies(c.s.parsed()) {
		if strings.HasSuffix(one.Name, suffix) {
			return one.Value
		}
	}
	return ""
}

// set sets a cookie.
func (c *client) set(name, value string) {
	c.Jar.SetCookies(c.s.parsed(), []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

func impersonating(_ *core.Config, o *admin.Options) { o.Impersonate = true }

// TestImpersonation uses an account, in two processes, and ends it.
func TestImpersonation(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSite(t, strategy, impersonating)
		other := s.process(impersonating)
		root := s.strong("root")
		if page := root.page("/auth/admin/user?user=ada").body; !strings.Contains(page, "Use this account") {
			t.Error("the page has no form")
		}
		s.is(root.post("impersonate", "user", "ada", "reason", "Ticket 7"), "200")
		if got, want := s.events(), "admin.impersonated ok ada by root: Ticket 7"; got != want {
			t.Errorf("the events are %q, want %q", got, want)
		}
		if got := root.who(); got != "ada by root" {
			t.Fatalf("the session is %q", got)
		}
		if got := root.at(other).who(); got != "ada by root" {
			t.Errorf("in another process, the session is %q", got)
		}
		if page := root.page("/").body; !strings.Contains(page, "latchkey-impersonation") ||
			!strings.Contains(page, "root@example.com") {
			t.Errorf("the page has no banner: %s", page)
		}
		for _, path := range []string{"/auth/signin?prompt=login", "/auth/signout", "/auth/api-keys"} {
			if page := root.page(path).body; !strings.Contains(page, `class="acting"`) {
				t.Errorf("%s has no banner: %s", path, page)
			}
		}
		sessions, err := s.auth.Sessions(t.Context(), "ada")
		if err != nil || len(sessions) != 1 || sessions[0].Actor != "root" {
			t.Errorf("the sessions are %+v (%v)", sessions, err)
		}
		s.events()
		s.is(root.post("end-impersonation"), "200")
		if got, want := s.events(), "admin.impersonation.ended ok ada by root: "; got != want {
			t.Errorf("the events are %q, want %q", got, want)
		}
		if got := root.who(); got != "root by " {
			t.Errorf("after the end the session is %q", got)
		}
		s.is(root.get("/auth/admin"), "200")
		s.is(root.post("end-impersonation"), "403 forbidden")
		if left, err := s.auth.Sessions(t.Context(), "ada"); err != nil || len(left) != 0 {
			t.Errorf("sessions are left: %+v (%v)", left, err)
		}
		r := root.submit("impersonate", "user", "ada", "reason", "x") // as a browser does
		if got := root.who(); got != "ada by root" {
			t.Errorf("the session is %q: %d", got, r.status)
		}
		if r := root.submit("end-impersonation"); !strings.Contains(r.body, "ada@example.com") || r.status != 200 {
			t.Errorf("the page after the end is %d %s", r.status, r.body)
		}
	})
}

// TestImpersonationEnds checks what ends an impersonated session: its time, the end of the administrator's session, a
// ban, the loss of the role, and the end of the user's sessions. In another process, a session token (JWT) ends within
// Revocation.Every.
func TestImpersonationEnds(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		for name, end := range map[string]func(s, other *site, root *client){
			"time":     func(s, _ *site, _ *client) { s.wait(time.Hour) },
			"demotion": func(s, _ *site, _ *client) { *s.root = []string{"grace"} },
			"the user becomes an administrator": func(s, _ *site, _ *client) {
				*s.root = []string{"root", "grace", "ada"}
			},
			"ban of the administrator": func(s, other *site, _ *client) {
				*s.root = []string{"grace"}
				s.is(other.strong("grace").post("ban", "user", "root", "reason", "Stolen"), "200")
				*s.root = []string{"grace", "root"}
				s.wait(10 * time.Second)
			},
			"ban of the user": func(s, other *site, _ *client) {
				s.is(other.strong("grace").post("ban", "user", "ada", "reason", "Spam"), "200")
				s.wait(10 * time.Second)
			},
			"the administrator's sessions end": func(s, other *site, _ *client) {
				if _, err := other.auth.EndSessions(s.Context(), "root", core.EndOptions{}); err != nil {
					s.Error(err)
				}
				s.wait(10 * time.Second)
			},
			"the user's sessions end": func(s, other *site, _ *client) {
				if _, err := other.auth.EndSessions(s.Context(), "ada", core.EndOptions{}); err != nil {
					s.Error(err)
				}
				s.wait(10 * time.Second)
			},
			"no second cookie": func(s, _ *site, root *client) { root.set("authjs.session-token-actor", "") },
			"sign-out": func(s, _ *site, root *client) {
				form := url.Values{"csrfToken": {root.csrf()}}
				root.send("POST", "/auth/signout", strings.NewReader(form.Encode()),
					"Content-Type", "application/x-www-form-urlencoded")
				if root.cookie("-actor") != "" {
					s.Error("the second cookie is left")
				}
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := newSite(t, strategy, impersonating)
				other := s.process(impersonating)
				root := s.strong("root")
				s.is(root.post("impersonate", "user", "ada", "reason", "x"), "200")
				session, second := root.cookie("session-token"), root.cookie("-actor")
				s.wait(50 * time.Minute)
				if got := root.who(); got != "ada by root" {
					t.Fatalf("after 50 minutes the session is %q", got)
				}
				if root.cookie("session-token") != session {
					t.Error("the session was renewed")
				}
				s.wait(5 * time.Minute)
				end(s, other, root)
				for _, p := range []*site{s, other} {
					thief := p.browser()
					thief.set("authjs.session-token", session)
					if name != "no second cookie" {
						thief.set("authjs.session-token-actor", second)
					}
					if got := thief.who(); got != "" {
						t.Errorf("the session is %q", got)
					}
				}
				root.who()
				if got := root.who(); got != "" {
					t.Errorf("the browser has the session %q", got)
				}
				if name == "sign-out" {
					thief := s.browser()
					thief.set("authjs.session-token", second)
					if got := thief.who(); got != "" {
						t.Errorf("the administrator's session is %q after the sign-out", got)
					}
				}
			})
		}
	})
}

// TestImpersonationRefused checks who cannot be impersonated, and by whom.
func TestImpersonationRefused(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSite(t, strategy, impersonating, func(c *core.Config, _ *admin.Options) { c.Session.Bearer = true })
		root, ada := s.strong("root"), s.strong("ada")
		s.is(s.as("root").post("impersonate", "user", "ada", "reason", "x"), "401 reauth_required") // one factor
		for _, row := range []struct {
			by                 *client
			user, reason, want string
		}{
			{root, "root", "x", "403 own_account"},
			{root, "grace", "x", "403 administrator"},
			{root, "nobody", "x", "404 not_found"},
			{root, "ada", "", "422 reason_invalid"},
			{ada, "bob", "x", "403 forbidden"},
			{s.browser(), "bob", "x", "401 session_required"},
		} {
			s.is(row.by.post("impersonate", "user", row.user, "reason", row.reason), row.want)
		}
		r := root.send("POST", "/auth/admin/impersonate", strings.NewReader(`{"user":"ada","reason":"x"}`),
			"Content-Type", "application/json", "Accept", "application/json")
		s.is(r, "403 missing_csrf")
		if got := root.who(); got != "root by " || s.events() != "" {
			t.Errorf("the session is %q", got)
		}
		if err := s.admins.Ban(t.Context(), "bob", admin.Ban{Reason: "x"}); err != nil {
			t.Fatal(err)
		}
		s.is(root.post("impersonate", "user", "bob", "reason", "x"), "403 access_denied")
		if left, err := s.auth.Sessions(t.Context(), "bob"); err != nil || len(left) > 0 || root.who() != "root by " {
			t.Errorf("a banned user has the sessions %+v (%v)", left, err)
		}
		s.wait(16 * time.Minute)
		s.is(root.post("impersonate", "user", "ada", "reason", "x"), "401 reauth_required")
	})
}

// TestWhileImpersonated checks that nothing of an account can be changed, that both IDs are in the audit log, and that
// the session cookie alone is useless.
func TestWhileImpersonated(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		var events []audit.Event
		s := newSite(t, strategy, impersonating, func(c *core.Config, _ *admin.Options) {
			c.Session.Bearer = true
			note := c.Audit
			c.Audit = func(ctx context.Context, e audit.Event) {
				note(ctx, e)
				events = append(events, e)
			}
		})
		root := s.strong("root")
		s.is(root.post("impersonate", "user", "ada", "reason", "x"), "200")
		events = nil
		for _, path := range []string{
			"/auth/session", "/auth/signin/credentials", "/auth/callback/credentials", "/auth/api-keys",
			"/auth/api-keys/revoke", "/auth/admin/ban", "/auth/admin/impersonate", "/auth/reauth/credentials",
		} {
			text, _ := json.Marshal(map[string]string{
				"csrfToken": root.csrf(), "user": "bob", "id": "bob", "reason": "x", "name": "x",
			})
			r := root.send("POST", path, strings.NewReader(string(text)), "Content-Type", "application/json",
				"Accept", "application/json")
			if r.status != http.StatusForbidden {
				t.Errorf("POST %s has status %d: %s", path, r.status, r.body)
			}
			s.wait(2 * time.Minute) // refusals within a minute are one event
			if got := root.who(); got != "ada by root" {
				t.Fatalf("after POST %s the session is %q", path, got)
			}
		}
		if r := root.get("/auth/callback/credentials"); r.status == 200 {
			t.Errorf("GET callback has status %d", r.status)
		}
		if len(events) < 8 {
			t.Errorf("there are %d events", len(events))
		}
		for _, e := range events {
			if e.ActorID != "root" {
				t.Errorf("the event %s has the actor %q", e.Name, e.ActorID)
			}
			if e.Name == audit.ImpersonationRefused && (e.UserID != "ada" || e.Outcome != audit.Refused) {
				t.Errorf("the event is %+v", e)
			}
		}
		s.is(root.get("/recent"), "403 forbidden")
		s.is(root.get("/own"), "403 forbidden")
		s.is(root.get("/auth/admin"), "403 forbidden")
		session, second := root.cookie("session-token"), root.cookie("-actor")
		mal := s.strong("bob")
		for name, cookies := range map[string][2]string{
			"only the session":            {session, ""},
			"another user's session":      {session, mal.cookie("session-token")},
			"another administrator's":     {session, s.strong("grace").cookie("session-token")},
			"another session of the same": {session, s.strong("root").cookie("session-token")},
			"the impersonated one":        {session, session},
			"no impersonation":            {second, ""},
			"an own session with a second": {
				mal.cookie("session-token"), second,
			},
		} {
			b := s.browser()
			b.set("authjs.session-token", cookies[0])
			b.set("authjs.session-token-actor", cookies[1])
			want := map[string]string{"no impersonation": "root by ", "an own session with a second": "bob by "}[name]
			if got := b.who(); got != want {
				t.Errorf("%s: the session is %q, want %q", name, got, want)
			}
			if want == "" {
				root = s.strong("root") // the check ended the session
				s.is(root.post("impersonate", "user", "ada", "reason", "x"), "200")
				session = root.cookie("session-token")
			}
		}
		bearer := s.browser()
		if r := bearer.get("/who", "Authorization", "Bearer "+session); r.status != http.StatusUnauthorized {
			t.Errorf("a bearer token of an impersonation works: %s", r.body)
		}
	})
}

// TestImpersonationFaults checks that a check that fails ends nothing.
func TestImpersonationFaults(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		fails := false
		s := newSite(t, strategy, impersonating, func(_ *core.Config, o *admin.Options) {
			isAdmin := o.IsAdmin
			o.IsAdmin = func(ctx context.Context, id string) (bool, error) {
				if fails {
					return false, errors.New("the directory is unavailable")
				}
				return isAdmin(ctx, id)
			}
		})
		root := s.strong("root")
		s.is(root.post("impersonate", "user", "ada", "reason", "x"), "200")
		fails = true
		if r := root.get("/who"); r.status != http.StatusInternalServerError {
			t.Errorf("with a failed check, the status is %d", r.status)
		}
		fails = false
		if got := root.who(); got != "ada by root" {
			t.Errorf("after the failure, the session is %q", got)
		}
		removed := s.process() // a process without the option
		if got := root.at(removed).who(); got != "" {
			t.Errorf("without the option the session is %q", got)
		}
	})
}

// pages adds the pages that the tests of impersonations use.
func pages(mux *http.ServeMux, require func(...core.Guard) func(http.Handler) http.Handler, banner http.Handler) {
	mux.Handle("GET /who", require()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := core.SessionFrom(r.Context())
		principal, failed := core.PrincipalFrom(r.Context())
		if err != nil || failed != nil || principal.Actor != session.Actor {
			http.Error(w, "no session", http.StatusTeapot)
			return
		}
		_, _ = io.WriteString(w, session.UserID+" by "+session.Actor)
	})))
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.Handle("GET /recent", require(core.RecentSignIn(time.Hour))(ok))
	mux.Handle("GET /own", require(core.NotImpersonated())(ok))
	mux.Handle("GET /{$}", banner)
}

// TestImpersonationOptions checks the configuration errors.
func TestImpersonationOptions(t *testing.T) {
	t.Parallel()
	s := newSite(t, core.StrategyDatabase)
	for want, change := range map[string]func(*core.Config, *admin.Options){
		"needs Options.IsAdmin": func(_ *core.Config, o *admin.Options) { o.IsAdmin = nil },
		"Session.Revocation": func(c *core.Config, _ *admin.Options) {
			c.Session = core.SessionConfig{Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.False}}
		},
	} {
		o := admin.Options{
			Guard: core.Strong(), Impersonate: true,
			IsAdmin: func(context.Context, string) (bool, error) { return false, nil },
		}
		config := core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: s.rows,
			Getenv: func(string) string { return "" }, Providers: []core.Provider{&core.CredentialsProvider{
				Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
			}},
		}
		change(&config, &o)
		config.Plugins = slices.Concat(config.Plugins, []core.Plugin{admin.New(o)})
		if _, err := core.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// TestEndAfterFailures: if the store fails while an administrator ends an impersonation, the next attempt gives them
// their own session back. With StrategyJWT a session has ended in this process even if that could not be stored, so the
// administrator signs in again.
func TestEndAfterFailures(t *testing.T) {
	var calls []string
	failures := 0
	for n := -1; n < len(calls); n++ {
		f := &flaky.Failing{}
		s := newSite(t, core.StrategyDatabase, func(c *core.Config, _ *admin.Options) {
			f.Store = c.Store.(*rows).Store
			c.Store = f
		}, impersonating)
		root := s.strong("root")
		s.is(root.post("impersonate", "user", "ada", "reason", "Ticket 7"), "200")
		root.csrf()
		f.Fail = flaky.After("", n, func(call string) {
			if n < 0 {
				calls = append(calls, call)
			}
		})
		r := root.post("end-impersonation")
		f.Fail = nil
		if r.status < 500 {
			continue
		}
		failures++
		again := root.post("end-impersonation")
		if got := root.who(); !strings.HasPrefix(got, "root by ") {
			t.Errorf("after a failing %s, the second attempt is answered %d %s, and the session is %q", calls[n],
				again.status, again.body, got)
		}
	}
	if failures == 0 {
		t.Errorf("no failure of %q", calls)
	}
}
