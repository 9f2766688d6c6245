package core_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

// callMethods are the methods of the services that tests call.
func callMethods(service string) []string {
	if service == "a.S" {
		return []string{"Get", "List"}
	}
	return nil
}

func callsOf(t *testing.T, auth *core.Auth, o core.CallOptions) *core.Calls {
	t.Helper()
	calls, err := auth.Calls(o, callMethods)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// callerCookie returns a Cookie header with a new session of user 1.
func callerCookie(t *testing.T, auth *core.Auth) string {
	t.Helper()
	set, err := auth.NewSession(t.Context(), &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{},
	}, &core.User{ID: "1", Name: "User 1", Email: "1@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return set[0].Name + "=" + set[0].Value
}

// TestCallRules calls procedures with each kind of credential.
func TestCallRules(t *testing.T) {
	k := &keyring{verify: func(name string) (*core.Principal, error) {
		if name != "good" {
			return nil, nil
		}
		return &core.Principal{Credential: "key:good", Scopes: []string{"orders:read"}}, nil
	}}
	auth := process(t, newHouse(), 0, func(c *core.Config) {
		c.Plugins, c.Session.Bearer = []core.Plugin{k}, true
		c.TrustedOrigins = []string{"https://web.test"}
	})
	admins := func(context.Context, *core.Session) error { return core.ErrForbidden }
	calls := callsOf(t, auth, core.CallOptions{Rules: map[string]core.CallRule{
		"/a.S/Get": core.PublicCall(), "/a.S/List": core.SessionCall(),
		"/b.S/Keys":  core.PrincipalCall(core.Scopes("orders:read")),
		"/b.S/Write": core.PrincipalCall(core.Scopes("orders:write")), "/b.S/Admin": core.SessionCall(admins),
		"/b.S/Fresh": core.SessionCall(core.RecentSignIn(0), core.RecentSignIn(-time.Hour)), "/b.S/None": {},
	}})
	cookie := callerCookie(t, auth)
	_, token, _ := strings.Cut(cookie, "=")
	bearer, key := "Bearer "+token, "Bearer key_good"
	page := func(origins ...string) http.Header { return http.Header{"Cookie": {cookie}, "Origin": origins} }
	own := page("https://app.test")
	const public, list, keys, write = "/a.S/Get", "/a.S/List", "/b.S/Keys", "/b.S/Write"
	const admin, none = "/b.S/Admin", "/b.S/None"
	for _, row := range []struct {
		name, procedure string
		header          http.Header
		code            uint32 // 0: allowed
		reason          string
		user            string // of an allowed call
	}{
		{"public", public, nil, 0, "", ""},
		{"public with a session", public, own, 0, "", "1"},
		{"public with a cookie of another site", public, page("https://evil.test"), 0, "", ""},
		{"public with a wrong token", public, http.Header{"Authorization": {"Bearer x"}}, 0, "", ""},
		{"nothing", list, nil, 16, "session_required", ""},
		{"cookie and origin", list, own, 0, "", "1"},
		{"cookie of a trusted origin", list, http.Header{"Cookie": {cookie}, "Origin": {"https://web.test"},
			"Sec-Fetch-Site": {"cross-site"}}, 0, "", "1"},
		{"cookie and Sec-Fetch-Site", list, http.Header{"Cookie": {cookie}, "Sec-Fetch-Site": {"same-origin"}}, 0, "", "1"},
		{"cookie without origin", list, http.Header{"Cookie": {cookie}}, 7, "cross_origin", ""},
		{"cookie of another site", list, page("https://evil.test"), 7, "cross_origin", ""},
		{"cookie of origin null", list, page("null"), 7, "cross_origin", ""},
		{
			"cookie of a subdomain", list, http.Header{"Cookie": {cookie}, "Sec-Fetch-Site": {"same-site"}},
			7, "cross_origin", "",
		},
		{"cookie of a navigation", list, http.Header{"Cookie": {cookie}, "Sec-Fetch-Site": {"none"}}, 7, "cross_origin", ""},
		{"cookie and two origins", list, page("https://app.test", "https://evil.test"), 7, "cross_origin", ""},
		{"contradicting headers", list, http.Header{"Cookie": {cookie}, "Origin": {"https://evil.test"},
			"Sec-Fetch-Site": {"same-origin"}}, 7, "cross_origin", ""},
		{"contradicting headers, reversed", list, http.Header{"Cookie": {cookie}, "Origin": {"https://app.test"},
			"Sec-Fetch-Site": {"cross-site"}}, 7, "cross_origin", ""},
		{"another cookie without origin", list, http.Header{"Cookie": {"a=b"}}, 16, "session_required", ""},
		{"bearer", list, http.Header{"Authorization": {bearer}}, 0, "", "1"},
		{"wrong bearer with a valid cookie", list, http.Header{"Cookie": {cookie}, "Origin": {"https://app.test"},
			"Authorization": {"Bearer x"}}, 16, "invalid_token", ""},
		{"two tokens", list, http.Header{"Authorization": {bearer, "Bearer x"}}, 16, "invalid_request", ""},
		{"key where users are required", list, http.Header{"Authorization": {key}}, 16, "invalid_token", ""},
		{"key", keys, http.Header{"Authorization": {key}}, 0, "", "key:good"},
		{"key with the cookie of a user", keys, http.Header{"Cookie": {cookie}, "Origin": {"https://app.test"},
			"Authorization": {key}}, 0, "", "key:good"},
		{"two keys", keys, http.Header{"Authorization": {key, key}}, 16, "invalid_request", ""},
		{"wrong key", keys, http.Header{"Authorization": {"Bearer key_bad"}}, 16, "invalid_token", ""},
		{"missing scope", write, http.Header{"Authorization": {key}}, 7, "insufficient_scope", ""},
		{"user with all scopes", write, own, 0, "", "1"},
		{"guard", admin, own, 7, "forbidden", ""},
		{"guard of a page", admin, http.Header{"Cookie": {cookie}, "Origin": {"https://app.test"}, "Hx-Request": {"true"},
			"Accept": {"text/html"}}, 7, "forbidden", ""},
		{"not signed in, as a page", list, http.Header{"Accept": {"text/html"}}, 16, "session_required", ""},
		{"not signed in, as HTMX", list, http.Header{"Hx-Request": {"true"}}, 16, "session_required", ""},
		{"step-up", "/b.S/Fresh", own, 16, "reauth_required", ""},
		{"zero rule", none, own, 7, "no_rule", ""},
		{"no rule", "/a.S/Other", own, 7, "no_rule", ""},
		{"another form of a name", "/a.S/List/", own, 7, "no_rule", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			call, refusal := calls.Start(t.Context(), &core.Request{
				Method: "POST", Target: row.procedure, Hosts: []string{"app.test"}, Scheme: "https", Header: row.header,
			}, row.procedure)
			if row.code != 0 {
				if refusal == nil || refusal.Code != row.code || refusal.Reason != row.reason || refusal.Message == "" ||
					refusal.Problem["code"] != row.reason {
					t.Fatalf("refusal is %+v", refusal)
				}
				if (row.code == 16) != (refusal.Challenge != "") && row.reason != "insufficient_scope" {
					t.Errorf("challenge is %q", refusal.Challenge)
				}
				return
			}
			if refusal != nil {
				t.Fatalf("refused: %v", refusal)
			}
			user := ""
			if p, err := core.PrincipalFrom(call); err != nil {
				t.Fatal(err)
			} else if p != nil {
				user = p.UserID + p.Credential
			}
			if user != row.user {
				t.Errorf("the principal is %q", user)
			}
		})
	}
}

// TestCallOptions refuses rules that would leave a procedure to a wider rule.
func TestCallOptions(t *testing.T) {
	auth := process(t, newHouse(), 0)
	type rules = map[string]core.CallRule
	rule := core.PublicCall()
	for name, row := range map[string]struct {
		options core.CallOptions
		err     string
	}{
		"zero":                       {core.CallOptions{}, ""},
		"an unknown service":         {core.CallOptions{Rules: rules{"/x.Y/Z": rule}}, ""},
		"an unknown method":          {core.CallOptions{Rules: rules{"/a.S/Gett": rule}}, "no procedure"},
		"a service":                  {core.CallOptions{Rules: rules{"/a.S/*": rule, "/a.S/Get": rule}}, ""},
		"an unknown one, a service":  {core.CallOptions{Rules: rules{"/a.S/*": rule, "/a.T/Get": rule}}, "no procedure"},
		"an unknown one, a default":  {core.CallOptions{Default: rule, Rules: rules{"/a.T/Get": rule}}, "no procedure"},
		"a name without a slash":     {core.CallOptions{Rules: rules{"a.S/Get": rule}}, "not a procedure"},
		"a name without a method":    {core.CallOptions{Rules: rules{"/a.S/": rule}}, "not a procedure"},
		"a name with three segments": {core.CallOptions{Rules: rules{"/v1/a.S/Get": rule}}, "not a procedure"},
		"an empty name":              {core.CallOptions{Rules: rules{"": rule}}, "not a procedure"},
		"too often":                  {core.CallOptions{Recheck: time.Millisecond}, "Recheck"},
		"negative":                   {core.CallOptions{Recheck: -time.Minute}, "Recheck"},
	} {
		_, err := auth.Calls(row.options, callMethods)
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// away is a store that can become unavailable, and that counts what it does for sessions.
type away struct {
	house
	away            *atomic.Bool
	lookups, extend *atomic.Int64
}

func (s away) SessionAndUser(ctx context.Context, token string) (*store.Session, *core.User, error) {
	if s.lookups.Add(1); s.away.Load() {
		return nil, nil, core.ErrStoreUnavailable
	}
	return s.house.SessionAndUser(ctx, token)
}

func (s away) UpdateSession(ctx context.Context, token string, until time.Time) error {
	s.extend.Add(1)
	return s.house.UpdateSession(ctx, token, until)
}

// TestCallWatch ends streams, and continues others.
func TestCallWatch(t *testing.T) {
	const period = 10 * time.Second
	for name, row := range map[string]struct {
		strategy core.Strategy
		rule     core.CallRule
		change   func(t *testing.T, auth *core.Auth, unavailable *atomic.Bool)
		after    time.Duration // zero: the stream continues
		reason   string
	}{
		"a session continues":           {core.StrategyDatabase, core.SessionCall(), nil, 0, ""},
		"a revoked session":             {core.StrategyDatabase, core.SessionCall(), endAll, period, "session_required"},
		"a revoked session in a cookie": {core.StrategyJWT, core.SessionCall(), endAll, period, "session_required"},
		"a public stream continues":     {core.StrategyDatabase, core.PublicCall(), endAll, 0, ""},
		"an expired session": {core.StrategyDatabase, core.SessionCall(), func(*testing.T, *core.Auth, *atomic.Bool) {
			elapse(10 * time.Minute)
		}, period, "session_required"},
		"an unavailable store": {
			core.StrategyDatabase, core.SessionCall(), func(_ *testing.T, _ *core.Auth, no *atomic.Bool) {
				no.Store(true)
			}, 4 * period, "unavailable",
		},
		"a store that was unavailable": {
			core.StrategyDatabase, core.SessionCall(), func(_ *testing.T, _ *core.Auth, no *atomic.Bool) {
				no.Store(true)
				elapse(period * 2)
				no.Store(false)
			}, 0, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := away{newHouse(), new(atomic.Bool), new(atomic.Int64), new(atomic.Int64)}
				auth := process(t, s, 0, func(c *core.Config) {
					c.Session = core.SessionConfig{Strategy: row.strategy, MaxAge: 10 * time.Minute}
					if row.strategy == core.StrategyJWT {
						c.Session.Revocation.On = core.True
					}
				})
				calls := callsOf(t, auth, core.CallOptions{
					Rules: map[string]core.CallRule{"/a.S/List": row.rule}, Recheck: period,
				})
				call, refusal := calls.Start(t.Context(), &core.Request{
					Method: "POST", Target: "/", Hosts: []string{"app.test"}, Scheme: "https",
					Header: http.Header{"Cookie": {callerCookie(t, auth)}, "Origin": {"https://app.test"}},
				}, "/a.S/List")
				if refusal != nil {
					t.Fatal(refusal)
				}
				ctx, stop := call.Watch(call)
				defer stop()
				elapse(3 * period)
				if ctx.Err() != nil {
					t.Fatal(context.Cause(ctx))
				}
				if row.change != nil {
					row.change(t, auth, s.away)
				}
				elapse(max(row.after, period))
				synctest.Wait()
				var end *core.CallError
				errors.As(context.Cause(ctx), &end)
				if row.after == 0 && ctx.Err() == nil {
					return
				}
				if end == nil || end.Reason != row.reason {
					t.Fatalf("the stream ended with %v", context.Cause(ctx))
				}
			})
		})
	}
}

