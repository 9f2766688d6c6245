package core_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

const actorCookie = sessionCookie + "-actor"

// understudy is a plugin in which the user "root" may impersonate others.
type understudy struct {
	allowed error // the result of the check
	asked   []string
	failed  error // of the last action
}

func (u *understudy) Attach(h *core.PluginHost) error {
	h.AllowImpersonation("act/end", func(ctx context.Context, by *core.Session, userID string) error {
		if s, err := core.SessionFrom(ctx); !errors.Is(err, core.ErrNoHook) {
			return errors.New("the check has the visit of " + s.UserID)
		}
		u.asked = append(u.asked, by.UserID+" as "+userID)
		return u.allowed
	})
	h.AddAction(core.Action{Method: "POST", Name: "act", Impersonated: true, // the nested case must be refused anyway
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			u.failed = c.Impersonate(ctx, c.Field("user"))
			return c.Redirect("/"), u.failed
		}})
	h.AddAction(core.Action{Method: "POST", Name: "act", Verb: "end", Impersonated: true,
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			_, err := c.EndImpersonation(ctx)
			u.failed = err
			return c.Redirect("/"), err
		}})
	h.AddAction(core.Action{Method: "POST", Name: "change",
		Handle: func(_ context.Context, c *core.ActionRequest) (*core.Response, error) { return c.Redirect("/"), nil }})
	return nil
}

var now2030 = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// theater is a town with the plugin and the users root, ada and grace.
func theater(t *testing.T, strategy core.Strategy, change ...func(*core.Config)) (*town, *understudy, *time.Time) {
	t.Helper()
	u, now := &understudy{}, now2030
	w := newTown(t, power{}, strategy, func(c *core.Config) {
		c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
		c.Plugins, c.Now = []core.Plugin{u}, func() time.Time { return now }
		c.Providers[6].(*core.CredentialsProvider).Authorize =
			func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
				return &core.User{ID: form["id"], Email: form["id"] + "@example.com"}, nil
			}
		for _, f := range change {
			f(c)
		}
	})
	for _, id := range []string{"root", "ada", "grace"} {
		w.users[id] = core.User{ID: id, Email: id + "@example.com"}
	}
	return w, u, &now
}

// as returns a browser in which a user has signed in.
func (w *town) userBrowser(id string) *browser {
	w.Helper()
	b := w.browser()
	w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {id}}))
	return b
}

// acting returns a browser in which root uses the account of ada.
func (w *town) acting() *browser {
	w.Helper()
	b := w.userBrowser("root")
	if r := b.submit("/auth/act", url.Values{"user": {"ada"}}); r.Err != nil {
		w.Fatal(r.Err)
	}
	if got := w.role(b); got != "ada by root" {
		w.Fatalf("the session is %q", got)
	}
	return b
}

// role returns the user and the actor of a browser's session, or "".
func (w *town) role(b *browser) string {
	w.Helper()
	v := b.auth.Visit(w.Context(), b.request("GET", "/", "", ""))
	s, err := v.Session()
	p, failed := v.Principal()
	b.take(answerOf(v))
	switch {
	case err != nil || failed != nil:
		w.Fatal(err, failed)
	case s == nil:
		return ""
	case p.Actor != s.Actor:
		w.Errorf("the principal has the actor %q, the session %q", p.Actor, s.Actor)
	}
	return strings.TrimSuffix(s.UserID+" by "+s.Actor, " by ")
}

