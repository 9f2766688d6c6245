package core_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

const accountCookie = sessionCookie + "-account"

// album is a plugin with several accounts in one browser. The user "root" may impersonate others, and "guest" is one.
type album struct {
	understudy
	banned map[string]bool
	all    []core.BrowserAccount
	result bool
	failed error
	in     func() // is called within the next action
}

func (a *album) Attach(h *core.PluginHost) error {
	h.KeepSessions("album")
	h.AddUserCheck(func(_ context.Context, userID string) error {
		if a.banned[userID] {
			return core.NewError(core.ErrAccessDenied, errors.New("banned"))
		}
		return nil
	})
	for _, method := range []string{"GET", "POST"} {
		for verb, run := range map[string]func(ctx context.Context, c *core.ActionRequest) error{
			"list": func(ctx context.Context, c *core.ActionRequest) (err error) {
				a.all, err = c.BrowserAccounts(ctx)
				return err
			},
			"keep": func(ctx context.Context, c *core.ActionRequest) error {
				return c.KeepSession(ctx, c.Field("instead"))
			},
			"switch": func(ctx context.Context, c *core.ActionRequest) (err error) {
				a.result, err = c.SwitchSession(ctx, c.Field("account"))
				return err
			},
			"end": func(ctx context.Context, c *core.ActionRequest) error {
				return c.EndKeptSession(ctx, c.Field("account"))
			},
		} {
			h.AddAction(core.Action{Method: method, Name: "album", Verb: verb, Impersonated: true, Programs: method == "POST",
				Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
					if a.in != nil {
						a.in()
						a.in = nil
					}
					a.failed = run(ctx, c)
					return c.Redirect("/"), a.failed
				}})
		}
	}
	return a.understudy.Attach(h)
}

// photos is a theater with that plugin.
func photos(t *testing.T, strategy core.Strategy, change ...func(*core.Config)) (*town, *album, *time.Time) {
	t.Helper()
	a := &album{banned: map[string]bool{}}
	change = append([]func(*core.Config){func(c *core.Config) { c.Plugins = []core.Plugin{a} }}, change...)
	w, _, now := theater(t, strategy, change...)
	return w, a, now
}

// ref returns the reference of an account of a browser, or "".
func (a *album) ref(b *browser, id string) string {
	b.get("/auth/album/list")
	for _, one := range a.all {
		if one.UserID == id {
			return one.Ref
		}
	}
	return ""
}

// names describes the accounts of a browser.
func (a *album) names(b *browser) string {
	b.get("/auth/album/list")
	var names []string
	for _, one := range a.all {
		name := one.UserID
		if one.Active {
			name += "*"
		}
		if !one.SignedIn {
			name += "?"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func (w *town) enters(b *browser, id string) {
	w.Helper()
	w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {id}}))
}

