package core_test

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/store"
)

// revocable turns on Session.Revocation for StrategyJWT. StrategyDatabase does not need it.
func revocable(c *core.Config) {
	c.Session.Revocation.On = onFor(c.Session.Strategy)
}

func (a *app) list(t *testing.T, userID string) []core.SessionInfo {
	t.Helper()
	list, err := a.Sessions(t.Context(), userID)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestSessionsOfAUser(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			a, _ := factual(t, strategy, revocable)
			phone, laptop := visit(t, a), visit(t, a)
			phone.header.Set("User-Agent", "Phone\n\x1b[31m"+strings.Repeat("x", 400))
			phone.peer = "[2001:db8::1]:443"
			phone.signIn("1")
			a.clock.Advance(time.Hour)
			laptop.header.Set("User-Agent", "Laptop/1")
			laptop.signIn("1")
			signedIn(t, a, "2")

			list := a.list(t, "1")
			if len(list) != 2 || list[0].ID != laptop.session().ID || list[1].ID != phone.session().ID {
				t.Fatalf("%+v", list)
			}
			old := list[1]
			if !old.CreatedAt.Equal(start) || !old.LastSeen.Equal(start) || !old.Expires.Equal(start.AddDate(0, 0, 30)) ||
				old.Network != netip.MustParsePrefix("2001:db8::/64") || old.Provider != "credentials" ||
				!slices.Equal(old.AuthMethods, []amr.Method{amr.Password}) || old.Current {
				t.Errorf("%+v", old)
			}
			if len(old.UserAgent) > 256 || !strings.HasPrefix(old.UserAgent, `Phone\n\x1b[31mxxx`) ||
				list[0].UserAgent != "Laptop/1" {
				t.Errorf("agents %q, %q", old.UserAgent, list[0].UserAgent)
			}

			v := a.Visit(t.Context(), phone.request("GET", "/account", "", ""))
			list, err := a.Sessions(v, "1")
			if err != nil || list[0].Current || !list[1].Current {
				t.Errorf("the current session in %+v, %v", list, err)
			}
			if list, err = a.Sessions(v, "2"); err != nil || len(list) != 1 || list[0].Current {
				t.Errorf("seen by another user: %+v, %v", list, err)
			}
			a.clock.Advance(30*24*time.Hour - 30*time.Minute)
			if list := a.list(t, "1"); len(list) != 1 || list[0].UserAgent != "Laptop/1" {
				t.Errorf("after the first session expired: %+v", list)
			}
			if list := a.list(t, "nobody"); len(list) != 0 {
				t.Errorf("sessions of an unknown user: %+v", list)
			}
		})
	}
}

func TestEndSessions(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for name, row := range map[string]struct {
			options func(first, second, others string) core.EndOptions
			ended   int
			err     error
			left    [3]bool // the first and the second session of the user, and a session of another user
		}{
			"all": {func(_, _, _ string) core.EndOptions { return core.EndOptions{} },
				2, nil, [3]bool{false, false, true}},
			"one": {func(first, _, _ string) core.EndOptions { return core.EndOptions{One: first} },
				1, nil, [3]bool{false, true, true}},
			"all but one": {func(_, second, _ string) core.EndOptions { return core.EndOptions{Except: second} },
				1, nil, [3]bool{false, true, true}},
			"another user's session": {func(_, _, others string) core.EndOptions { return core.EndOptions{One: others} },
				0, core.ErrNotFound, [3]bool{true, true, true}},
			"all but another's session": {func(_, _, others string) core.EndOptions { return core.EndOptions{Except: others} },
				0, core.ErrNotFound, [3]bool{true, true, true}},
			"an unknown ID": {func(_, _, _ string) core.EndOptions { return core.EndOptions{One: "x"} },
				0, core.ErrNotFound, [3]bool{true, true, true}},
			"both": {func(first, second, _ string) core.EndOptions { return core.EndOptions{One: first, Except: second} },
				0, core.ErrInvalidConfig, [3]bool{true, true, true}},
		} {
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				t.Parallel()
				var told trail
				var asked []string
				a, h := factual(t, strategy, revocable, func(c *core.Config) {
					c.Audit = told.note
					c.Plugins = append(c.Plugins, partFunc(func(h *core.PluginHost) error {
						h.OnEndSessions(func(_ context.Context, userID string) error { asked = append(asked, userID); return nil })
						return nil
					}))
				})
				all := []*browser{signedIn(t, a, "1"), signedIn(t, a, "1"), signedIn(t, a, "2")}
				told.take()
				var ids [3]string
				for i, b := range all {
					ids[i] = b.session().ID
				}
				n, err := a.EndSessions(t.Context(), "1", row.options(ids[0], ids[1], ids[2]))
				if n != row.ended || !errors.Is(err, row.err) {
					t.Errorf("%d ended, %v", n, err)
				}
				if events := told.take(); row.err != nil && len(events) > 0 || row.err == nil && (len(events) != 1 ||
					(events[0] == "session.ended/ok/asked") != (name == "one") ||
					(events[0] == "sessions.ended/ok/asked") == (name == "one")) {
					t.Errorf("audit events %q", events)
				}
				if told := len(asked) == 1; told != (row.err == nil && name != "one") {
					t.Errorf("the plugin was told %q", asked)
				}
				for i, b := range all {
					if left := b.session() != nil; left != row.left[i] {
						t.Errorf("session %d exists: %t", i, left)
					}
				}
				if want := 3 - row.ended; len(h.of("session")) != want {
					t.Errorf("%d session records are left, want %d", len(h.of("session")), want)
				}
				if again := signedIn(t, a, "1"); again.session() == nil { // in the same second
					t.Error("a new session has ended as well")
				}
			})
		}
	}
}

