package core_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
)

const pendingCookie = "__Host-latchkey.pending"

// toyFactor is a second factor for every user. The code is 123456.
type toyFactor struct {
	name string
	seen []core.PendingSignIn
	mu   sync.Mutex
	err  error
	// final makes its gate a final one.
	final bool
	// links lets signed-in users link accounts.
	links bool
	// resumed is called when an action has found a pending sign-in.
	resumed func()
}

func (f *toyFactor) Attach(h *core.PluginHost) error {
	add := h.AddSignInGate
	if f.final {
		add = h.AddFinalSignInGate
	}
	add(func(_ context.Context, p *core.PendingSignIn) (string, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.seen = append(f.seen, *p)
		if p.EncryptedCookie(f.name+"-device", new(bool)) || p.Linking && f.links {
			return "", nil
		}
		return f.name, f.err
	})
	h.AddAction(core.Action{Method: "GET", Name: f.name,
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			p, err := c.PendingSignIn(ctx)
			if err != nil || p == nil {
				return nil, errors.Join(err, &core.Problem{Status: 409, Code: "nothing-pending"})
			}
			return c.JSON(ctx, http.StatusOK, p.User.ID), nil
		}})
	h.AddAction(core.Action{Method: "POST", Name: f.name,
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			p, err := c.PendingSignIn(ctx)
			switch {
			case err != nil:
				return nil, err
			case p == nil:
				return nil, &core.Problem{Status: 409, Code: "nothing-pending"}
			case c.Field("code") != "123456":
				return nil, &core.Problem{Status: 403, Code: "wrong-code"}
			case f.resumed != nil:
				f.resumed()
			case c.Field("trust") != "":
				if err := c.SetEncryptedCookie(f.name+"-device", true, time.Hour); err != nil {
					return nil, err
				}
			}
			return c.CompleteSignIn(ctx, p, amr.OTP)
		}})
	h.AddAction(core.Action{Method: "GET", Name: f.name, Verb: "now",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			p, err := c.PendingSignIn(ctx)
			if err != nil || p == nil {
				return nil, errors.Join(err, errors.New("nothing is pending"))
			}
			return c.CompleteSignIn(ctx, p)
		}})
	return nil
}

// gatedTown returns a town with second factors, an OAuth 1.0a provider and a plugin that signs users in.
func gatedTown(
	t *testing.T, strategy core.Strategy, factors ...*toyFactor,
) (w *town, k *keptRecords, signIns *[]core.SignInEvent) {
	t.Helper()
	return changedTown(t, strategy, func(*core.Config) {}, factors...)
}

// changedTown is gatedTown with a change of the configuration.
func changedTown(
	t *testing.T, strategy core.Strategy, change func(*core.Config), factors ...*toyFactor,
) (w *town, k *keptRecords, signIns *[]core.SignInEvent) {
	t.Helper()
	signIns = new([]core.SignInEvent)
	w = newTown(t, power{}, strategy, func(c *core.Config) {
		c.Store, k = c.Store.(struct{ least }).least.(*people).records()
		bird := &service1{now: func() time.Time { return start }}
		c.Providers = append(c.Providers, bird.provider())
		for _, f := range factors {
			c.Plugins = append(c.Plugins, f)
		}
		c.Plugins = append(c.Plugins, answers(core.Action{Method: "POST", Name: "direct",
			Handle: func(ctx context.Context, call *core.ActionRequest) (*core.Response, error) {
				return call.SignIn(ctx, core.SignIn{User: &core.User{ID: "u1"}, Methods: []amr.Method{"toy"}})
			}}))
		c.Events.SignIn = func(_ context.Context, e core.SignInEvent) error {
			*signIns = append(*signIns, e)
			return nil
		}
		change(c)
	})
	return w, k, signIns
}

var strategies = []core.Strategy{core.StrategyJWT, core.StrategyDatabase}