// TestKeepAndSwitch checks that a kept session continues unchanged: it is not renewed, does not count as used, and has
// the same age.
func TestKeepAndSwitch(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			w, a, now := photos(t, strategy)
			b := w.userBrowser("ada")
			token, csrf := b.cookies[sessionCookie], b.csrf()
			before, err := w.app.Sessions(t.Context(), "ada")
			if err != nil || len(before) != 1 {
				t.Fatalf("the sessions are %v (%v)", before, err)
			}
			b.submit("/auth/album/keep", nil)
			if a.failed != nil || w.role(b) != "" || b.csrf() == csrf {
				t.Fatalf("keep: %v, the user is %q", a.failed, w.role(b))
			}
			w.enters(b, "grace")
			*now = now.Add(25 * time.Hour) // the session of ada is due for renewal
			if got := a.names(b); got != "grace* ada" {
				t.Errorf("the accounts are %q", got)
			}
			after, err := w.app.Sessions(t.Context(), "ada")
			if err != nil || len(after) != 1 || !after[0].LastSeen.Equal(before[0].LastSeen) ||
				!after[0].Expires.Equal(before[0].Expires) {
				t.Errorf("the list changed the session %+v to %+v (%v)", before, after, err)
			}
			csrf = b.csrf()
			r := b.submit("/auth/album/switch", url.Values{"account": {a.ref(b, "ada")}})
			if a.failed != nil || !a.result || b.cookies[sessionCookie] != token || b.csrf() == csrf {
				t.Errorf("switch: %v, %t", a.failed, a.result)
			}
			for _, c := range r.Cookies {
				if c.Name == sessionCookie && !c.Expires.Equal(before[0].Expires.Truncate(time.Second)) {
					t.Errorf("the cookie expires %v, and the session %v", c.Expires, before[0].Expires)
				}
			}
			if got := w.role(b); got != "ada" {
				t.Errorf("the user is %q", got)
			}
			b.submit("/auth/album/switch", url.Values{"account": {a.ref(b, "ada")}})
			if a.failed != nil || !a.result || a.names(b) != "ada* grace" {
				t.Errorf("switch to the active account: %v, the accounts are %q", a.failed, a.names(b))
			}
			b.submit("/auth/album/end", url.Values{"account": {a.ref(b, "grace")}})
			if got := a.names(b); a.failed != nil || got != "ada*" || b.cookies["__Host-latchkey.accounts"] != "" {
				t.Errorf("end: %v, the accounts are %q", a.failed, got)
			}
			b.submit("/auth/album/end", url.Values{"account": {"none"}})
			if !errors.Is(a.failed, core.ErrNotFound) {
				t.Errorf("end of an unknown account: %v", a.failed)
			}
		})
	}
}

// TestKeptSessionRefusals checks who cannot change the accounts of a browser: a GET, a program, a signed-out user, and
// an impersonated user.
func TestKeptSessionRefusals(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			w, a, _ := photos(t, strategy, func(c *core.Config) { c.Session.Bearer = true })
			b := w.userBrowser("ada")
			b.submit("/auth/album/keep", nil)
			w.enters(b, "grace")
			ref := a.ref(b, "ada")
			cookies := maps.Clone(b.cookies)
			for _, verb := range []string{"keep", "switch", "end"} {
				if b.get("/auth/album/" + verb + "?account=" + ref); a.failed == nil {
					t.Errorf("GET %s succeeds", verb)
				}
			}
			b.header.Set("Authorization", "Bearer "+cookies[sessionCookie])
			for _, verb := range []string{"keep", "switch"} {
				if b.submit("/auth/album/"+verb, url.Values{"account": {ref}}); a.failed == nil {
					t.Errorf("%s with a bearer token succeeds", verb)
				}
			}
			b.header.Del("Authorization")
			if !maps.Equal(cookies, b.cookies) {
				t.Error("refused requests changed the cookies")
			}
			acting := w.userBrowser("root")
			acting.submit("/auth/album/keep", nil)
			w.enters(acting, "root")
			acting.submit("/auth/album/keep", nil)
			w.enters(acting, "grace")
			other := a.ref(acting, "root")
			acting.submit("/auth/album/switch", url.Values{"account": {other}})
			acting.submit("/auth/act", url.Values{"user": {"ada"}})
			if got := w.role(acting); got != "ada by root" {
				t.Fatalf("the user is %q (%v)", got, a.understudy.failed)
			}
			for n := 1; n <= 4; n++ {
				if strings.Contains(acting.cookies[accountCookie+fmt.Sprint(n)], acting.cookies[actorCookie]) {
					t.Error("the session of the administrator is that of another account too")
				}
			}
			for _, verb := range []string{"keep", "switch"} {
				acting.submit("/auth/album/"+verb, url.Values{"account": {other}})
				if !errors.Is(a.failed, core.ErrForbidden) || w.role(acting) != "ada by root" {
					t.Errorf("%s during an impersonation: %v, the user is %q", verb, a.failed, w.role(acting))
				}
			}
			out := w.browser()
			if out.submit("/auth/album/keep", nil); a.failed == nil {
				t.Error("keep without a session succeeds")
			}
		})
	}
	w, _, _ := theater(t, core.StrategyJWT, func(c *core.Config) {
		c.Plugins = append(c.Plugins, plugin(func(h *core.PluginHost) {
			for verb, run := range map[string]func(ctx context.Context, c *core.ActionRequest) error{
				"keep": func(ctx context.Context, c *core.ActionRequest) error { return c.KeepSession(ctx, "") },
				"switch": func(ctx context.Context, c *core.ActionRequest) error {
					_, err := c.SwitchSession(ctx, "")
					return err
				},
				"end": func(ctx context.Context, c *core.ActionRequest) error { return c.EndKeptSession(ctx, "") },
				"list": func(ctx context.Context, c *core.ActionRequest) error {
					_, err := c.BrowserAccounts(ctx)
					return err
				},
			} {
				h.AddAction(core.Action{Method: "POST", Name: "none", Verb: verb,
					Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
						if run(ctx, c) == nil {
							t.Errorf("%s succeeds without KeepSessions", verb)
						}
						return c.Redirect("/"), nil
					}})
			}
		}))
	})
	b := w.userBrowser("ada")
	for _, verb := range []string{"keep", "switch", "end", "list"} {
		b.submit("/auth/none/"+verb, nil)
	}
}

