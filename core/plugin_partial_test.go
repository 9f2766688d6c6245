package core_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

// partApp returns an Auth with one plugin.
func partApp(t *testing.T, s core.Strategy, attach func(h *core.PluginHost), change ...func(*core.Config)) *app {
	t.Helper()
	c := core.Config{
		Store: newHouse(), Session: core.SessionConfig{Strategy: s}, Providers: []core.Provider{byName()},
		InsecureNoLimits: true,
		Plugins:          []core.Plugin{partFunc(func(h *core.PluginHost) error { attach(h); return nil })},
	}
	for _, f := range change {
		f(&c)
	}
	return newApp(t, c)
}

// toy returns an action that calls do.
func toy(method string, do func(ctx context.Context, c *core.ActionRequest) error) core.Action {
	return core.Action{Method: method, Name: "toy",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.JSON(ctx, http.StatusOK, nil), do(ctx, c)
		}}
}

// escaped returns the panic of f, or nil.
func escaped(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// announcer returns a function for OnAnnounce that logs announcements.
func announcer(log *[]string, cancel func(unknown bool)) func(
	context.Context, store.RecordStore, audit.Event) (context.Context, func(bool), error) {
	return func(ctx context.Context, _ store.RecordStore, e audit.Event) (context.Context, func(bool), error) {
		*log = append(*log, "announce "+string(e.Name))
		return ctx, cancel, nil
	}
}

// TestMatchesPanics: the Matches function of a credential panics for a short token. A client with such a token has no
// session.
func TestMatchesPanics(t *testing.T) {
	a := partApp(t, core.StrategyJWT, func(h *core.PluginHost) {
		h.AddCredential(core.Credential{
			Matches: func(token string) bool { return token[:4] == "toy_" },
			Verify:  func(context.Context, string, netip.Prefix) (*core.Principal, error) { return nil, nil },
		})
	})
	b := visit(t, a)
	b.header.Set("Authorization", "Bearer abc")
	if p := escaped(func() { b.get("/auth/session") }); p != nil {
		t.Errorf("Handle: %v", p)
	}
	if p := escaped(func() { _, _ = a.Visit(t.Context(), b.request("GET", "/", "", "")).Principal() }); p != nil {
		t.Errorf("Visit: %v", p)
	}
}

// TestCancelOfAnnouncement: the cancel function of an announcement is nil, or panics.
func TestCancelOfAnnouncement(t *testing.T) {
	for name, cancel := range map[string]func(bool){"nil": nil, "panics": func(bool) { panic("a bug") }} {
		var log []string
		a := partApp(t, core.StrategyJWT, func(h *core.PluginHost) {
			h.OnAnnounce(announcer(&log, cancel))
			h.AddAction(toy("POST", func(ctx context.Context, c *core.ActionRequest) error {
				if err := c.Announce(ctx, audit.Event{Name: audit.UserDeleted, UserID: "1"}); err != nil {
					return err
				}
				return &core.Problem{Status: http.StatusConflict, Code: "busy"}
			}))
		})
		if p := escaped(func() { visit(t, a).submit("/auth/toy", nil) }); p != nil {
			t.Errorf("%s: %v", name, p)
		}
	}
}

// brokenCreate is a store that cannot create users.
type brokenCreate struct{ house }

func (brokenCreate) CreateUser(context.Context, *core.User) (*core.User, error) {
	return nil, errors.New("full")
}

// TestFailedAppSignInIsCanceled: the announced change of a SignInApp that fails is canceled.
func TestFailedAppSignInIsCanceled(t *testing.T) {
	var log []string
	op := &smallOP{}
	a := openOP(t, op, core.Config{Store: brokenCreate{newHouse()}, Plugins: []core.Plugin{
		partFunc(func(h *core.PluginHost) error {
			h.AcceptIDTokens("op")
			h.OnAnnounce(announcer(&log, func(bool) { log = append(log, "cancel") }))
			h.AddAction(core.Action{Method: "POST", Name: "native", NoCookies: true,
				Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
					s, err := c.VerifyIDToken(ctx, "op", c.Field("token"), "n-1", []string{"ios"})
					if err == nil {
						_, err = c.SignInApp(ctx, s)
					}
					return nil, err
				}})
			return nil
		})}})
	now := op.clock.Now().Unix()
	visit(t, a).post("/auth/native", url.Values{"token": {jws(`{"alg":"EdDSA"}`, map[string]any{
		"iss": "https://op.example/common", "aud": "ios", "sub": "u1", "iat": now, "exp": now + 60, "nonce": "n-1",
		"at_hash": "x", "name": "Ann",
	})}})
	if got := strings.Join(log, ", "); got != "announce user.created, cancel" {
		t.Error(got)
	}
}

