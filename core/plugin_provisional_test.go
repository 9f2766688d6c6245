package core_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
)

// trial is a plugin with provisional users.
type trial struct {
	w      *town
	active map[string]bool
	steps  []string // the calls of the plugin
	failed error    // of Upgraded and SignedIn
	late   bool     // Upgrade refuses
	plain  bool     // there is no Upgrade
	audit  []audit.Name
}

// note adds a call to steps.
func (p *trial) note(step string) { p.steps = append(p.steps, step) }

func (p *trial) Attach(h *core.PluginHost) error {
	users := core.ProvisionalUsers{
		Method: "trial", Action: "trial",
		Guard: func(_ context.Context, _ *core.Session, action string) error {
			if action == "allowed" {
				return nil
			}
			return &core.Problem{Status: http.StatusForbidden, Code: "trial", SignIn: true}
		},
		Active: func(_ context.Context, id string) (bool, error) { return p.active[id], p.failed },
		Upgrade: func(ctx context.Context, tx core.Store, id string, user *core.User) (*core.User, error) {
			if p.late || !p.active[id] {
				return nil, core.ErrNotFound
			}
			full, err := tx.User(ctx, id)
			if err != nil {
				return nil, err
			}
			p.active[id], full.Email = false, user.Email
			for token, s := range p.w.sessions {
				if s.UserID == id {
					delete(p.w.sessions, token)
				}
			}
			return tx.UpdateUser(ctx, full)
		},
		Upgraded: func(_ context.Context, id string) error { p.note("upgraded " + id); return p.failed },
		SignedIn: func(_ context.Context, id, existing string) error {
			p.note("signed in " + id + " " + existing)
			return p.failed
		},
	}
	if p.plain {
		users.Upgrade = nil
	}
	h.AddProvisionalUsers(users)
	h.OnEndSessions(func(_ context.Context, id string) error { p.note("ended " + id); return nil })
	h.OnAudit(func(_ context.Context, e audit.Event) {
		if e.Outcome == audit.OK {
			p.audit = append(p.audit, e.Name)
		}
	})
	h.AddAction(core.Action{Method: "POST", Name: "trial",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.SignIn(ctx, core.SignIn{
				User: &core.User{ID: "t"}, Methods: []amr.Method{"trial"},
				Create: func(context.Context) (*core.User, error) {
					p.w.users["t"], p.active["t"] = core.User{ID: "t"}, true
					return &core.User{ID: "t"}, nil
				},
			})
		}})
	return nil
}

// signUp is a plugin whose action creates the user "new", or upgrades.
func signUp(upgrades bool, w func() *town) core.Plugin {
	return partFunc(func(h *core.PluginHost) error {
		h.AddAction(core.Action{Method: "POST", Name: "sign-up",
			Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
				s := core.SignIn{
					User: &core.User{ID: "new", Email: victim},
					Create: func(context.Context) (*core.User, error) {
						w().users["new"] = core.User{ID: "new", Email: victim}
						return &core.User{ID: "new", Email: victim}, nil
					},
				}
				if upgrades {
					s.Upgrade = func(ctx context.Context, u *core.User) (up *core.User, err error) {
						err = h.Transactor.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
							up, err = h.UpgradeUser(ctx, tx, u.ID, &core.User{Email: victim})
							return err
						})
						if errors.Is(err, core.ErrNotFound) {
							return s.Create(ctx)
						}
						return up, err
					}
				}
				return c.SignIn(ctx, s)
			}})
		h.AddAction(core.Action{Method: "GET", Name: "allowed", Require: anyone, Handle: word})
		h.AddAction(core.Action{Method: "GET", Name: "closed", Require: anyone, Handle: word})
		h.AddAction(core.Action{Method: "GET", Name: "program", Programs: true, Handle: word})
		h.AddAction(core.Action{Method: "GET", Name: "open", Handle: word})
		return nil
	})
}

var anyone = []core.Guard{func(context.Context, *core.Session) error { return nil }}

func word(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	return c.JSON(ctx, http.StatusOK, "word"), nil
}

// onTrial runs a test under both strategies, with a browser that has the session of the provisional user "t". The user
// "old" has an account at the provider "plain".
func onTrial(t *testing.T, test func(w *town, p *trial, b *browser), change ...func(*core.Config)) {
	t.Helper()
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			p := &trial{active: map[string]bool{}}
			p.w = newTown(t, power{}, strategy, func(c *core.Config) {
				c.Store, _ = c.Store.(struct{ least }).least.(*people).records()
				c.Plugins = []core.Plugin{p, signUp(true, func() *town { return p.w })}
				c.Pages.NewUser = "/welcome"
				for _, f := range change {
					f(c)
				}
			})
			p.w.users["old"] = core.User{ID: "old", Email: stranger}
			err := p.w.LinkAccount(t.Context(), &core.Account{
				UserID: "old", Type: core.TypeOAuth, Provider: "plain", ProviderAccountID: "old",
			})
			if err != nil {
				t.Fatal(err)
			}
			b := p.w.browser()
			b.header.Set("Accept", "text/html")
			r := b.submit("/auth/trial", nil)
			if p.w.signedIn(b, r) != "t" || strings.Contains(r.Redirect, "/welcome") {
				t.Fatalf("signed in as %q, redirected to %s", p.w.who(b), r.Redirect)
			}
			test(p.w, p, b)
		})
	}
}

