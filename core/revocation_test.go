package core_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// process returns an Auth under StrategyJWT with Session.Revocation, its own random source and its own clock.
func process(t testing.TB, s core.Store, ahead time.Duration, change ...func(*core.Config)) *core.Auth {
	t.Helper()
	c := core.Config{
		Store: s, Providers: []core.Provider{byName()}, InsecureNoLimits: true, URL: "https://app.test",
		Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" }, Rand: rand.Reader,
		Now: func() time.Time { return time.Now().Add(ahead) }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.True}},
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

// at makes the browser use another process.
func (b *browser) at(a handler) *browser { b.auth = a; return b }

// TestRevocation ends sessions in one of two processes. They end immediately there, and within Every in the other.
func TestRevocation(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, a *core.Auth, b *browser){
		"signed out": func(_ *testing.T, a *core.Auth, b *browser) {
			thief := *b
			thief.cookies = map[string]string{sessionCookie: b.cookies[sessionCookie]}
			b.at(a).submit("/auth/signout", nil)
			b.cookies = thief.cookies // a copy of the cookie
		},
		"one": func(t *testing.T, a *core.Auth, b *browser) {
			if _, err := a.EndSessions(t.Context(), "1", core.EndOptions{One: b.session().ID}); err != nil {
				t.Error(err)
			}
		},
		"all": func(t *testing.T, a *core.Auth, _ *browser) {
			if _, err := a.EndSessions(t.Context(), "1", core.EndOptions{}); err != nil {
				t.Error(err)
			}
		},
		"replaced by another sign-in": func(_ *testing.T, a *core.Auth, b *browser) {
			before := b.cookies[sessionCookie]
			b.at(a).signIn("2")
			b.cookies[sessionCookie] = before
		},
	} {
		for _, ahead := range []time.Duration{0, time.Hour, -time.Hour} {
			t.Run(fmt.Sprintf("%s, the other clock %v", name, ahead), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := newHouse()
					here, there := process(t, h, 0), process(t, h, ahead)
					b, other := signedIn(t, here, "1"), signedIn(t, here, "2")
					elapse(16 * time.Second)
					if ahead < 0 { // tokens are not valid before they are issued
						b, other = signedIn(t, there, "1"), signedIn(t, there, "2")
					}
					if b.at(there).session() == nil || b.at(here).session() == nil {
						t.Fatal("not signed in")
					}
					end(t, here, b)
					if b.at(here).session() != nil {
						t.Error("the session is still valid in the process that ended it")
					}
					b.cookies = map[string]string{}
					elapse(5 * time.Second)
					if other.at(there).session() == nil || other.at(here).session() == nil {
						t.Error("another user's session has ended")
					}
				})
			})
		}
	}
}

// TestRevocationReachesOtherProcesses checks the limit with frequent requests, and with one request at its end.
func TestRevocationReachesOtherProcesses(t *testing.T) {
	t.Parallel()
	for name, every := range map[string]time.Duration{
		"often": 100 * time.Millisecond, "rarely": 5 * time.Second, "after a night": 8 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				here, there := process(t, h, 0), process(t, h, 0)
				b := signedIn(t, here, "1")
				copied := b.cookies[sessionCookie]
				b.at(there).session()
				if _, err := here.EndSessions(t.Context(), "1", core.EndOptions{}); err != nil {
					t.Fatal(err)
				}
				for begun := time.Now(); time.Since(begun) < max(5*time.Second, every); {
					elapse(every)
					b.cookies[sessionCookie] = copied
					b.session()
				}
				b.cookies[sessionCookie] = copied
				if b.session() != nil {
					t.Error("still signed in after Every")
				}
				if fresh := signedIn(t, there, "1"); fresh.session() == nil || fresh.at(here).session() == nil {
					t.Error("a new session is refused")
				}
			})
		})
	}
}

// TestRevocationModel runs random operations on three processes whose clocks differ, and compares the sessions with a
// model. An ended session must be refused within Every, and no other session may be.
func TestRevocationModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, seed)
				for range 150 {
					m.step()
				}
			})
		})
	}
}