// brokenUpdate is a store that cannot change users.
type brokenUpdate struct{ house }

func (brokenUpdate) UpdateUser(context.Context, *core.User) (*core.User, error) {
	return nil, errors.New("full")
}

// TestFailedVerificationIsCanceled: so is that of PluginHost.MarkEmailVerified.
func TestFailedVerificationIsCanceled(t *testing.T) {
	var log []string
	var host *core.PluginHost
	rows := newHouse()
	rows.people.users["3"] = core.User{ID: "3", Email: "3@example.com"}
	partApp(t, core.StrategyDatabase, func(h *core.PluginHost) {
		host = h
		h.VerifiesEmail()
		h.OnAnnounce(announcer(&log, func(bool) { log = append(log, "cancel") }))
	}, func(c *core.Config) { c.Store = brokenUpdate{rows} })
	err := host.MarkEmailVerified(t.Context(), "3", "3@example.com")
	if got := strings.Join(log, ", "); err == nil || got != "announce email.proved, cancel" {
		t.Error(err, got)
	}
}

// TestRecentSignInToLinkIsPositive: an unset option of a plugin does not remove the requirement of another one.
func TestRecentSignInToLinkIsPositive(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Minute} {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{testSecret}, URL: "https://app.test", Getenv: func(string) string { return "" },
			Providers: []core.Provider{byName()},
			Plugins: []core.Plugin{
				partFunc(func(h *core.PluginHost) error { h.RequireRecentSignInToLink(time.Minute); return nil }),
				partFunc(func(h *core.PluginHost) error { h.RequireRecentSignInToLink(d); return nil }),
			},
		})
		if err == nil {
			t.Errorf("%s is accepted", d)
		}
	}
}

// TestMethodsWithoutCookies: methods that need cookies return an error before they change anything.
func TestMethodsWithoutCookies(t *testing.T) {
	for name, do := range map[string]func(context.Context, *core.ActionRequest, *core.PluginHost) error{
		"SignIn": func(ctx context.Context, c *core.ActionRequest, h *core.PluginHost) error {
			u := &core.User{ID: "new", Email: "new@example.com"}
			_, err := c.SignIn(ctx, core.SignIn{User: u, Create: func(ctx context.Context) (*core.User, error) {
				return h.Store.CreateUser(ctx, u)
			}})
			return err
		},
		"SignOut": func(ctx context.Context, c *core.ActionRequest, _ *core.PluginHost) error { return c.SignOut(ctx) },
		"PasskeyOptions": func(ctx context.Context, c *core.ActionRequest, _ *core.PluginHost) error {
			_, err := c.PasskeyOptions(ctx, "1")
			return err
		},
		"NewPasskeyOptions": func(ctx context.Context, c *core.ActionRequest, _ *core.PluginHost) error {
			_, err := c.NewPasskeyOptions(ctx, core.PasskeyRegistration{Purpose: "x", Handle: make([]byte, 16)})
			return err
		},
	} {
		rows := newHouse()
		a := partApp(t, core.StrategyDatabase, func(h *core.PluginHost) {
			action := toy("POST", func(ctx context.Context, c *core.ActionRequest) error { return do(ctx, c, h) })
			action.NoCookies = true
			h.AddAction(action)
		}, func(c *core.Config) {
			c.Store, c.EnableWebAuthn = rows, true
			c.Providers = append(c.Providers, &core.WebAuthnProvider{ID: "passkey", Verifier: anyPasskey{}})
		})
		r := visit(t, a).post("/auth/toy", nil)
		if r.Err == nil || !strings.Contains(r.Err.Error(), "has NoCookies") || len(rows.people.users) != 2 {
			t.Errorf("%s: %d users, %.150v", name, len(rows.people.users), r.Err)
		}
	}
}

// TestSignOutWithoutSession: SignOut returns no error if there is no session, or if it has expired.
func TestSignOutWithoutSession(t *testing.T) {
	for _, s := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		a := partApp(t, s, func(h *core.PluginHost) {
			h.AddAction(toy("POST", func(ctx context.Context, c *core.ActionRequest) error { return c.SignOut(ctx) }))
		})
		if r := visit(t, a).submit("/auth/toy", nil); r.Err != nil {
			t.Errorf("%s, no session: %v", s, r.Err)
		}
		b := signedIn(t, a, "1")
		a.clock.Advance(60 * 24 * time.Hour)
		if r := b.submit("/auth/toy", nil); r.Err != nil || b.cookies[sessionCookie] != "" {
			t.Errorf("%s, expired: %v", s, r.Err)
		}
	}
}