// copied returns another browser with the same cookies.
func (b *browser) copied(w *town) *browser {
	other := w.browser()
	other.cookies = maps.Clone(b.cookies)
	return other
}

// TestProvisionalUser: a provisional user has not authenticated, and can sign in.
func TestProvisionalUser(t *testing.T) {
	t.Parallel()
	onTrial(t, func(w *town, p *trial, b *browser) {
		s := b.session()
		if !slices.Equal(s.Methods, []amr.Method{"trial"}) || core.RecentSignIn(time.Hour)(t.Context(), s) == nil {
			w.Errorf("the session is %+v", s)
		}
		if slices.Contains(p.audit, audit.SignUp) || !slices.Contains(p.audit, audit.UserCreated) {
			w.Errorf("events: %q", p.audit)
		}
		page := string(b.get("/auth/signin").Body)
		if strings.Contains(page, "/auth/trial") || strings.Contains(page, "prompt=login") {
			w.Error("the sign-in page offers another provisional user, or shows this one as signed in")
		}
		if !strings.Contains(string(w.browser().get("/auth/signin").Body), `action="https://app.test/auth/trial"`) {
			w.Error("the sign-in page has no button")
		}
		if strings.Contains(string(b.get("/auth/signin").Body), "/auth/trial") {
			w.Error("the cached page has the button")
		}
		if r := b.get("/auth/webauthn-options/passkey"); !strings.Contains(string(r.Body), `"action":"authenticate"`) {
			w.Errorf("the options of a passkey: %s", r.Body)
		}
	})
}

// TestProvisionalUserWithoutUpgrade: a new account or a sign-up creates another user, as if that user had existed.
func TestProvisionalUserWithoutUpgrade(t *testing.T) {
	t.Parallel()
	for name, signIn := range map[string]func(w *town, b *browser) *core.Response{
		"account": func(w *town, b *browser) *core.Response { return w.through(b, "plain", "new", victim, "") },
		"sign-up": func(_ *town, b *browser) *core.Response { return b.submit("/auth/sign-up", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onTrial(t, func(w *town, p *trial, b *browser) {
				r := signIn(w, b)
				user := w.signedIn(b, r)
				if user == "" || user == "t" || !strings.Contains(r.Redirect, "/welcome") {
					w.Errorf("signed in as %q, redirected to %s", user, r.Redirect)
				}
				if want := []string{"signed in t " + user}; !slices.Equal(p.steps, want) {
					w.Errorf("steps %q, want %q", p.steps, want)
				}
				if slices.Contains(p.audit, audit.GuestUpgraded) || !slices.Contains(p.audit, audit.SignUp) {
					w.Errorf("events %q", p.audit)
				}
			}, func(c *core.Config) {
				if p, ok := c.Plugins[0].(*trial); ok {
					p.plain = true
				}
				c.Plugins[1] = partFunc(func(h *core.PluginHost) error {
					h.AddAction(core.Action{Method: "POST", Name: "sign-up",
						Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
							return c.SignIn(ctx, core.SignIn{
								User: &core.User{ID: "new", Email: victim},
								Create: func(ctx context.Context) (*core.User, error) {
									return h.Store.CreateUser(ctx, &core.User{ID: "new", Email: victim})
								},
								Upgrade: func(context.Context, *core.User) (*core.User, error) {
									return nil, errors.New("there is no upgrade")
								},
							})
						}})
					return nil
				})
			})
		})
	}
}