// TestOnEndSessionsFails checks that EndSessions reports the error of a plugin that could not end its credentials.
func TestOnEndSessionsFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database is down")
	a, _ := factual(t, core.StrategyDatabase, revocable, func(c *core.Config) {
		c.Plugins = append(c.Plugins, partFunc(func(h *core.PluginHost) error {
			h.OnEndSessions(func(context.Context, string) error { return broken })
			return nil
		}))
	})
	if _, err := a.EndSessions(t.Context(), "1", core.EndOptions{}); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

// TestEndSessionsNamesWhatIsMissing calls EndSessions with configurations that do not support it.
func TestEndSessionsNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		config core.Config
		kind   core.ErrorType
		says   string
	}{
		"jwt": {core.Config{Session: core.SessionConfig{Strategy: core.StrategyJWT}},
			core.ErrInvalidConfig, "Session.Revocation"},
		"a store without SessionLister": {core.Config{
			Store: newPeople().as(power{}), Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		}, core.ErrMissingStoreMethods, "SessionLister"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, row.config)
			_, err := a.EndSessions(t.Context(), "1", core.EndOptions{})
			if !errors.Is(err, row.kind) || !strings.Contains(err.Error(), "EndSessions") ||
				!strings.Contains(err.Error(), row.says) {
				t.Error(err)
			}
			if _, err = a.Sessions(t.Context(), "1"); !errors.Is(err, row.kind) {
				t.Error(err)
			}
		})
	}
}

// TestSessionsOfAuthJS lists and ends sessions that Auth.js created, and sessions without a record.
func TestSessionsOfAuthJS(t *testing.T) {
	t.Parallel()
	a, h := factual(t, core.StrategyDatabase)
	b := signedIn(t, a, "1")
	h.people.sessions["of-authjs"] = store.Session{Token: "of-authjs", UserID: "1", Expires: start.AddDate(0, 0, 9)}
	clear(h.records)
	list := a.list(t, "1")
	if len(list) != 2 || list[0].ID != b.session().ID || !list[0].CreatedAt.Equal(start) || len(list[0].AuthMethods) != 1 {
		t.Fatalf("%+v", list)
	}
	if other := list[1]; other.ID == "" || !other.Expires.Equal(start.AddDate(0, 0, 9)) || !other.CreatedAt.IsZero() {
		t.Errorf("%+v", other)
	}
	if n, err := a.EndSessions(t.Context(), "1", core.EndOptions{One: list[1].ID}); n != 1 || err != nil {
		t.Error(n, err)
	}
	if b.session() == nil || len(h.people.sessions) != 1 {
		t.Error("the wrong session has ended")
	}
}

// TestRecordsOfSessionsGoWithThem checks that the record is deleted with the session, however the session ends.
func TestRecordsOfSessionsGoWithThem(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for name, end := range map[string]func(a *app, b *browser){
			"signed out":                func(_ *app, b *browser) { b.submit("/auth/signout", nil) },
			"signed in as another user": func(_ *app, b *browser) { b.signIn("2") },
		} {
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				t.Parallel()
				a, h := factual(t, strategy, revocable)
				b := signedIn(t, a, "1")
				id := b.session().ID
				end(a, b)
				if _, there := h.of("session")[id]; there {
					t.Error("the record is still there")
				}
				if list := a.list(t, "1"); len(list) != 0 {
					t.Errorf("%+v", list)
				}
			})
		}
	}
	t.Run("database, expired", func(t *testing.T) {
		t.Parallel()
		a, h := factual(t, core.StrategyDatabase)
		b := signedIn(t, a, "1")
		a.clock.Advance(31 * 24 * time.Hour)
		if b.session() != nil || len(h.of("session")) != 0 {
			t.Error("the record is still there")
		}
	})
	t.Run("database, MaxPerUser", func(t *testing.T) {
		t.Parallel()
		a, h := factual(t, core.StrategyDatabase, func(c *core.Config) { c.Session.MaxPerUser = 2 })
		for range 4 {
			signedIn(t, a, "1")
			a.clock.Advance(time.Minute)
		}
		if len(h.people.sessions) != 2 || len(h.of("session")) != 2 || len(a.list(t, "1")) != 2 {
			t.Errorf("%d sessions, %d records", len(h.people.sessions), len(h.of("session")))
		}
	})
}