type model struct {
	*testing.T
	rand      *mathrand.Rand
	processes []*core.Auth
	sessions  []*modelSession
}

type modelSession struct {
	*browser
	user, id string
	ended    time.Time // zero: not ended
	by       int
}

func newModel(t *testing.T, seed uint64) *model {
	h := newHouse()
	m := &model{T: t, rand: mathrand.New(mathrand.NewPCG(seed, 1))}
	for _, ahead := range []time.Duration{0, 10 * time.Second, -4 * time.Second} {
		m.processes = append(m.processes, process(t, h, ahead, func(c *core.Config) {
			c.Session.MaxAge, c.Session.UpdateAge = 24*time.Hour, core.UpdateAlways
		}))
	}
	return m
}

func (m *model) step() {
	at := m.rand.IntN(len(m.processes))
	a, user := m.processes[at], []string{"1", "2", "of the application alone"}[m.rand.IntN(3)]
	var own []*modelSession
	for _, s := range m.sessions {
		if s.user == user && s.ended.IsZero() {
			own = append(own, s)
		}
	}
	end := func(o core.EndOptions, which func(*modelSession) bool) {
		if _, err := a.EndSessions(m.Context(), user, o); err != nil {
			m.Fatal(err)
		}
		for _, s := range own {
			if which(s) {
				s.ended, s.by = time.Now(), at
			}
		}
	}
	switch n := m.rand.IntN(10); {
	case n < 3:
		s := &modelSession{browser: signedIn(m.T, a, user), user: user}
		s.id = s.session().ID
		m.sessions = append(m.sessions, s)
	case n == 3 && len(own) > 0 && user != "of the application alone":
		one := own[m.rand.IntN(len(own))]
		end(core.EndOptions{One: one.id}, func(s *modelSession) bool { return s == one })
	case n == 4 && len(own) > 0 && user != "of the application alone":
		one := own[m.rand.IntN(len(own))]
		end(core.EndOptions{Except: one.id}, func(s *modelSession) bool { return s != one })
	case n == 5 && m.rand.IntN(3) == 0:
		end(core.EndOptions{}, func(*modelSession) bool { return true })
	case n == 6 && len(own) > 0:
		one := own[m.rand.IntN(len(own))]
		kept := one.cookies[sessionCookie]
		one.at(a).submit("/auth/signout", nil)
		one.cookies[sessionCookie], one.ended, one.by = kept, time.Now(), at
	case n == 7:
		elapse(time.Duration(m.rand.Int64N(int64(20 * time.Second))))
	}
	m.sessions = slices.DeleteFunc(m.sessions, func(s *modelSession) bool {
		m.look(s)
		return !s.ended.IsZero() && time.Since(s.ended) > time.Minute
	})
}

// look sends a request with a session to a random process.
func (m *model) look(s *modelSession) {
	at := m.rand.IntN(len(m.processes))
	kept := s.cookies[sessionCookie]
	there := s.at(m.processes[at]).session() != nil
	late := at == s.by || time.Since(s.ended) >= 5*time.Second
	switch {
	case s.ended.IsZero() && !there:
		m.Fatalf("the session of user %s ended without a reason", s.user)
	case !s.ended.IsZero() && there && late:
		m.Fatalf("a session of user %s is accepted %v after it was ended", s.user, time.Since(s.ended))
	case !there:
		s.cookies[sessionCookie] = kept
	}
}