// TestImpersonate checks the start, the end and the restored session.
func TestImpersonate(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			w, u, now := theater(t, strategy, func(c *core.Config) {
				n := 0
				c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
					// renews other sessions
					n++
					return p.Token, p.Token.Extra.Set("n", n)
				}
			})
			own := w.userBrowser("ada")
			b := w.acting()
			for i, asked := range u.asked {
				if asked != "root as ada" {
					t.Errorf("question %d is %q", i, asked)
				}
			}
			if strategy == core.StrategyJWT {
				token, err := w.app.DecodeToken(b.cookies[sessionCookie], sessionCookie)
				if err != nil || !strings.HasPrefix(string(token.Extra["act"]), `{"sub":"root","sid":"`) ||
					token.Expires.After(now.Add(time.Hour)) {
					t.Errorf("the token is %+v (%v)", token, err)
				}
			}
			if got, err := w.app.Token(t.Context(), b.request("GET", "/", "", "")); strategy == core.StrategyJWT &&
				(err != nil || got == nil || got.Subject != "ada") {
				t.Errorf("Token returns %+v (%v)", got, err)
			}
			second := b.cookies[actorCookie]
			if second == "" {
				t.Fatal("there is no second cookie")
			}
			b.cookies[actorCookie] = ""
			if got, err := w.app.Token(t.Context(), b.request("GET", "/", "", "")); err != nil || got != nil {
				t.Errorf("without the second cookie Token returns %+v (%v)", got, err)
			}
			b.cookies[actorCookie] = second
			*now = now.Add(59 * time.Minute)
			before := b.cookies[sessionCookie]
			if b.get("/auth/session"); b.cookies[sessionCookie] != before || w.role(b) != "ada by root" {
				t.Error("the session was renewed")
			}
			for _, stored := range w.sessions {
				left := stored.Expires.Sub(*now)
				if stored.UserID == "ada" && left < 24*time.Hour && left > time.Minute {
					t.Errorf("the stored session was extended to %v", stored.Expires)
				}
			}
			r := b.submit("/auth/act/end", nil)
			if r.Err != nil || w.role(b) != "root" || b.cookies[actorCookie] != "" {
				t.Errorf("after the end the session is %q: %v", w.role(b), r.Err)
			}
			b.submit("/auth/act", url.Values{"user": {"ada"}}) // the restored session works as before
			if got := w.role(b); got != "ada by root" {
				t.Errorf("the session is %q", got)
			}
			if got := w.role(own); got != "ada" {
				t.Errorf("the user's own session is %q", got)
			}
		})
	}
}

// opensPage makes a browser send the header field of a page load.
func (b *browser) opensPage() *browser {
	b.header.Set("Accept", "text/html,application/xhtml+xml")
	return b
}

// TestImpersonateTime checks that an impersonated session ends after an hour, whatever the cookie says. Then a page load
// restores the administrator's session, and no other request uses it.
func TestImpersonateTime(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w, _, now := theater(t, strategy)
		b := w.acting()
		for key, s := range w.sessions {
			s.Expires = s.Expires.Add(24 * time.Hour) // as another program of the same table does
			w.sessions[key] = s
		}
		*now = now.Add(time.Hour + time.Second)
		before := maps.Clone(b.cookies)
		for name, change := range map[string]func(r *core.Request){
			"fetch":       func(*core.Request) {},
			"JSON":        func(r *core.Request) { r.Header.Set("Accept", "application/json") },
			"a form":      func(r *core.Request) { r.Method = http.MethodPost },
			"a WebSocket": func(r *core.Request) { r.Header.Set("Upgrade", "websocket") },
			"a script":    func(r *core.Request) { r.Header.Set("X-Requested-With", "XMLHttpRequest") },
			"PUT":         func(r *core.Request) { r.Method = http.MethodPut },
		} {
			r := b.request("GET", "/", "", "")
			if name != "fetch" {
				r.Header.Set("Accept", "text/html")
			}
			change(r)
			v := b.auth.Visit(t.Context(), r)
			if got, err := v.Session(); err != nil || got != nil {
				t.Errorf("%s, %s: after an hour the session is %+v (%v)", strategy, name, got, err)
			}
			if set := answerOf(v)["Set-Cookie"]; len(set) > 0 {
				t.Errorf("%s, %s: sets %q", strategy, name, set)
			}
		}
		b.opensPage()
		if got := w.role(b); got != "root" || b.cookies[actorCookie] != "" {
			t.Errorf("%s: after an hour a page has the session %q", strategy, got)
		}
		if strategy == core.StrategyDatabase && b.cookies[sessionCookie] != before[actorCookie] {
			t.Error("the cookie is not that of the administrator's session")
		}
		b.header.Del("Accept")
		if got := w.role(b); got != "root" {
			t.Errorf("%s: then the session is %q", strategy, got)
		}
		if _, there := w.sessions[before[sessionCookie]]; there {
			t.Errorf("%s: the impersonated session is left", strategy)
		}
	}
}