// TestRenewWithoutFacts: RenewSession returns an error if sessions do not record methods.
func TestRenewWithoutFacts(t *testing.T) {
	for _, s := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		a := partApp(t, s, func(h *core.PluginHost) {
			h.AddAction(toy("POST", func(ctx context.Context, c *core.ActionRequest) error {
				return c.RenewSession(ctx, amr.OTP)
			}))
		})
		b := signedIn(t, a, "1")
		r := b.submit("/auth/toy", nil)
		if r.Err == nil && len(b.session().Methods) == 0 {
			t.Errorf("%s: no error, and the session has no methods", s)
		}
	}
}

// TestGuardWithoutFacts: if no sign-in can satisfy a guard, the log says why.
func TestGuardWithoutFacts(t *testing.T) {
	a := partApp(t, core.StrategyJWT, func(h *core.PluginHost) {
		action := toy("GET", func(context.Context, *core.ActionRequest) error { return nil })
		action.Require = []core.Guard{core.RecentSignIn(time.Hour)}
		h.AddAction(action)
	})
	b := signedIn(t, a, "1")
	b.header.Set("Accept", "text/html")
	b.get("/auth/toy")
	a.Visit(t.Context(), b.request("GET", "/page", "", "")).Require(core.RecentSignIn(time.Hour))
	if strings.Count(a.log.String(), "TrackAuthentication") != 2 {
		t.Errorf("the log is %q", a.log)
	}
}

// TestMissingFunctions: the error of New names a function that is missing.
func TestMissingFunctions(t *testing.T) {
	for name, attach := range map[string]func(h *core.PluginHost){
		"AddTask":            func(h *core.PluginHost) { h.AddTask(nil) },
		"OnEndSessions":      func(h *core.PluginHost) { h.OnEndSessions(nil) },
		"OnAudit":            func(h *core.PluginHost) { h.OnAudit(nil) },
		"OnAnnounce":         func(h *core.PluginHost) { h.OnAnnounce(nil) },
		"AddUserCheck":       func(h *core.PluginHost) { h.AddUserCheck(nil) },
		"UserData":           func(h *core.PluginHost) { h.AddUserData(core.UserData{Name: "x"}) },
		"AddNoticeReversal":  func(h *core.PluginHost) { h.AddNoticeReversal(nil) },
		"AllowImpersonation": func(h *core.PluginHost) { h.AllowImpersonation("toy", nil) },
		"ProvisionalUsers":   func(h *core.PluginHost) { h.AddProvisionalUsers(core.ProvisionalUsers{Method: amr.Guest}) },
	} {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{testSecret}, URL: "https://app.test", Getenv: func(string) string { return "" },
			Store: newHouse(), Providers: []core.Provider{byName()},
			Plugins: []core.Plugin{partFunc(func(h *core.PluginHost) error { attach(h); return nil })},
		})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDigestWithoutSecret: the error about a missing secret does not contain a panic of a plugin.
func TestDigestWithoutSecret(t *testing.T) {
	_, err := core.New(core.Config{URL: "https://app.test", Getenv: func(string) string { return "" },
		Plugins: []core.Plugin{partFunc(func(h *core.PluginHost) error { h.Digest("purpose", "text"); return nil })}})
	if err == nil || strings.Contains(err.Error(), "panic") {
		t.Error(err)
	}
}

// TestStatusOfAction: an invalid status of an action becomes an error, because a router would panic.
func TestStatusOfAction(t *testing.T) {
	for status, want := range map[int]int{0: 200, 204: 204, 599: 599, -1: 500, 42: 500, 199: 500, 600: 500, 1000: 500} {
		a := partApp(t, core.StrategyJWT, func(h *core.PluginHost) {
			h.AddAction(core.Action{Method: "POST", Name: "toy",
				Handle: func(context.Context, *core.ActionRequest) (*core.Response, error) {
					return &core.Response{Status: status}, nil
				}})
		})
		b := visit(t, a)
		b.header.Set("Accept", "application/json")
		r := b.send("POST", "/auth/toy", "application/x-www-form-urlencoded", "csrfToken="+b.csrf())
		if got := cmp.Or(r.Status, 200); got != want {
			t.Errorf("%d: answered %d", status, got)
		}
	}
}