// TestSessionWithoutItsRecord uses a store whose records fail, block or are missing.
func TestSessionWithoutItsRecord(t *testing.T) {
	t.Parallel()
	a, h := factual(t, core.StrategyDatabase)
	h.fail(errors.New("no room"))
	b := signedIn(t, a, "1")
	if b.session() == nil || !strings.Contains(a.log.String(), "create a session record") {
		t.Errorf("log: %s", a.log)
	}
	if b.submit("/auth/signout", nil); b.session() != nil {
		t.Error("still signed in")
	}

	a, h = factual(t, core.StrategyJWT)
	b = signedIn(t, a, "unknown to the store")
	if b.session() == nil || len(h.of("session")) != 0 || strings.Contains(a.log.String(), "note a session") {
		t.Errorf("log: %s", a.log)
	}
}

// TestSeen counts the writes of the last use: one per hour and process, in the background.
func TestSeen(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, h := factual(t, strategy, revocable, func(c *core.Config) { c.Now = time.Now })
				second := newApp(t, core.Config{
					Store: h, Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{asking{}}, Now: time.Now,
				}) // another process
				b := signedIn(t, a, "1")
				begun := time.Now()
				visits := func(n int) {
					for range n {
						for _, b.auth = range []handler{a, second} {
							if b.session() == nil {
								t.Fatal("signed out")
							}
							synctest.Wait()
						}
					}
				}
				visits(20)
				if h.called("UpdateRecord") != 0 {
					t.Errorf("%d writes within the hour of the sign-in", h.called("UpdateRecord"))
				}
				elapse(90 * time.Minute)
				visits(20)
				if h.called("UpdateRecord") != 1 {
					t.Errorf("calls: %v", h.calls)
				}
				list := a.list(t, "1")
				if !list[0].CreatedAt.Equal(begun.Truncate(time.Second)) ||
					!list[0].LastSeen.Equal(time.Now().Truncate(time.Second)) {
					t.Errorf("%+v", list)
				}
				clear(h.records)
				elapse(2 * time.Hour)
				if visits(3); len(h.of("session")) != 0 {
					t.Error("a deleted record was created again")
				}
			})
		})
	}
}

// onFor turns on Session.Revocation for StrategyJWT, the only strategy that supports it.
func onFor(strategy core.Strategy) core.OptionalBool {
	if strategy == core.StrategyJWT {
		return core.True
	}
	return core.Default
}

// TestSessionEndsDuringCallback ends the user's session during a request that links an account. The account must not be
// linked to that user any more. A second cookie of the same name, which any sibling subdomain can plant, makes the
// request look up the session early.
func TestSessionEndsDuringCallback(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for name, extra := range map[string]string{
			"one cookie":             "",
			"a planted one in front": sessionCookie + "=junk; ",
		} {
			for _, ends := range []bool{false, true} {
				when := map[bool]string{true: "in between", false: "later"}[ends]
				t.Run(string(strategy)+", "+name+", ends "+when, func(t *testing.T) {
					var w *town
					ended, armed := false, false
					w = newTown(t, power{false, true, true, true}, strategy, func(c *core.Config) {
						c.JWT.Revoked = func(context.Context, *core.Token) (bool, error) { return ended, nil }
						c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) {
							if armed && ends {
								ended = true
								clear(w.sessions)
							}
							return core.Allow(), nil
						}
					})
					b := visit(t, w.app)
					if r := w.through(b, "plain", "first", victim, ""); r.Err != nil {
						t.Fatal(r.Err)
					}
					first := w.owner("plain", "first")
					start := b.submit("/auth/signin/vouching", nil)
					if start.Err != nil {
						t.Fatal(start.Err)
					}
					target, err := url.Parse(start.Redirect)
					if err != nil {
						t.Fatal(err)
					}
					answer := url.Values{"code": {"c"}}
					if state := target.Query().Get("state"); state != "" {
						answer.Set("state", state)
					}
					w.person = `{"sub":"second","name":"Somebody","email":"` + stranger + `"}`
					armed = true
					r := b.request("GET", "/auth/callback/vouching?"+answer.Encode(), "", "")
					r.Header.Set("Cookie", extra+r.Header.Get("Cookie"))
					if response := w.app.Handle(t.Context(), r); response.Err != nil {
						t.Fatal(response.Err)
					}
					if linked := w.owner("vouching", "second") == first; linked == ends {
						t.Errorf("linked to the session's user: %t", linked)
					}
				})
			}
		}
	}
}