// TestRevocationWithoutTheStore makes the store unavailable for ten minutes.
func TestRevocationWithoutTheStore(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		t.Run(fmt.Sprintf("strict %t", strict), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				here := process(t, h, 0, func(c *core.Config) { c.Session.Revocation.Strict = strict })
				b, gone := signedIn(t, here, "1"), signedIn(t, here, "2")
				b.session()
				h.fail(store.Unavailable(errors.New("gone")))
				if _, err := here.EndSessions(t.Context(), "2", core.EndOptions{}); !errors.Is(err, core.ErrStoreUnavailable) {
					t.Errorf("EndSessions succeeded without a store: %v", err)
				}
				thief := *gone
				thief.cookies = map[string]string{sessionCookie: gone.cookies[sessionCookie]}
				gone.submit("/auth/signout", nil) // not in the log, but it ends the session in this process
				calls, begun := h.called("Record"), time.Now()
				for range 600 {
					elapse(time.Second)
					_, err := here.Visit(t.Context(), b.request("GET", "/", "", "")).Session()
					refused := strict && time.Since(begun) >= time.Minute+5*time.Second
					settled := time.Since(begun) < time.Minute-5*time.Second || refused || !strict
					if settled && refused != errors.Is(err, core.ErrStoreUnavailable) {
						t.Fatalf("after %v: %v", time.Since(begun), err)
					}
				}
				if asked := h.called("Record") - calls; asked > 600*2/5+2 {
					t.Errorf("%d reads of the store in ten minutes", asked)
				}
				h.fail(nil)
				elapse(6 * time.Second)
				if _, err := b.auth.Visit(t.Context(), b.request("GET", "/", "", "")).Session(); err != nil {
					t.Log("the poll is still running during the first request:", err)
				}
				synctest.Wait()
				if b.session() == nil || thief.session() != nil {
					t.Error("wrong sessions when the store works again")
				}
			})
		})
	}
}

// TestRevocationSurvivesProcesses starts a process when the log has many pages.
func TestRevocationSurvivesProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		here := process(t, h, 0)
		first := signedIn(t, here, "1")
		copies := []string{first.cookies[sessionCookie]}
		first.submit("/auth/signout", nil)
		for range 600 {
			if _, err := here.EndSessions(t.Context(), "2", core.EndOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		last := signedIn(t, here, "1")
		copies = append(copies, last.cookies[sessionCookie])
		last.submit("/auth/signout", nil)
		pages := h.of("revoked")
		if len(pages) != 3 {
			t.Errorf("%d pages", len(pages))
		}
		for key, r := range pages {
			if (key == "head") != r.Expires.IsZero() || len(r.Value) > store.MaxRecordValue {
				t.Errorf("page %s expires at %v and has %d bytes", key, r.Expires, len(r.Value))
			}
		}
		for _, token := range copies {
			b := visit(t, process(t, h, 0))
			b.cookies[sessionCookie] = token
			if b.session() != nil {
				t.Error("a new process accepts an ended session")
			}
		}
		if signedIn(t, process(t, h, 0), "2").session() == nil {
			t.Error("a new session is refused")
		}
		elapse(32 * 24 * time.Hour) // entries are deleted when their tokens have expired
		if signedIn(t, here, "1").session() == nil {
			t.Error("a new session is refused")
		}
	})
}

// TestRevocationOfTokensWithoutFacts ends sessions that started before Revocation was on.
func TestRevocationOfTokensWithoutFacts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse()
		here := process(t, h, 0)
		old := func(id string) *browser {
			sealed, err := here.EncodeToken(&core.Token{Subject: id}, sessionCookie, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			b := visit(t, here)
			b.cookies[sessionCookie] = sealed
			return b
		}
		first, second, others := old("1"), old("1"), old("2")
		if s := first.session(); s == nil || s.ID != "" {
			t.Fatalf("%+v", s)
		}
		copied := first.cookies[sessionCookie]
		first.submit("/auth/signout", nil)
		if first.cookies[sessionCookie] = copied; first.session() != nil || second.session() == nil {
			t.Error("the wrong token has ended")
		}
		if n, err := here.EndSessions(t.Context(), "1", core.EndOptions{}); n != 0 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if second.session() != nil || others.session() == nil {
			t.Error("the user's sessions have not ended, or another user's have")
		}
		// Without the epoch record, a later revocation must still work.
		b := signedIn(t, here, "1")
		clear(h.records)
		if _, err := here.EndSessions(t.Context(), "1", core.EndOptions{}); err != nil || b.session() != nil {
			t.Errorf("sessions are valid again after the epoch record was lost: %v", err)
		}
	})
}