// signInCases lists all sign-in methods. Each is tried with an existing user and names that user; an empty name means
// the user that the sign-in creates.
var signInCases = []struct {
	name, user string
	methods    []amr.Method
	in         func(w *town, b *browser) *core.Response
}{
	{"oauth", "", []amr.Method{amr.Federated}, func(w *town, b *browser) *core.Response {
		return w.through(b, "plain", "s1", "ada@x.example", "")
	}},
	{"oauth1", "", []amr.Method{amr.Federated}, func(_ *town, b *browser) *core.Response {
		b.submit("/auth/signin/bird", nil)
		return b.get("/auth/callback/bird?oauth_token=request-1&oauth_verifier=allowed")
	}},
	{"email", "", []amr.Method{amr.Mail}, func(w *town, b *browser) *core.Response {
		return w.byMail(b, "bob@x.example")
	}},
	{"credentials", "u1", []amr.Method{amr.Password}, func(_ *town, b *browser) *core.Response {
		return b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}})
	}},
	{"passkey", "u1", nil, func(w *town, b *browser) *core.Response {
		return w.passkey(b, "action=authenticate", "authenticate", "key")
	}},
	{"a plugin", "u1", []amr.Method{"toy"}, func(_ *town, b *browser) *core.Response {
		return b.submit("/auth/direct", nil)
	}},
}

// TestGateAppliesToEveryMethod signs in by each method with a second factor. Until the code is correct there is no
// session: no cookie, no row, no event.
func TestGateAppliesToEveryMethod(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		for _, signInCase := range signInCases {
			t.Run(string(strategy)+" "+signInCase.name, func(t *testing.T) {
				t.Parallel()
				f := &toyFactor{name: "toyfactor"}
				w, k, signIns := gatedTown(t, strategy, f)
				w.users["u1"] = core.User{ID: "u1", Name: "Ada", Email: "u1@x.example", EmailVerified: start}
				credential := "a2V5"
				w.passkeys[credential] = store.Authenticator{
					CredentialID: credential, UserID: "u1", ProviderAccountID: credential, CredentialPublicKey: "a2V5",
				}
				w.accounts[accountKey("passkey", credential)] = core.Account{
					UserID: "u1", Type: core.TypeWebAuthn, Provider: "passkey", ProviderAccountID: credential,
				}
				b := w.browser()
				b.get("/auth/signin?callbackUrl=%2Fthere")
				r := signInCase.in(w, b)
				if r.Redirect != "https://app.test/auth/toyfactor" && !strings.Contains(string(r.Body), "/auth/toyfactor") {
					t.Fatalf("sent to %s %s: %v", r.Redirect, r.Body, r.Err)
				}
				held := func(when string) {
					t.Helper()
					if b.cookies[sessionCookie] != "" || len(w.sessions) != 0 || len(*signIns) != 0 || w.who(b) != "" {
						t.Fatalf("%s: cookies %v, %d rows, %d sign-ins", when, b.cookies, len(w.sessions), len(*signIns))
					}
				}
				held("behind the gate")
				if got := string(b.get("/auth/session").Body); got != "null" {
					t.Errorf("the session is %s", got)
				}
				if r := b.submit("/auth/toyfactor", url.Values{"code": {"000000"}}); r.Status != http.StatusForbidden {
					t.Errorf("a wrong code got status %d", r.Status)
				}
				held("after a wrong code")
				if r := b.get("/auth/toyfactor/now"); r.Err == nil {
					t.Error("a GET completes the sign-in")
				}
				held("after a GET")
				if r := w.browser().submit("/auth/toyfactor", url.Values{"code": {"123456"}}); r.Status != http.StatusConflict {
					t.Errorf("another browser got status %d", r.Status)
				}
				held("after another browser's try")
				r = b.submit("/auth/toyfactor", url.Values{"code": {"123456"}})
				id := w.signedIn(b, r)
				if signInCase.user != "" && id != signInCase.user || len(*signIns) != 1 || (*signIns)[0].User.ID != id {
					t.Errorf("signed in as %q, events %+v", id, *signIns)
				}
				if string(r.Body) != `{"url":"https://app.test/there"}` || b.cookies[pendingCookie] != "" || k.count() != 0 {
					t.Errorf("response %s, cookies %v, %d records", r.Body, b.cookies, k.count())
				}
				if len(f.seen) != 1 || signInCase.methods != nil && !slices.Equal(f.seen[0].Methods, signInCase.methods) ||
					f.seen[0].User.ID != id || f.seen[0].Created != (signInCase.user == "") {
					t.Errorf("the gate saw %+v", f.seen)
				}
			})
		}
	}
}