// TestProvisionalUserIsUpgraded: a new account or a sign-up upgrades the user, whose earlier sessions end.
func TestProvisionalUserIsUpgraded(t *testing.T) {
	t.Parallel()
	for name, signIn := range map[string]func(w *town, b *browser) *core.Response{
		"account": func(w *town, b *browser) *core.Response { return w.through(b, "plain", "new", victim, "") },
		"sign-up": func(_ *town, b *browser) *core.Response { return b.submit("/auth/sign-up", nil) },
		"passkey": func(w *town, b *browser) *core.Response {
			return w.passkey(b, "action=register", "register", "key")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onTrial(t, func(w *town, p *trial, b *browser) {
				attacker := b.copied(w)
				r := signIn(w, b)
				if w.signedIn(b, r) != "t" || !strings.Contains(r.Redirect, "/welcome") {
					w.Errorf("signed in as %s, redirected to %s", w.who(b), r.Redirect)
				}
				if want := []string{"ended t", "upgraded t"}; !slices.Equal(p.steps, want) {
					w.Errorf("steps %q, want %q", p.steps, want)
				}
				if got := w.who(attacker); got != "" {
					w.Errorf("a session from before the upgrade is that of %q", got)
				}
				if slices.Contains(b.session().Methods, "trial") || !slices.Contains(p.audit, audit.GuestUpgraded) {
					w.Errorf("the session is by %q; events %q", b.session().Methods, p.audit)
				}
			}, func(c *core.Config) {
				c.Plugins = append(c.Plugins, partFunc(func(h *core.PluginHost) error {
					h.RequireRecentSignInToLink(time.Minute)
					h.AddAction(core.Action{Method: "GET", Name: "hold", Handle: word})
					h.AddSignInGate(func(_ context.Context, p *core.PendingSignIn) (string, error) {
						if p.Linking {
							return "hold", nil
						}
						return "", nil
					})
					return nil
				}))
			})
		})
	}
}

// TestUpgradeThatFails: if Upgraded fails, the sign-in fails.
func TestUpgradeThatFails(t *testing.T) {
	t.Parallel()
	onTrial(t, func(w *town, p *trial, b *browser) {
		p.failed = errors.New("down")
		if r := w.through(b, "plain", "new", victim, ""); r.Err == nil || w.who(b) != "" {
			w.Errorf("signed in as %q: %v", w.who(b), r.Err)
		}
	})
}

// TestUpgradeThatIsLate: a session from before an upgrade links nothing to the user. The sign-in creates another one.
func TestUpgradeThatIsLate(t *testing.T) {
	t.Parallel()
	for name, signIn := range map[string]func(w *town, b *browser) *core.Response{
		"account": func(w *town, b *browser) *core.Response { return w.through(b, "plain", "new", victim, "") },
		"sign-up": func(_ *town, b *browser) *core.Response { return b.submit("/auth/sign-up", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onTrial(t, func(w *town, p *trial, b *browser) {
				p.late = true
				if id := w.signedIn(b, signIn(w, b)); id == "t" || slices.Contains(p.steps, "upgraded t") {
					w.Errorf("signed in as %s, steps %q", id, p.steps)
				}
				if accounts, err := w.Accounts(w.Context(), "t"); err != nil || len(accounts) > 0 {
					w.Errorf("%d accounts are linked to the user, %v", len(accounts), err)
				}
			})
		})
	}
}

// TestProvisionalUserSignsIn: the plugin learns that a provisional user has signed in as an existing user, before the
// browser gets the session. The provisional user's session is valid until then.
func TestProvisionalUserSignsIn(t *testing.T) {
	t.Parallel()
	for name, signIn := range map[string]func(w *town, b *browser) error{
		"account": func(w *town, b *browser) error { return w.through(b, "plain", "old", stranger, "").Err },
		"application": func(w *town, b *browser) error {
			cookies, err := w.app.NewSession(w.Context(), b.request("GET", "/", "", ""), &core.User{ID: "old"})
			for _, c := range cookies {
				b.keep(c)
			}
			return err
		},
		"form": func(_ *town, b *browser) error {
			return b.submit("/auth/callback/credentials", url.Values{"id": {"old"}}).Err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onTrial(t, func(w *town, p *trial, b *browser) {
				before := b.copied(w)
				p.failed = errors.New("down")
				if name == "application" {
					p.failed = nil
				}
				if p.failed != nil {
					if err := signIn(w, b); err == nil || w.who(b) != "t" || w.who(before) != "t" {
						w.Errorf("after an error signed in as %q: %v", w.who(b), err)
					}
					for _, s := range w.sessions {
						if s.UserID == "old" {
							w.Error("the session that no browser has was not deleted")
						}
					}
				}
				p.failed, p.steps = nil, nil
				if err := signIn(w, b); err != nil || w.who(b) != "old" {
					w.Fatalf("signed in as %q: %v", w.who(b), err)
				}
				if !slices.Equal(p.steps, []string{"signed in t old"}) {
					w.Errorf("steps %q", p.steps)
				}
			})
		})
	}
}