// plugin is a plugin that is a function.
type plugin func(h *core.PluginHost)

func (p plugin) Attach(h *core.PluginHost) error {
	p(h)
	return nil
}

// TestKeptSessionsAreBound checks that only the browser that kept a session continues with it.
func TestKeptSessionsAreBound(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			w, a, _ := photos(t, strategy)
			thief := w.userBrowser("grace")
			thief.submit("/auth/album/keep", nil)
			b := w.userBrowser("ada")
			b.cookies[accountCookie+"1"] = thief.cookies[accountCookie+"1"]
			if got := a.names(b); got != "ada*" {
				t.Errorf("a browser without accounts has %q", got)
			}
			b.submit("/auth/album/keep", nil)
			w.enters(b, "root")
			for n := 1; n <= 4; n++ {
				b.cookies[accountCookie+fmt.Sprint(n)] = thief.cookies[accountCookie+"1"]
			}
			if got := a.names(b); got != "root*" {
				t.Errorf("with planted cookies the accounts are %q", got)
			}
			b.submit("/auth/album/switch", url.Values{"account": {a.ref(thief, "grace")}})
			if !errors.Is(a.failed, core.ErrNotFound) || w.role(b) != "root" {
				t.Errorf("switch to a planted account: %v, the user is %q", a.failed, w.role(b))
			}
			b.cookies["__Host-latchkey.accounts"] = ""
			if got := a.names(b); got != "root*" {
				t.Errorf("without the cookie of the browser the accounts are %q", got)
			}
		})
	}
}

// TestSwitchAsksUserChecks checks that a user who may get no new session cannot continue, and one whose session
// Callbacks.JWT ends.
func TestSwitchAsksUserChecks(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w, a, _ := photos(t, strategy)
		b := w.userBrowser("ada")
		b.submit("/auth/album/keep", nil)
		w.enters(b, "grace")
		a.banned["ada"] = true
		b.submit("/auth/album/switch", url.Values{"account": {a.ref(b, "ada")}})
		if a.failed != nil || a.result || w.role(b) != "grace" {
			t.Errorf("%s: the switch returns %t and %v, the user is %q", strategy, a.result, a.failed, w.role(b))
		}
	}
	over := false
	w, a, _ := photos(t, core.StrategyJWT, func(c *core.Config) {
		c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if over && p.Token.Subject == "ada" {
				return nil, nil
			}
			return p.Token, nil
		}
	})
	b := w.userBrowser("ada")
	b.submit("/auth/album/keep", nil)
	w.enters(b, "grace")
	over = true
	b.submit("/auth/album/switch", url.Values{"account": {a.ref(b, "ada")}})
	if a.failed != nil || a.result || w.role(b) != "grace" {
		t.Errorf("the switch returns %t and %v, the user is %q", a.result, a.failed, w.role(b))
	}
}