// TestGateReleasesOnce sends the same pending cookie and the correct code from fifty browsers concurrently. Only one
// gets a session.
func TestGateReleasesOnce(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			const racers = 50
			var ready sync.WaitGroup
			ready.Add(racers)
			f := &toyFactor{name: "toyfactor", resumed: func() { ready.Done(); ready.Wait() }}
			w, _, _ := gatedTown(t, strategy, f)
			w.users["u1"] = core.User{ID: "u1"}
			b := w.browser()
			b.submit("/auth/direct", nil)
			b.csrf()
			var group sync.WaitGroup
			var mu sync.Mutex
			in, over := 0, 0
			for range racers {
				group.Go(func() {
					one := w.browser()
					one.cookies = maps.Clone(b.cookies)
					r := one.submit("/auth/toyfactor", url.Values{"code": {"123456"}})
					mu.Lock()
					defer mu.Unlock()
					if one.cookies[sessionCookie] != "" {
						in++
					}
					if r.Status == http.StatusConflict {
						over++
					}
				})
			}
			group.Wait()
			if in != 1 || over != racers-1 || strategy == core.StrategyDatabase && len(w.sessions) != 1 {
				t.Errorf("%d sessions, %d refused, %d rows", in, over, len(w.sessions))
			}
		})
	}
}

// TestGateEnds checks that a pending sign-in cannot be completed after it has expired or become invalid.
func TestGateEnds(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		for name, c := range map[string]struct {
			meanwhile func(w *town, k *keptRecords)
			ok        bool
		}{
			"nothing":     {func(*town, *keptRecords) {}, true},
			"ten minutes": {func(w *town, _ *keptRecords) { w.app.clock.Advance(10 * time.Minute) }, false},
			"a second less": {func(w *town, _ *keptRecords) {
				w.app.clock.Advance(10*time.Minute - time.Second)
			}, true},
			"the user was deleted":     {func(w *town, _ *keptRecords) { delete(w.users, "u1") }, false},
			"the records were deleted": {func(_ *town, k *keptRecords) { clear(k.all) }, false},
			"another person verified the address": {func(w *town, _ *keptRecords) {
				u := w.users["u1"]
				u.EmailVerified = start.Add(time.Second)
				w.users["u1"] = u
			}, false},
			"its sessions are ended": {func(w *town, _ *keptRecords) {
				_, err := w.app.EndSessions(w.Context(), "u1", core.EndOptions{})
				if err != nil && !errors.Is(err, core.ErrInvalidConfig) { // jwt without Revocation
					w.Error(err)
				}
			}, false},
		} {
			t.Run(string(strategy)+" "+name, func(t *testing.T) {
				t.Parallel()
				w, k, _ := gatedTown(t, strategy, &toyFactor{name: "toyfactor"})
				w.users["u1"] = core.User{ID: "u1", Email: "u1@x.example"}
				b := w.browser()
				b.submit("/auth/direct", nil)
				c.meanwhile(w, k)
				r := b.submit("/auth/toyfactor", url.Values{"code": {"123456"}})
				if in := w.who(b) != ""; in != c.ok || !in && r.Status != http.StatusConflict {
					t.Errorf("signed in: %v, status %d %s %v", in, r.Status, r.Body, r.Err)
				}
			})
		}
	}
}