// TestSessionOfAProvisionalUser: a session that the application creates for a provisional user is marked too.
func TestSessionOfAProvisionalUser(t *testing.T) {
	t.Parallel()
	onTrial(t, func(w *town, p *trial, _ *browser) {
		for id, want := range map[string]bool{"t": true, "old": false} {
			b := w.browser()
			cookies, err := w.app.NewSession(w.Context(), b.request("GET", "/", "", ""), &core.User{ID: id})
			if err != nil {
				w.Fatal(err)
			}
			for _, c := range cookies {
				b.keep(c)
			}
			if got := slices.Contains(b.session().Methods, "trial"); got != want {
				w.Errorf("the session of %s is that of a provisional user: %t", id, got)
			}
		}
		p.failed = errors.New("down")
		b := w.browser()
		if _, err := w.app.NewSession(w.Context(), b.request("GET", "/", "", ""), &core.User{ID: "t"}); err == nil {
			w.Error("a session although Active failed")
		}
	})
}

// TestPlantedProvisionalSession: a session that was planted after the start of a sign-in is neither upgraded nor
// reported, and the sign-in succeeds.
func TestPlantedProvisionalSession(t *testing.T) {
	t.Parallel()
	for _, person := range []string{"new", "old"} {
		t.Run(person, func(t *testing.T) {
			t.Parallel()
			onTrial(t, func(w *town, p *trial, attacker *browser) {
				b := w.browser()
				start := b.submit("/auth/signin/plain", nil)
				target, err := url.Parse(start.Redirect)
				if err != nil {
					w.Fatal(err)
				}
				b.cookies[sessionCookie] = attacker.cookies[sessionCookie]
				w.person = `{"sub":"` + person + `","email":"` + person + `@corp.example"}`
				answer := url.Values{"code": {"c"}}
				if state := target.Query().Get("state"); state != "" {
					answer.Set("state", state)
				}
				r := b.get("/auth/callback/plain?" + answer.Encode())
				if id := w.signedIn(b, r); id == "t" || len(p.steps) > 0 {
					w.Errorf("signed in as %s, steps %q", id, p.steps)
				}
			})
		})
	}
}

// TestProvisionalGuard: the guard protects the actions of other plugins that require a session or are for programs. It
// sends browsers to the sign-in page.
func TestProvisionalGuard(t *testing.T) {
	t.Parallel()
	onTrial(t, func(w *town, _ *trial, b *browser) {
		w.app.log.Reset()
		for action, allowed := range map[string]bool{"allowed": true, "open": true, "closed": false, "program": false} {
			b.header.Set("Accept", "text/html")
			if r := b.get("/auth/" + action); (r.Status == http.StatusOK) != allowed ||
				!allowed && !strings.Contains(r.Redirect, "/auth/signin?") {
				w.Errorf("%s: %d %s", action, r.Status, r.Redirect)
			}
			b.header.Set("Accept", "application/json")
			if r := b.get("/auth/" + action); (r.Status == http.StatusOK) != allowed ||
				!allowed && (r.Status != http.StatusForbidden || !strings.Contains(string(r.Body), `"code":"trial"`)) {
				w.Errorf("%s, JSON: %d %s", action, r.Status, r.Body)
			}
		}
		if log := w.app.log.String(); strings.Contains(log, "AccessDenied") {
			w.Errorf("logged: %s", log)
		}
		guard := func(context.Context, *core.Session) error {
			return &core.Problem{Status: http.StatusForbidden, Code: "trial", SignIn: true}
		}
		b.header.Set("Accept", "text/html")
		_, page := w.app.Visit(w.Context(), b.request("GET", "/orders", "", "")).Require(guard)
		if page == nil || page.Status != http.StatusSeeOther || !strings.Contains(page.Redirect, "/auth/signin?") {
			w.Errorf("a page: %+v", page)
		}
		b.header.Set("Accept", "application/json")
		_, api := w.app.Visit(w.Context(), b.request("GET", "/orders", "", "")).Require(guard)
		if api == nil || api.Status != http.StatusForbidden || !strings.Contains(string(api.Body), `"code":"trial"`) {
			w.Errorf("an API: %+v", api)
		}
	})
}

// TestProvisionalConfig lists the configurations in which provisional users cannot work.
func TestProvisionalConfig(t *testing.T) {
	t.Parallel()
	full, records := newPeople().records()
	simple := struct {
		least
		store.RecordStore
	}{newPeople(), records}
	merge := func(context.Context, *core.User, *core.User) error { return nil }
	for want, config := range map[string]core.Config{
		"another plugin has provisional users":   {Store: full, Plugins: []core.Plugin{&trial{}, &trial{}}},
		"Store that implements store.Transactor": {Plugins: []core.Plugin{&trial{}}, Store: simple},
		"Session.Revocation.On is False": {
			Store: full, Plugins: []core.Plugin{&trial{}},
			Session: core.SessionConfig{Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.False}},
		},
		"Callbacks.Merge would never run": {Store: full, Callbacks: core.Callbacks{Merge: merge}},
	} {
		config.Secrets, config.URL = []core.Secret{testSecret}, "https://app.test"
		config.Getenv = func(string) string { return "" }
		if _, err := core.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