// TestSwitchOutlivesRenewal checks that a response to a request from before a switch does not bring the earlier account
// back, and that one to a request after switching back renews its session.
func TestSwitchOutlivesRenewal(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w, a, now := photos(t, strategy)
		b := w.userBrowser("ada")
		b.submit("/auth/album/keep", nil)
		w.enters(b, "grace")
		ada, grace := a.ref(b, "ada"), a.ref(b, "grace")
		*now = now.Add(25 * time.Hour) // both sessions are due for renewal
		late := b.request("GET", "/", "", "")
		v := w.app.Visit(t.Context(), late)
		b.submit("/auth/album/switch", url.Values{"account": {ada}})
		if s, err := v.Session(); err != nil || s == nil || s.UserID != "grace" {
			t.Fatalf("%s: the late request has the session %v (%v)", strategy, s, err)
		}
		b.take(answerOf(v))
		if got := w.role(b); got != "ada" {
			t.Errorf("%s: after the late response the user is %q", strategy, got)
		}
		kept := b.cookies[accountCookie+"1"]
		b.submit("/auth/album/switch", url.Values{"account": {grace}})
		if got := w.role(b); got != "grace" {
			t.Errorf("%s: the user is %q", strategy, got)
		}
		if strategy == core.StrategyJWT && strings.HasSuffix(kept, b.cookies[sessionCookie]) {
			t.Error("the active session is not renewed after the switch back")
		}
	}
}

// TestReplacedSessionIsKept checks a sign-in as another user, and that it asks for a new CSRF token.
func TestReplacedSessionIsKept(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w, a, _ := photos(t, strategy)
		b := w.userBrowser("ada")
		csrf := b.csrf()
		w.enters(b, "grace")
		if got := a.names(b); got != "grace* ada" || b.csrf() == csrf {
			t.Errorf("%s: the accounts are %q", strategy, got)
		}
		earlier := visit(t, w.app)
		maps.Copy(earlier.cookies, b.cookies)
		w.enters(b, "ada") // replaces the kept session of ada
		if got := a.names(b); got != "ada* grace" {
			t.Errorf("%s: the accounts are %q", strategy, got)
		}
		if got := a.names(earlier); got != "grace* ada?" {
			t.Errorf("%s: the earlier session of ada: %q", strategy, got)
		}
	}
}

// TestKeptSessionsFit checks that accounts which do not fit are refused, without a change.
func TestKeptSessionsFit(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		w, a, _ := photos(t, strategy, func(c *core.Config) {
			c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				return p.Token, p.Token.Extra.Set("roles", strings.Repeat("r", 300))
			}
		})
		b := w.userBrowser("ada")
		b.limit = 2500 + len(sessionCookie) + len(b.cookies[sessionCookie]) + 100
		cookies := maps.Clone(b.cookies)
		b.submit("/auth/album/keep", nil)
		var problem *core.Problem
		if !errors.As(a.failed, &problem) || problem.Code != "accounts_full" || !maps.Equal(cookies, b.cookies) {
			t.Errorf("%s: keep: %v", strategy, a.failed)
		}
		b.limit = 0
		b.submit("/auth/album/keep", nil)
		w.enters(b, "grace")
		b.limit = 2500 + 100
		cookies = maps.Clone(b.cookies)
		b.submit("/auth/album/switch", url.Values{"account": {a.ref(b, "ada")}})
		if !errors.As(a.failed, &problem) || problem.Code != "accounts_full" || !maps.Equal(cookies, b.cookies) {
			t.Errorf("%s: switch: %v", strategy, a.failed)
		}
	}
}