// TestGates checks two second factors in a row. Neither completes the other's pending sign-in, and both are asked.
func TestGates(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			first, second := &toyFactor{name: "first"}, &toyFactor{name: "second"}
			w, k, signIns := gatedTown(t, strategy, first, second)
			w.users["u1"] = core.User{ID: "u1"}
			b := w.browser()
			code := url.Values{"code": {"123456"}, "trust": {"yes"}}
			if r := b.submit("/auth/direct", nil); !strings.Contains(string(r.Body), "/auth/first") {
				t.Fatalf("pending at %s: %v", r.Body, r.Err)
			}
			if r := b.submit("/auth/second", code); r.Status != http.StatusConflict {
				t.Errorf("the second gate completed the sign-in of the first: %d", r.Status)
			}
			before := b.cookies[pendingCookie]
			if r := b.submit("/auth/first", code); !strings.Contains(string(r.Body), "/auth/second") || w.who(b) != "" {
				t.Fatalf("then pending at %s as %q: %v", r.Body, w.who(b), r.Err)
			}
			after := b.cookies[pendingCookie]
			b.cookies[pendingCookie] = before
			if r := b.submit("/auth/first", code); r.Status != http.StatusConflict || w.who(b) != "" {
				t.Errorf("the first gate completed the sign-in twice: %d", r.Status)
			}
			b.cookies[pendingCookie] = after
			w.signedIn(b, b.submit("/auth/second", code))
			if last := second.seen[len(second.seen)-1]; !slices.Equal(last.Methods, []amr.Method{"toy", amr.OTP}) {
				t.Errorf("the second gate saw %v", last.Methods)
			}
			if len(first.seen) != 1 || len(second.seen) != 1 || len(*signIns) != 1 || k.count() != 0 {
				t.Errorf("asked %d and %d times, %d sign-ins, %d records", len(first.seen), len(second.seen), len(*signIns),
					k.count())
			}
			delete(b.cookies, sessionCookie)
			if r := b.submit("/auth/direct", nil); w.who(b) != "u1" { // both gates trust the device
				t.Errorf("pending on a trusted device at %s: %v", r.Body, r.Err)
			}
		})
	}
}

// TestFinalGate checks that a final gate is asked last, also if its plugin is configured first.
func TestFinalGate(t *testing.T) {
	t.Parallel()
	last, first, second := &toyFactor{name: "last", final: true}, &toyFactor{name: "first"}, &toyFactor{name: "second"}
	w, _, _ := gatedTown(t, core.StrategyDatabase, last, first, second)
	w.users["u1"] = core.User{ID: "u1"}
	b := w.browser()
	r := b.submit("/auth/direct", nil)
	for _, name := range []string{"first", "second", "last"} {
		if !strings.Contains(string(r.Body), "/auth/"+name) || w.who(b) != "" {
			t.Fatalf("pending at %s, want %s (%v)", r.Body, name, r.Err)
		}
		r = b.submit("/auth/"+name, url.Values{"code": {"123456"}})
	}
	w.signedIn(b, r)
}

// TestGateRefuses checks that a gate that fails, panics, or returns an action that is not the plugin's does not let the
// user in.
func TestGateRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gate   func(context.Context, *core.PendingSignIn) (string, error)
		status int
	}{
		"denied": {func(context.Context, *core.PendingSignIn) (string, error) { return "", core.ErrAccessDenied }, 403},
		"failed": {func(context.Context, *core.PendingSignIn) (string, error) { return "", errors.New("no") }, 500},
		"panics": {func(context.Context, *core.PendingSignIn) (string, error) { panic("boom") }, 500},
		"returns an action of core": {
			func(context.Context, *core.PendingSignIn) (string, error) { return "session", nil }, 500},
		"returns another plugin's action": {
			func(context.Context, *core.PendingSignIn) (string, error) { return "toyfactor", nil }, 500},
		"returns a POST action": {func(context.Context, *core.PendingSignIn) (string, error) { return "mine", nil }, 500},
	} {
		for _, strategy := range strategies {
			t.Run(string(strategy)+" "+name, func(t *testing.T) {
				t.Parallel()
				f := &toyFactor{name: "toyfactor"}
				w := newTown(t, power{}, strategy, func(config *core.Config) {
					config.Store, _ = config.Store.(struct{ least }).least.(*people).records()
					gate := partFunc(func(h *core.PluginHost) error {
						h.AddSignInGate(c.gate)
						h.AddAction(core.Action{Method: "POST", Name: "mine",
							Handle: func(ctx context.Context, call *core.ActionRequest) (*core.Response, error) {
								return call.SignIn(ctx, core.SignIn{User: &core.User{ID: "u1"}})
							}})
						return nil
					})
					config.Plugins = []core.Plugin{gate, f}
				})
				w.users["u1"] = core.User{ID: "u1"}
				b := w.browser()
				if r := b.submit("/auth/mine", nil); r.Status != c.status || w.who(b) != "" || len(w.sessions) != 0 {
					t.Errorf("status %d as %q: %v", r.Status, w.who(b), r.Err)
				}
				if r := b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}}); r.Err == nil || w.who(b) != "" {
					t.Errorf("by a form: status %d as %q: %v", r.Status, w.who(b), r.Err)
				}
			})
		}
	}
}