func endAll(t *testing.T, auth *core.Auth, _ *atomic.Bool) {
	t.Helper()
	if _, err := auth.EndSessions(t.Context(), "1", core.EndOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestCallWatchCost: a stream makes one lookup in a period, does not extend its session, and does not count as a use of
// its key.
func TestCallWatchCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := away{newHouse(), new(atomic.Bool), new(atomic.Int64), new(atomic.Int64)}
		k := &keyring{verify: func(string) (*core.Principal, error) { return &core.Principal{Credential: "key:1"}, nil }}
		uses := 0
		auth := process(t, s, 0, func(c *core.Config) {
			c.Session = core.SessionConfig{Strategy: core.StrategyDatabase}
			c.Plugins, c.InsecureNoLimits = []core.Plugin{k}, false
			c.Callbacks.Limit = func(_ context.Context, p core.LimitParams) (time.Duration, error) {
				if p.Attempt == limit.AttemptKeyUse {
					uses++
				}
				return 0, nil
			}
		})
		calls := callsOf(t, auth, core.CallOptions{
			Rules: map[string]core.CallRule{"/a.S/List": core.PrincipalCall()}, Recheck: time.Hour,
		})
		for _, header := range []http.Header{
			{"Cookie": {callerCookie(t, auth)}, "Origin": {"https://app.test"}}, {"Authorization": {"Bearer key_1"}},
		} {
			call, refusal := calls.Start(t.Context(), &core.Request{
				Method: "POST", Target: "/", Hosts: []string{"app.test"}, Scheme: "https", Header: header,
			}, "/a.S/List")
			if refusal != nil {
				t.Fatal(refusal)
			}
			_, stop := call.Watch(call)
			defer stop()
		}
		k.mu.Lock()
		k.asked = 0
		k.mu.Unlock()
		s.lookups.Store(0)
		elapse(48 * time.Hour)
		synctest.Wait()
		n, extended := s.lookups.Load(), s.extend.Load()
		if n < 48 || n > 96 || k.asked < 48 || k.asked > 96 || extended != 0 || uses != 1 {
			t.Errorf("%d lookups, %d verifications, %d extensions, %d uses", n, k.asked, extended, uses)
		}
	})
}