// TestSignOutOfAnEndedSession signs out again with a copy of one cookie. The log must not grow.
func TestSignOutOfAnEndedSession(t *testing.T) {
	t.Parallel()
	h := newHouse()
	here := process(t, h, 0)
	b := signedIn(t, here, "1")
	copied := b.cookies[sessionCookie]
	for range 5 {
		b.cookies[sessionCookie] = copied
		b.submit("/auth/signout", url.Values{})
	}
	var page struct{ E []string }
	if err := json.Unmarshal(h.of("revoked")["head"].Value, &page); err != nil || len(page.E) != 1 {
		t.Errorf("%d entries, %v", len(page.E), err)
	}
}

// TestRevocationNeeds uses configurations that do not support revocation.
func TestRevocationNeeds(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change func(*core.Config)
		says   string
	}{
		"no store":   {func(c *core.Config) { c.Store = nil }, "needs a Store"},
		"no records": {func(c *core.Config) { c.Store = newPeople() }, "store.RecordStore"},
		"database":   {func(c *core.Config) { c.Session.Strategy = core.StrategyDatabase }, "StrategyDatabase, whose"},
		"negative":   {func(c *core.Config) { c.Session.Revocation.Every = -1 }, "Revocation.Every"},
		"too long":   {func(c *core.Config) { c.Session.Revocation.Every = 2 * time.Hour }, "Revocation.Every"},
	} {
		t.Run(name, func(t *testing.T) {
			c := core.Config{
				Store: newHouse(), Secrets: []core.Secret{testSecret}, URL: "https://app.test",
				Getenv:  func(string) string { return "" },
				Session: core.SessionConfig{Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.True}},
			}
			row.change(&c)
			if _, err := core.New(c); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Error(err)
			}
		})
	}
}

// TestRevocationDefault: by default, Session.Revocation is on if a plugin ends sessions.
func TestRevocationDefault(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		strategy core.Strategy
		on       core.OptionalBool
		ends     bool // a plugin ends sessions
		store    core.Store
		can      bool
		says     string // the error of New
		warns    bool
	}{
		"no plugin":     {strategy: core.StrategyJWT, store: newHouse()},
		"no plugin, on": {strategy: core.StrategyJWT, on: core.True, store: newHouse(), can: true},
		"plugin":        {strategy: core.StrategyJWT, ends: true, store: newHouse(), can: true},
		"plugin, on": {strategy: core.StrategyJWT, on: core.True, ends: true, store: newHouse(),
			can: true},
		"plugin, off": {strategy: core.StrategyJWT, on: core.False, ends: true, store: newHouse(),
			warns: true},
		"plugin, database": {strategy: core.StrategyDatabase, ends: true, store: newHouse(), can: true},
		"plugin, database, off": {strategy: core.StrategyDatabase, on: core.False, ends: true, store: newHouse(),
			can: true},
		"plugin, a store without records": {strategy: core.StrategyJWT, ends: true, store: newPeople(),
			says: "store.RecordStore"},
		"plugin, no store": {strategy: core.StrategyJWT, ends: true,
			says: "Session.Revocation.On to core.False"},
		"plugin, no store, off":              {strategy: core.StrategyJWT, on: core.False, ends: true, warns: true},
		"no plugin, a store without records": {strategy: core.StrategyJWT, store: newPeople()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var host *core.PluginHost
			var log bytes.Buffer
			a, err := core.New(core.Config{
				Store: row.store, Secrets: []core.Secret{testSecret}, URL: "https://app.test",
				Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Session: core.SessionConfig{Strategy: row.strategy, Revocation: core.Revocation{On: row.on}},
				Plugins: []core.Plugin{partFunc(func(h *core.PluginHost) error {
					if host = h; row.ends {
						h.EndsSessions()
					}
					return nil
				})},
			})
			if row.says != "" {
				if err == nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), "core.False") {
					t.Errorf("New returned %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.EndSessions(t.Context(), "1", core.EndOptions{})
			if (err == nil) != row.can || host.CanEndSessions() != row.can {
				t.Errorf("CanEndSessions is %v, and EndSessions returned %v", host.CanEndSessions(), err)
			}
			if strings.Contains(log.String(), "sessions-not-revoked") != row.warns {
				t.Errorf("logged %s", &log)
			}
		})
	}
}

// elapse waits: without delay in a synctest bubble, and in real time in a benchmark.
func elapse(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the bubble's clock advances only by waiting