// TestGateNeedsRecords checks that gates require a store with records.
func TestGateNeedsRecords(t *testing.T) {
	t.Parallel()
	_, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Plugins: []core.Plugin{&toyFactor{name: "toyfactor"}},
		Getenv: func(string) string { return "" }, Store: &tokenStore{},
	})
	if err == nil || !strings.Contains(err.Error(), "needs a Store that implements store.RecordStore") {
		t.Errorf("New returned %v", err)
	}
}

// TestGateKeepsWhatCallbacksSee checks that the jwt callback and the events get the same data with a gate as without
// one, including tokens and a large profile.
func TestGateKeepsWhatCallbacksSee(t *testing.T) {
	t.Parallel()
	type seen struct {
		params core.JWTParams
		event  core.SignInEvent
	}
	run := func(gated bool) (s seen) {
		w := newTown(t, power{}, core.StrategyJWT, func(c *core.Config) {
			if gated {
				c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
				c.Plugins = []core.Plugin{&toyFactor{name: "toyfactor"}}
			}
			c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				if p.Account != nil {
					s.params = p
				}
				return p.Token, nil
			}
			c.Events.SignIn = func(_ context.Context, e core.SignInEvent) error { s.event = e; return nil }
		})
		b := w.browser()
		large := `,"n":12345678901234567890,"groups":["` + strings.Repeat("g", 20_000) + `"]`
		w.through(b, "plain", "s1", "ada@x.example", large)
		if gated {
			b.submit("/auth/toyfactor", url.Values{"code": {"123456"}})
		}
		if w.who(b) == "" {
			t.Fatal("not signed in")
		}
		s.params.Token, s.event.User.ID, s.params.User.ID, s.params.Account.UserID = nil, "", "", ""
		s.event.Account.UserID = ""
		return s
	}
	plain, gated := run(false), run(true)
	if !reflect.DeepEqual(plain, gated) {
		t.Error("the data with a gate differs from the data without one")
	}
	if plain.params.Account.AccessToken == "" || gated.params.Account.AccessToken != plain.params.Account.AccessToken {
		t.Error("the token is another one")
	}
}

// TestVerifyEmail verifies the address of a user who may have sign-in methods of an attacker.
func TestVerifyEmail(t *testing.T) {
	t.Parallel()
	own := core.Account{UserID: "u1", Provider: "plain", ProviderAccountID: "own", VerifiedEmail: victim}
	other := core.Account{UserID: "u1", Provider: "plain", ProviderAccountID: "x", VerifiedEmail: "other@x.example"}
	strange := core.Account{UserID: "u1", Provider: "plain", ProviderAccountID: "strange"}
	for name, c := range map[string]struct {
		accounts []core.Account
		verified time.Time
		left     []string
		in       bool // the existing session continues
	}{
		"no account":            {in: false},
		"a vouched account":     {accounts: []core.Account{own}, left: []string{"own"}, in: true},
		"an attacker's account": {accounts: []core.Account{strange}, in: false},
		"both":                  {accounts: []core.Account{own, strange}, left: []string{"own"}, in: false},
		"verified before":       {accounts: []core.Account{strange}, verified: start, left: []string{"strange"}, in: true},
		"vouched for elsewhere": {accounts: []core.Account{other}},
	} {
		for _, strategy := range strategies {
			t.Run(string(strategy)+" "+name, func(t *testing.T) {
				t.Parallel()
				w := newTown(t, power{}, strategy, func(config *core.Config) {
					config.Store, _ = config.Store.(struct{ least }).least.(*people).records()
					config.Plugins = []core.Plugin{partFunc(func(h *core.PluginHost) error {
						h.VerifiesEmail()
						h.AddAction(core.Action{Method: "POST", Name: "prove",
							Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
								return c.Redirect("/"), c.MarkEmailVerified(ctx, c.Field("id"), victim)
							}})
						return nil
					})}
				})
				w.users["u1"] = core.User{ID: "u1", Email: victim, EmailVerified: c.verified}
				for _, a := range c.accounts {
					w.accounts[accountKey(a.Provider, a.ProviderAccountID)] = a
				}
				b := w.browser()
				w.signedIn(b, b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}}))
				w.app.clock.Advance(time.Minute)
				if r := w.browser().submit("/auth/prove", url.Values{"id": {"u1"}}); r.Err != nil {
					t.Fatal(r.Err)
				}
				if w.users["u1"].EmailVerified.IsZero() {
					t.Error("the address is not verified")
				}
				left := []string{}
				for _, a := range w.accounts {
					left = append(left, a.ProviderAccountID)
				}
				if !slices.Equal(left, append([]string{}, c.left...)) {
					t.Errorf("remaining accounts %v", left)
				}
				if strategy == core.StrategyDatabase && (w.who(b) != "") != c.in {
					t.Errorf("the old session is of %q", w.who(b))
				}
				if r := w.browser().submit("/auth/prove", url.Values{"id": {"u2"}}); !errors.Is(r.Err, core.ErrNotFound) {
					t.Errorf("an unknown user: %v", r.Err)
				}
				w.users["u3"] = core.User{ID: "u3", Email: "moved@x.example"}
				r := w.browser().submit("/auth/prove", url.Values{"id": {"u3"}})
				if !errors.Is(r.Err, core.ErrConflict) || !w.users["u3"].EmailVerified.IsZero() {
					t.Errorf("a user with another address: %v, %v", r.Err, w.users["u3"])
				}
			})
		}
	}
}