// TestImpersonateNotRestored checks that only the administrator's session that started an impersonation is restored,
// while it is valid.
func TestImpersonateNotRestored(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		for name, row := range map[string]struct {
			change func(w *town, b *browser)
			want   string
		}{
			"unchanged": {func(*town, *browser) {}, "root"},
			"the session has ended": {func(w *town, _ *browser) {
				if _, err := w.app.EndSessions(w.Context(), "root", core.EndOptions{}); err != nil {
					w.Fatal(err)
				}
			}, ""},
			"no second cookie": {func(_ *town, b *browser) { b.cookies[actorCookie] = "" }, ""},
			"another user's": {func(w *town, b *browser) {
				b.cookies[actorCookie] = w.userBrowser("grace").cookies[sessionCookie]
			}, ""},
			"another session of the administrator": {func(w *town, b *browser) {
				b.cookies[actorCookie] = w.userBrowser("root").cookies[sessionCookie]
			}, ""},
			"another impersonation": {func(w *town, b *browser) {
				b.cookies[actorCookie] = w.acting().cookies[sessionCookie]
			}, ""},
			"itself":                 {func(_ *town, b *browser) { b.cookies[actorCookie] = b.cookies[sessionCookie] }, ""},
			"only the second cookie": {func(_ *town, b *browser) { b.cookies[sessionCookie] = "" }, ""},
			"another session":        {func(_ *town, b *browser) { b.cookies[sessionCookie] = "nonsense" }, ""},
			"a user's own session": {func(w *town, b *browser) {
				b.cookies[sessionCookie] = w.userBrowser("grace").cookies[sessionCookie]
			}, "grace"},
			"a sign-in": {func(w *town, b *browser) {
				w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {"grace"}}))
				if b.cookies[actorCookie] != "" {
					w.Error("after a sign-in the second cookie is left")
				}
			}, "grace"},
			"a sign-out": {func(w *town, b *browser) {
				thief := w.browser()
				thief.cookies[sessionCookie] = b.cookies[actorCookie]
				b.submit("/auth/signout", nil)
				if got := w.role(thief); got != "" || b.cookies[actorCookie]+b.cookies[sessionCookie] != "" {
					w.Errorf("after a sign-out the session is %q", got)
				}
			}, ""},
		} {
			w, _, now := theater(t, strategy, func(c *core.Config) {
				c.Audit = func(_ context.Context, e audit.Event) {
					if e.ActorID != "" && now2030.Add(time.Hour).Before(e.Time) {
						t.Errorf("%s, %s: the event is %+v", strategy, name, e)
					}
				}
			})
			b := w.acting()
			*now = now.Add(time.Hour + time.Minute)
			row.change(w, b)
			b.opensPage()
			if got := w.role(b); got != row.want {
				t.Errorf("%s, %s: the session is %q, want %q", strategy, name, got, row.want)
			}
			if left := b.cookies[actorCookie]; left != "" && name != "only the second cookie" &&
				name != "a user's own session" {
				t.Errorf("%s, %s: the second cookie is left", strategy, name)
			}
		}
	}
}

// TestImpersonateChecked changes the result of the check during an impersonation.
func TestImpersonateChecked(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		for name, row := range map[string]struct {
			allowed error
			role    string // afterwards, when the check allows it again
		}{
			"forbidden":       {core.ErrForbidden, ""},
			"a step-up":       {&core.StepUp{MaxAge: time.Minute}, ""},
			"an access error": {core.NewError(core.ErrAccessDenied, nil), ""},
			"a failure":       {errors.New("the directory is unavailable"), "ada by root"},
		} {
			w, u, _ := theater(t, strategy)
			b := w.acting()
			u.allowed = row.allowed
			v := b.auth.Visit(t.Context(), b.request("GET", "/", "", ""))
			s, err := v.Session()
			if b.take(answerOf(v)); s != nil || (err == nil) != (row.role == "") {
				t.Errorf("%s, %s: the session is %+v (%v)", strategy, name, s, err)
			}
			u.allowed = nil
			if got := w.role(b); got != row.role {
				t.Errorf("%s, %s: the session is %q, want %q", strategy, name, got, row.role)
			}
		}
	}
}

