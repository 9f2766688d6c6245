package access_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
)

var user = core.User{ID: "1", Name: "User 1", Email: "1@example.com"}

// sessions is a store of the sessions of one user. It can become unavailable, and counts lookups and extensions. The
// tests use no other methods of a store.
type sessions struct {
	core.Store
	rows              sync.Map
	away              atomic.Bool
	lookups, extended atomic.Int64
}

func (s *sessions) User(context.Context, string) (*core.User, error) { return &user, nil }

func (s *sessions) CreateSession(_ context.Context, row *store.Session) error {
	s.rows.Store(string(row.Token), *row)
	return nil
}

func (s *sessions) SessionAndUser(_ context.Context, token string) (*store.Session, *core.User, error) {
	s.lookups.Add(1)
	row, there := s.rows.Load(token)
	switch {
	case s.away.Load():
		return nil, nil, core.ErrStoreUnavailable
	case !there:
		return nil, nil, core.ErrNotFound
	}
	found := row.(store.Session)
	return &found, &user, nil
}

func (s *sessions) UpdateSession(context.Context, string, time.Time) error {
	s.extended.Add(1)
	return nil
}

func (s *sessions) DeleteSession(_ context.Context, token string) (*store.Session, error) {
	row, there := s.rows.LoadAndDelete(token)
	if !there {
		return nil, core.ErrNotFound
	}
	found := row.(store.Session)
	return &found, nil
}

func (s *sessions) endAll() { s.rows.Clear() }

// keyring is a plugin with keys that begin with "key_".
type keyring struct {
	verify func(name string) (*core.Principal, error)
	asked  atomic.Int64
}

func (k *keyring) Attach(h *core.PluginHost) error {
	h.AddCredential(core.Credential{
		Matches: func(token string) bool { return strings.HasPrefix(token, "key_") },
		Verify: func(_ context.Context, token string, _ netip.Prefix) (*core.Principal, error) {
			k.asked.Add(1)
			return k.verify(strings.TrimPrefix(token, "key_"))
		},
	})
	return nil
}

// newAuth returns an Auth with sessions in s, or in cookies if s is nil.
func newAuth(t *testing.T, s *sessions, change ...func(*core.Config)) *core.Auth {
	t.Helper()
	c := core.Config{
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return &user, nil },
		}},
		InsecureNoLimits: true, URL: "https://app.test",
		Secrets: []core.Secret{"a-secret-of-thirty-two-bytes-and-more"}, Getenv: func(string) string { return "" },
		Rand: rand.Reader, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	}
	if s != nil {
		c.Store, c.Session.Strategy = s, core.StrategyDatabase
	}
	for _, f := range change {
		f(&c)
	}
	a, err := core.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// methods are the methods of the services that tests call.
func methods(service string) []string {
	if service == "a.S" {
		return []string{"Get", "List"}
	}
	return nil
}

func newCalls(t *testing.T, auth *core.Auth, o access.Options) *access.Calls {
	t.Helper()
	calls, err := access.New(auth, o, methods)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// cookieOf returns a Cookie header with a new session of the user.
func cookieOf(t *testing.T, auth *core.Auth) string {
	t.Helper()
	set, err := auth.NewSession(t.Context(), &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "https", Header: http.Header{},
	}, &user)
	if err != nil {
		t.Fatal(err)
	}
	return set[0].Name + "=" + set[0].Value
}