// TestGateLeavesSessions checks that a signed-in user who links another account, or signs in again with their own,
// keeps the session that has already passed the gate. The gate decides before the account is linked.
func TestGateLeavesSessions(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			f := &toyFactor{name: "toyfactor"}
			w, _, _ := gatedTown(t, strategy, f)
			b := w.browser()
			w.through(b, "plain", "s1", "ada@x.example", "")
			id := w.signedIn(b, b.submit("/auth/toyfactor", url.Values{"code": {"123456"}}))
			rows := maps.Clone(w.sessions)
			if r := w.through(b, "vouching", "s1", "ada@x.example", ""); r.Redirect != "https://app.test/auth/toyfactor" ||
				len(w.accounts) != 1 || !f.seen[1].Linking || f.seen[1].User.ID != id {
				t.Errorf("linking an account went to %s; accounts %v", r.Redirect, w.accounts)
			}
			f.links = true
			for _, provider := range []string{"vouching", "plain"} {
				r := w.through(b, provider, "s1", "ada@x.example", "")
				if got := w.signedIn(b, r); got != id || strings.Contains(r.Redirect, "toyfactor") {
					t.Errorf("%s: signed in as %q, sent to %s", provider, got, r.Redirect)
				}
			}
			if len(f.seen) != 3 || !maps.Equal(w.sessions, rows) || len(w.accounts) != 2 {
				t.Errorf("the gate was asked %d times; rows %v, before %v", len(f.seen), w.sessions, rows)
			}
		})
	}
}

// TestVerifyEmailReadsTwice checks that a verification removes the accounts that an attacker linked before it, and
// those that a concurrent request links.
func TestVerifyEmailReadsTwice(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{}, core.StrategyDatabase, func(c *core.Config) {
		c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
		c.Plugins = []core.Plugin{partFunc(func(h *core.PluginHost) error {
			h.VerifiesEmail()
			h.AddAction(core.Action{Method: "POST", Name: "prove",
				Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
					return c.Redirect("/"), c.MarkEmailVerified(ctx, "u1", victim)
				}})
			return nil
		})}
	})
	w.users["u1"] = core.User{ID: "u1", Email: victim}
	strange := core.Account{UserID: "u1", Provider: "plain", ProviderAccountID: "strange"}
	w.accounts[accountKey("plain", "strange")] = strange
	looked := 0
	w.at = func(method string) {
		if method != "Accounts" { // w.at is not called within the transaction
			return
		}
		looked++
		if _, there := w.accounts[accountKey("plain", "strange")]; there {
			t.Error("the verification is committed, but the attacker's account is still linked")
		}
		strange.ProviderAccountID = "late"
		w.accounts[accountKey("plain", "late")] = strange
	}
	if r := w.browser().submit("/auth/prove", nil); r.Err != nil {
		t.Fatal(r.Err)
	}
	if looked != 1 || len(w.accounts) != 0 {
		t.Errorf("called %d times; remaining accounts %v", looked, w.accounts)
	}
}