// TestImpersonateNestedVisit checks that the check does not see the visit of the handler that makes another visit.
func TestImpersonateNestedVisit(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w, _, _ := theater(t, strategy)
		b := w.acting()
		outer := b.auth.Visit(t.Context(), b.request("GET", "/", "", ""))
		s, err := b.auth.Visit(outer, b.request("GET", "/", "", "")).Session()
		if err != nil || s == nil || s.Actor != "root" {
			t.Errorf("%s: the session is %+v (%v)", strategy, s, err)
		}
	}
}

// TestImpersonateRefused checks the sessions that may not start an impersonation, and the end without one.
func TestImpersonateRefused(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w, u, _ := theater(t, strategy)
		b := w.userBrowser("root")
		for name, row := range map[string]struct {
			user    string
			allowed error
			want    error
		}{
			"oneself":         {"root", nil, core.ErrForbidden},
			"nobody":          {"nobody", nil, core.ErrNotFound},
			"the check":       {"ada", core.ErrForbidden, core.ErrForbidden},
			"a step-up":       {"ada", &core.StepUp{}, core.ErrForbidden},
			"an access error": {"ada", core.NewError(core.ErrAccessDenied, nil), core.ErrForbidden},
		} {
			u.allowed = row.allowed
			b.submit("/auth/act", url.Values{"user": {row.user}})
			if !errors.Is(u.failed, row.want) || w.role(b) != "root" {
				t.Errorf("%s, %s: %v, %s", strategy, name, u.failed, w.role(b))
			}
		}
		u.allowed = errors.New("the directory is unavailable")
		b.submit("/auth/act", url.Values{"user": {"ada"}})
		if u.failed == nil || errors.Is(u.failed, core.ErrForbidden) {
			t.Errorf("%s: a check that fails: %v", strategy, u.failed)
		}
		u.allowed = nil
		if b.submit("/auth/act/end", nil); !errors.Is(u.failed, core.ErrForbidden) || w.role(b) != "root" {
			t.Errorf("%s: the end without an impersonation: %v", strategy, u.failed)
		}
		b = w.acting()
		if b.submit("/auth/act", url.Values{"user": {"grace"}}); !errors.Is(u.failed, core.ErrForbidden) ||
			w.role(b) != "ada by root" {
			t.Errorf("%s: a nested impersonation: %v, %s", strategy, u.failed, w.role(b))
		}
	}
}