// TestCallWatchByDefault: without CallOptions.Recheck, a stream is checked every 15 to 30 seconds.
func TestCallWatchByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := away{newHouse(), new(atomic.Bool), new(atomic.Int64), new(atomic.Int64)}
		auth := process(t, s, 0, func(c *core.Config) {
			c.Session = core.SessionConfig{Strategy: core.StrategyDatabase}
		})
		calls := callsOf(t, auth, core.CallOptions{Rules: map[string]core.CallRule{"/a.S/List": core.SessionCall()}})
		call, refusal := calls.Start(t.Context(), &core.Request{
			Method: "POST", Target: "/", Hosts: []string{"app.test"}, Scheme: "https",
			Header: http.Header{"Cookie": {callerCookie(t, auth)}, "Origin": {"https://app.test"}},
		}, "/a.S/List")
		if refusal != nil {
			t.Fatal(refusal)
		}
		_, stop := call.Watch(call)
		defer stop()
		s.lookups.Store(0)
		elapse(time.Hour)
		synctest.Wait()
		if n := s.lookups.Load(); n < 120 || n > 240 {
			t.Errorf("%d lookups in an hour", n)
		}
	})
}

// TestSessionSources returns the names for the description of an API.
func TestSessionSources(t *testing.T) {
	for name, row := range map[string]struct {
		auth   *core.Auth
		cookie string
		bearer bool
	}{
		"https": {process(t, newHouse(), 0), "__Secure-authjs.session-token", false},
		"http, with tokens": {process(t, newHouse(), 0, func(c *core.Config) {
			c.URL, c.Session.Bearer = "http://localhost:3000", true
		}), "authjs.session-token", true},
		"unknown origin": {process(t, newHouse(), 0, func(c *core.Config) {
			c.URL, c.TrustHost = "", core.True
		}), "__Secure-authjs.session-token", false},
		"chosen by request": {core.PerRequest("/auth", nil), "", false},
	} {
		if cookie, bearer := row.auth.SessionSources(); cookie != row.cookie || bearer != row.bearer {
			t.Errorf("%s: %q, %t", name, cookie, bearer)
		}
	}
}