// TestRules calls procedures with each kind of credential.
func TestRules(t *testing.T) {
	k := &keyring{verify: func(name string) (*core.Principal, error) {
		if name != "good" {
			return nil, nil
		}
		return &core.Principal{Credential: "key:good", Scopes: []string{"orders:read"}}, nil
	}}
	auth := newAuth(t, nil, func(c *core.Config) {
		c.Plugins, c.Session.Bearer = []core.Plugin{k}, true
		c.TrustedOrigins = []string{"https://web.test"}
	})
	admins := func(context.Context, *core.Session) error { return core.ErrForbidden }
	calls := newCalls(t, auth, access.Options{Rules: map[string]access.Rule{
		"/a.S/Get": access.Public(), "/a.S/List": access.Session(),
		"/b.S/Keys":  access.Principal(core.Scopes("orders:read")),
		"/b.S/Write": access.Principal(core.Scopes("orders:write")), "/b.S/Admin": access.Session(admins),
		"/b.S/Fresh": access.Session(core.RecentSignIn(0), core.RecentSignIn(-time.Hour)), "/b.S/None": {},
	}})
	cookie := cookieOf(t, auth)
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

// TestOptions refuses rules that would leave a procedure to a wider rule.
func TestOptions(t *testing.T) {
	auth := newAuth(t, nil)
	type rules = map[string]access.Rule
	rule := access.Public()
	for name, row := range map[string]struct {
		options access.Options
		err     string
	}{
		"zero":                       {access.Options{}, ""},
		"an unknown service":         {access.Options{Rules: rules{"/x.Y/Z": rule}}, ""},
		"an unknown method":          {access.Options{Rules: rules{"/a.S/Gett": rule}}, "no procedure"},
		"a service":                  {access.Options{Rules: rules{"/a.S/*": rule, "/a.S/Get": rule}}, ""},
		"an unknown one, a service":  {access.Options{Rules: rules{"/a.S/*": rule, "/a.T/Get": rule}}, "no procedure"},
		"an unknown one, a default":  {access.Options{Default: rule, Rules: rules{"/a.T/Get": rule}}, "no procedure"},
		"a name without a slash":     {access.Options{Rules: rules{"a.S/Get": rule}}, "not a procedure"},
		"a name without a method":    {access.Options{Rules: rules{"/a.S/": rule}}, "not a procedure"},
		"a name with three segments": {access.Options{Rules: rules{"/v1/a.S/Get": rule}}, "not a procedure"},
		"an empty name":              {access.Options{Rules: rules{"": rule}}, "not a procedure"},
		"too often":                  {access.Options{Recheck: time.Millisecond}, "Recheck"},
		"negative":                   {access.Options{Recheck: -time.Minute}, "Recheck"},
	} {
		_, err := access.New(auth, row.options, methods)
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestWatch ends streams, and continues others.
func TestWatch(t *testing.T) {
	const period = 10 * time.Second
	for name, row := range map[string]struct {
		rule   access.Rule
		change func(s *sessions)
		after  time.Duration // zero: the stream continues
		reason string
	}{
		"a session continues":       {access.Session(), nil, 0, ""},
		"a revoked session":         {access.Session(), (*sessions).endAll, period, "session_required"},
		"a public stream continues": {access.Public(), (*sessions).endAll, 0, ""},
		"an expired session": {access.Session(), func(*sessions) {
			elapse(10 * time.Minute)
		}, period, "session_required"},
		"an unavailable store": {access.Session(), func(s *sessions) { s.away.Store(true) }, 4 * period, "unavailable"},
		"a store that was unavailable": {access.Session(), func(s *sessions) {
			s.away.Store(true)
			elapse(period * 2)
			s.away.Store(false)
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &sessions{}
				auth := newAuth(t, s, func(c *core.Config) { c.Session.MaxAge = 10 * time.Minute })
				calls := newCalls(t, auth, access.Options{
					Rules: map[string]access.Rule{"/a.S/List": row.rule}, Recheck: period,
				})
				call, refusal := calls.Start(t.Context(), &core.Request{
					Method: "POST", Target: "/", Hosts: []string{"app.test"}, Scheme: "https",
					Header: http.Header{"Cookie": {cookieOf(t, auth)}, "Origin": {"https://app.test"}},
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
					row.change(s)
				}
				elapse(max(row.after, period))
				synctest.Wait()
				var end *access.Error
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

// TestWatchCost: a stream makes one lookup in a period, does not extend its session, and does not count as a use of
// its key.
func TestWatchCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{}
		k := &keyring{verify: func(string) (*core.Principal, error) { return &core.Principal{Credential: "key:1"}, nil }}
		uses := 0
		auth := newAuth(t, s, func(c *core.Config) {
			c.Plugins, c.InsecureNoLimits = []core.Plugin{k}, false
			c.Callbacks.Limit = func(_ context.Context, p core.LimitParams) (time.Duration, error) {
				if p.Attempt == limit.AttemptKeyUse {
					uses++
				}
				return 0, nil
			}
		})
		calls := newCalls(t, auth, access.Options{
			Rules: map[string]access.Rule{"/a.S/List": access.Principal()}, Recheck: time.Hour,
		})
		for _, header := range []http.Header{
			{"Cookie": {cookieOf(t, auth)}, "Origin": {"https://app.test"}}, {"Authorization": {"Bearer key_1"}},
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
		k.asked.Store(0)
		s.lookups.Store(0)
		elapse(48 * time.Hour)
		synctest.Wait()
		n, asked, extended := s.lookups.Load(), k.asked.Load(), s.extended.Load()
		if n < 48 || n > 96 || asked < 48 || asked > 96 || extended != 0 || uses != 1 {
			t.Errorf("%d lookups, %d verifications, %d extensions, %d uses", n, asked, extended, uses)
		}
	})
}

// TestWatchByDefault: without Options.Recheck, a stream is checked every 15 to 30 seconds.
func TestWatchByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{}
		auth := newAuth(t, s)
		calls := newCalls(t, auth, access.Options{Rules: map[string]access.Rule{"/a.S/List": access.Session()}})
		call, refusal := calls.Start(t.Context(), &core.Request{
			Method: "POST", Target: "/", Hosts: []string{"app.test"}, Scheme: "https",
			Header: http.Header{"Cookie": {cookieOf(t, auth)}, "Origin": {"https://app.test"}},
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

func elapse(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the bubble's clock advances only by waiting