// TestImpersonateChanges checks that core and other plugins change nothing during an impersonation.
func TestImpersonateChanges(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		var events []audit.Event
		w, _, now := theater(t, strategy, func(c *core.Config) {
			c.Audit = func(_ context.Context, e audit.Event) { events = append(events, e) }
		})
		b := w.userBrowser("root")
		start := b.submit("/auth/signin/plain", nil) // a sign-in that is in progress
		b.submit("/auth/act", url.Values{"user": {"ada"}})
		target, _ := url.Parse(start.Redirect)
		w.person = `{"sub":"7","name":"Mallory","email":"mal@example.com"}`
		events = nil
		for _, send := range []func() *core.Response{
			func() *core.Response { return b.submit("/auth/change", nil) },
			func() *core.Response { return b.submit("/auth/session", nil) },
			func() *core.Response { return b.submit("/auth/signin/plain", nil) },
			func() *core.Response { return b.submit("/auth/callback/credentials", url.Values{"id": {"grace"}}) },
			func() *core.Response { return b.get("/auth/webauthn-options/passkey?action=register") },
			func() *core.Response {
				return b.get("/auth/callback/plain?code=c&state=" + url.QueryEscape(target.Query().Get("state")))
			},
		} {
			*now = now.Add(2 * time.Minute)
			if r := send(); r.Err == nil || w.role(b) != "ada by root" {
				t.Errorf("%s: %d %s %v, %s", strategy, r.Status, r.Redirect, r.Err, w.role(b))
			}
		}
		for _, e := range events {
			if e.Name != audit.ImpersonationRefused || e.UserID != "ada" || e.ActorID != "root" {
				t.Errorf("%s: the event is %+v", strategy, e)
			}
		}
		if len(w.accounts) > 0 || len(events) != 6 {
			t.Errorf("%s: %d accounts were linked, and there are %d events", strategy, len(w.accounts), len(events))
		}
		events = nil
		second := b.cookies[actorCookie]
		b.submit("/auth/signout", nil)
		if len(events) == 0 || events[len(events)-1].ActorID != "root" || w.role(b) != "" ||
			b.cookies[actorCookie] != "" {
			t.Errorf("%s: after a sign-out: %+v, %q", strategy, events, w.role(b))
		}
		thief := w.browser()
		thief.cookies[sessionCookie] = second
		if got := w.role(thief); got != "" {
			t.Errorf("%s: after a sign-out the session of the actor is %q", strategy, got)
		}
	}
}

// TestImpersonateCookies combines the cookies of several browsers: only the two of one impersonation are a session.
func TestImpersonateCookies(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		for name, row := range map[string]struct {
			mix  func(w *town, b *browser) (session, second string)
			want string
		}{
			"the same": {func(_ *town, b *browser) (string, string) {
				return b.cookies[sessionCookie], b.cookies[actorCookie]
			}, "ada by root"},
			"no second": {func(_ *town, b *browser) (string, string) { return b.cookies[sessionCookie], "" }, ""},
			"another user's": {func(w *town, b *browser) (string, string) {
				return b.cookies[sessionCookie], w.userBrowser("grace").cookies[sessionCookie]
			}, ""},
			"another session of the actor": {func(w *town, b *browser) (string, string) {
				return b.cookies[sessionCookie], w.userBrowser("root").cookies[sessionCookie]
			}, ""},
			"an impersonated one": {func(w *town, b *browser) (string, string) {
				return b.cookies[sessionCookie], w.acting().cookies[sessionCookie]
			}, ""},
			"itself": {func(_ *town, b *browser) (string, string) {
				return b.cookies[sessionCookie], b.cookies[sessionCookie]
			}, ""},
			"a second for an own session": {func(w *town, b *browser) (string, string) {
				return w.userBrowser("grace").cookies[sessionCookie], b.cookies[actorCookie]
			}, "grace"},
		} {
			w, _, _ := theater(t, strategy)
			thief := w.browser()
			session, second := row.mix(w, w.acting())
			thief.cookies[sessionCookie], thief.cookies[actorCookie] = session, second
			if got := w.role(thief); got != row.want {
				t.Errorf("%s, %s: the session is %q, want %q", strategy, name, got, row.want)
			}
		}
	}
}

// TestImpersonateTooLarge starts an impersonation whose cookies the router would not read.
func TestImpersonateTooLarge(t *testing.T) {
	t.Parallel()
	for limit, fits := range map[int]bool{8000: false, 11000: true} {
		w, u, _ := theater(t, core.StrategyJWT, func(c *core.Config) {
			c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				return p.Token, p.Token.Extra.Set("data", strings.Repeat("x", 2500))
			}
		})
		b := w.browser()
		b.limit = limit
		w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {"root"}}))
		b.submit("/auth/act", url.Values{"user": {"ada"}})
		want := map[bool]string{false: "root", true: "ada by root"}[fits]
		if got := w.role(b); got != want {
			t.Errorf("with a limit of %d the session is %q (%v)", limit, got, u.failed)
		}
		var problem *core.Problem
		if !fits && (!errors.As(u.failed, &problem) || problem.Code != "session_too_large" ||
			!strings.Contains(u.failed.Error(), "the router reads 8000 bytes")) {
			t.Errorf("the error is %v", u.failed)
		}
		list, err := w.app.Sessions(t.Context(), "ada")
		if err != nil || (len(list) == 1) != fits {
			t.Errorf("with a limit of %d the user has the sessions %+v (%v)", limit, list, err)
		}
	}
}