// TestGateCookieBelongsToCore checks that a plugin cannot read the cookie of a pending sign-in, which contains the key
// of its records.
func TestGateCookieBelongsToCore(t *testing.T) {
	t.Parallel()
	f := &toyFactor{name: "toyfactor"}
	w, _, _ := gatedTown(t, core.StrategyJWT, f)
	var looked bool
	a := newApp(t, core.Config{Plugins: []core.Plugin{answers(core.Action{Method: "GET", Name: "reader",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			looked = true
			return c.JSON(ctx, http.StatusOK, c.EncryptedCookie("pending", new(any))), nil
		}})}})
	w.users["u1"] = core.User{ID: "u1"}
	b := w.browser()
	b.submit("/auth/direct", nil)
	other := visit(t, a)
	other.cookies = b.cookies
	if r := other.get("/auth/reader"); !looked || string(r.Body) != "false" {
		t.Errorf("response %s", r.Body)
	}
}

// TestEndOthers ends the sessions of the user's other browsers, and their pending sign-ins.
func TestEndOthers(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			w := newTown(t, power{}, strategy, func(c *core.Config) {
				c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
				c.Session.Revocation.On = onFor(strategy)
				c.Plugins = []core.Plugin{&toyFactor{name: "toyfactor"}, partFunc(func(h *core.PluginHost) error {
					h.TrackAuthentication()
					h.AddAction(core.Action{Method: "POST", Name: "others",
						Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
							n, err := c.EndOtherSessions(ctx)
							return c.JSON(ctx, http.StatusOK, n), err
						}})
					return nil
				})}
			})
			w.users["u1"] = core.User{ID: "u1"}
			code := url.Values{"code": {"123456"}}
			begin := func() *browser {
				b := w.browser()
				b.submit("/auth/callback/credentials", url.Values{"id": {"u1"}})
				return b
			}
			here, there, held := begin(), begin(), begin()
			w.signedIn(here, here.submit("/auth/toyfactor", code))
			w.signedIn(there, there.submit("/auth/toyfactor", code))
			if r := w.browser().submit("/auth/others", nil); r.Err == nil {
				t.Error("EndOthers without a session succeeded")
			}
			if r := here.submit("/auth/others", nil); r.Err != nil || string(r.Body) != "1" {
				t.Errorf("response %s, %v", r.Body, r.Err)
			}
			if w.who(here) != "u1" || w.who(there) != "" {
				t.Errorf("here %q, there %q", w.who(here), w.who(there))
			}
			if r := held.submit("/auth/toyfactor", code); r.Status != http.StatusConflict || w.who(held) != "" {
				t.Errorf("the pending sign-in got status %d", r.Status)
			}
		})
	}
}

// TestNewSessionAsksGates: NewSession asks the gates if the application wants it. The pending sign-in can be completed,
// and there is no session before.
func TestNewSessionAsksGates(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			f := &toyFactor{name: "toyfactor"}
			w, _, _ := gatedTown(t, strategy, f)
			b := w.browser()
			request := &core.Request{Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "https"}
			user := &core.User{ID: "u1"}
			w.users["u1"] = *user
			cookies, err := w.app.NewSession(t.Context(), request, user, core.SessionOptions{AskGates: true})
			var held *core.HeldError
			if !errors.As(err, &held) || held.URL != "https://app.test/auth/toyfactor" || len(w.sessions) != 0 ||
				len(cookies) != 1 || cookies[0].Name != pendingCookie {
				t.Fatalf("cookies %v, %v, rows %v", cookies, err, w.sessions)
			}
			b.cookies[pendingCookie] = cookies[0].Value
			if got := w.signedIn(b, b.submit("/auth/toyfactor", url.Values{"code": {"123456"}})); got != "u1" {
				t.Errorf("signed in as %q", got)
			}
			if cookies, err = w.app.NewSession(t.Context(), request, user); err != nil || len(cookies) == 0 {
				t.Errorf("without the option: %v", err)
			}
		})
	}
}