// TestImpersonateBearer checks that the session token of an impersonation is no bearer token.
func TestImpersonateBearer(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w, _, _ := theater(t, strategy, func(c *core.Config) { c.Session.Bearer = true })
		b := w.acting()
		r := b.request("GET", "/", "", "") // with the second cookie
		r.Header.Set("Authorization", "Bearer "+url.PathEscape(b.cookies[sessionCookie]))
		r.Header.Set("Cookie", actorCookie+"="+b.cookies[actorCookie])
		if s, err := w.app.Visit(t.Context(), r).Session(); err != nil || s != nil {
			t.Errorf("%s: the session is %+v (%v)", strategy, s, err)
		}
		if token, err := w.app.Token(t.Context(), r); err != nil || token != nil {
			t.Errorf("%s: the token is %+v (%v)", strategy, token, err)
		}
	}
}

// rigging is a plugin that needs the public IDs of sessions, and allows no impersonation.
type rigging struct{}

func (rigging) Attach(h *core.PluginHost) error {
	h.TrackAuthentication()
	h.EndsSessions()
	return nil
}

// TestImpersonateWithoutPlugin checks that an impersonated session is not valid in an Auth without the plugin.
func TestImpersonateWithoutPlugin(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		var config core.Config
		w, _, _ := theater(t, strategy, func(c *core.Config) { config = *c })
		b, own := w.acting(), w.userBrowser("grace")
		config.Plugins = []core.Plugin{rigging{}}
		auth := newApp(t, config)
		for b, want := range map[*browser]string{b: "", own: "grace"} {
			if b.auth = auth; w.role(b) != want {
				t.Errorf("%s: the session is not %q", strategy, want)
			}
		}
	}
}

// TestImpersonateGuards checks the guards in an impersonated session.
func TestImpersonateGuards(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w, _, _ := theater(t, strategy)
		b := w.acting()
		for name, g := range map[string]core.Guard{
			"recent": core.RecentSignIn(time.Hour), "strong": core.Strong(), "own": core.NotImpersonated(),
		} {
			_, r := b.auth.Visit(t.Context(), b.request("GET", "/", "", "")).Require(g)
			if r == nil || r.Status != http.StatusForbidden {
				t.Errorf("%s, %s: the response is %+v", strategy, name, r)
			}
		}
		own := w.userBrowser("ada")
		v := own.auth.Visit(t.Context(), own.request("GET", "/", "", ""))
		if _, r := v.Require(core.NotImpersonated()); r != nil {
			t.Errorf("%s: an own session is refused: %+v", strategy, r)
		}
	}
}

// TestActClaim checks that an application's own claim act stays its own, and that no callback can impersonate.
func TestActClaim(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ set, want, role string }{
		{`"mine"`, `"mine"`, "ada"},
		{`{"sub":"x"}`, `{"sub":"x"}`, "ada"},
		{`{"sub":"root","sid":"AAAAAAAAAAAAAAAAAAAAAA"}`, "", "ada"},
	} {
		w, _, _ := theater(t, core.StrategyJWT, func(c *core.Config) {
			c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				if p.Token.Extra == nil {
					p.Token.Extra = core.Members{}
				}
				p.Token.Extra["act"] = []byte(row.set)
				return p.Token, nil
			}
		})
		b := w.userBrowser("ada")
		for range 2 {
			if got := w.role(b); got != row.role {
				t.Errorf("with act %s the session is %q", row.set, got)
			}
			b.get("/auth/session")
		}
		token, err := w.app.Token(t.Context(), b.request("GET", "/", "", ""))
		if err != nil || string(token.Extra["act"]) != row.want {
			t.Errorf("the claim is %s, want %s (%v)", token.Extra["act"], row.want, err)
		}
	}
}
