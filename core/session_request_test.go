package core_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// slowSession is a session callback that makes the next read of a session wait.
type slowSession struct {
	entered, release chan struct{}
	armed            chan bool
}

func newSlowSession() *slowSession {
	return &slowSession{make(chan struct{}), make(chan struct{}), make(chan bool, 1)}
}

func (s *slowSession) callback(_ context.Context, p core.SessionParams) (*core.Session, error) {
	select {
	case <-s.armed:
		s.entered <- struct{}{}
		<-s.release
	default:
	}
	return p.Session, nil
}

// TestLateResponseUndoesNothing delays a request in the session callback while another response changes the session. In
// any order of the responses, the browser ends up with the later decision.
func TestLateResponseUndoesNothing(t *testing.T) {
	t.Parallel()
	decisions := map[string]func(b *browser){
		"sign-out":             func(b *browser) { b.submit("/auth/signout", nil) },
		"another user":         func(b *browser) { b.signIn("2") },
		"step-up":              func(b *browser) { b.signIn("1") },
		"sign-out and sign-in": func(b *browser) { b.submit("/auth/signout", nil); b.signIn("2") },
		"update": func(b *browser) {
			b.send("POST", "/auth/session", "application/json", `{"csrfToken":"`+b.csrf()+`","data":{"name":"New"}}`)
		},
		"renewal and update": func(b *browser) {
			b.get("/auth/session")
			b.send("POST", "/auth/session", "application/json", `{"csrfToken":"`+b.csrf()+`","data":{"name":"New"}}`)
		},
	}
	for decision, decide := range decisions {
		for _, strategy := range bothStrategies {
			for _, revocation := range []bool{false, true} {
				for _, due := range []bool{false, true} {
					for _, late := range []string{"GET session", "the hook", "POST session"} {
						if revocation && strategy != core.StrategyJWT || late == "POST session" && strings.Contains(decision, "update") {
							continue
						}
						name := strings.Join([]string{decision, string(strategy), late}, ", ")
						if revocation {
							name += ", revocation"
						}
						if due {
							name += ", due"
						}
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							checkLate(t, strategy, revocation, due, late, decide)
						})
					}
				}
			}
		}
	}
}

func checkLate(
	t *testing.T, strategy core.Strategy, revocation, due bool, late string, decide func(*browser),
) {
	slow := newSlowSession()
	a, _ := factual(t, strategy, func(c *core.Config) {
		c.Session.Revocation.On = core.False
		if revocation {
			c.Session.Revocation.On = core.True
		}
		c.Callbacks.Session = slow.callback
		if strategy == core.StrategyJWT {
			c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				var update struct{ Name string }
				if p.Trigger == core.TriggerUpdate && json.Unmarshal(p.Update, &update) == nil && update.Name != "" {
					p.Token.Name = update.Name
				}
				return p.Token, nil
			}
		}
	})
	b := signedIn(t, a, "1")
	csrf := b.csrf()
	if due {
		a.clock.Advance(25 * time.Hour)
	}
	var r *core.Request
	switch late {
	case "POST session":
		r = b.request("POST", "/auth/session", "application/json", `{"csrfToken":"`+csrf+`","data":{}}`)
	default:
		r = b.request("GET", "/auth/session", "", "")
	}
	slow.armed <- true
	done := make(chan http.Header)
	go func() {
		h := http.Header{}
		if late == "the hook" {
			v := a.Visit(context.Background(), r)
			_, _ = v.Session()
			v.Commit(h)
		} else {
			for _, c := range a.Handle(context.Background(), r).Cookies {
				h.Add("Set-Cookie", c.String())
			}
		}
		done <- h
	}()
	<-slow.entered
	decide(b)
	want, token := string(b.get("/auth/session").Body), b.cookies[sessionCookie]
	slow.release <- struct{}{}
	b.take(<-done)
	if b.cookies[sessionCookie] != token {
		t.Errorf("session cookie %.40q, want %.40q", b.cookies[sessionCookie], token)
	}
	if got := string(b.get("/auth/session").Body); got != want {
		t.Errorf("session %s, want %s", got, want)
	}
}

// TestHookWritesNoLateCookie ends a session between the hook's read and the hook's write of cookies.
func TestHookWritesNoLateCookie(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		a, _ := factual(t, strategy)
		b := signedIn(t, a, "1")
		a.clock.Advance(25 * time.Hour)
		v := a.Visit(t.Context(), b.request("GET", "/page", "", ""))
		if s, err := v.Session(); s == nil || err != nil {
			t.Fatal(s, err)
		}
		b.submit("/auth/signout", nil)
		if h := answerOf(v); len(h["Set-Cookie"]) > 0 {
			t.Errorf("%s: sets %q", strategy, h["Set-Cookie"])
		}
	}
}

// TestPolledSessionIsRenewed keeps a session alive with GET session alone. The cookie is set when it is due, and
// expires in the body is the expiry of the browser's cookie.
func TestPolledSessionIsRenewed(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for name, row := range map[string]struct {
			maxAge, jwtMaxAge, every time.Duration
			sets                     int
		}{
			"the defaults":                  {30 * 24 * time.Hour, 0, 12 * time.Hour, 50},
			"shorter than UpdateAge":        {time.Hour, 0, 10 * time.Minute, 33},
			"tokens shorter than UpdateAge": {30 * 24 * time.Hour, time.Hour, 10 * time.Minute, 33},
		} {
			if strategy == core.StrategyDatabase && name != "the defaults" {
				continue // Auth.js does not extend these either
			}
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				a, _ := factual(t, strategy, func(c *core.Config) {
					c.Session.MaxAge, c.JWT.MaxAge = row.maxAge, row.jwtMaxAge
				})
				b := signedIn(t, a, "1")
				sets, expires := 0, a.clock.Now().Add(row.maxAge)
				for range 100 {
					a.clock.Advance(row.every)
					r := b.get("/auth/session")
					for _, c := range r.Cookies {
						if c.Name == sessionCookie {
							sets++
							expires = c.Expires
						}
					}
					var body struct{ Expires time.Time }
					if err := json.Unmarshal(r.Body, &body); err != nil || body.Expires.Unix() != expires.Unix() {
						t.Fatalf("expiry %v in the body, %v in the cookie: %s, %v", body.Expires, expires, r.Body, err)
					}
				}
				if sets != row.sets {
					t.Errorf("the cookie was set %d times, want %d", sets, row.sets)
				}
			})
		}
	}
}

// TestSessionCookieInAnOutdatedForm checks that the next read writes the cookie again, once.
func TestSessionCookieInAnOutdatedForm(t *testing.T) {
	t.Parallel()
	const second core.Secret = "another secret of the tests, 32 bytes or more"
	h := newHouse()
	config := func(secrets ...core.Secret) core.Config {
		return core.Config{
			Store: h, Providers: []core.Provider{byName()}, InsecureNoLimits: true, Secrets: secrets,
			Session: core.SessionConfig{Strategy: core.StrategyJWT},
		}
	}
	b := signedIn(t, newApp(t, config(testSecret)), "1")
	whole := b.cookies[sessionCookie]
	rotated := newApp(t, config(second, testSecret))
	b.auth = rotated
	for i, want := range []bool{true, false} {
		before := b.cookies[sessionCookie]
		if b.get("/auth/session"); (b.cookies[sessionCookie] != before) != want {
			t.Errorf("read %d after the rotation: cookie set: %t", i, !want)
		}
	}
	b.auth = newApp(t, config(testSecret))
	delete(b.cookies, sessionCookie)
	b.cookies[sessionCookie+".0"], b.cookies[sessionCookie+".1"] = whole[:100], whole[100:]
	if b.get("/auth/session"); b.cookies[sessionCookie] == "" || b.cookies[sessionCookie+".0"] != "" {
		t.Errorf("the chunks were not cleared: %v", b.cookies)
	}
	if r := b.get("/auth/session"); len(r.Cookies) > 0 {
		t.Errorf("sets %v again", r.Cookies)
	}
}

// TestRenewalOfARevokedToken signs out a session that started without facts while another process renews it. The new
// token must be revoked like the old one.
func TestRenewalOfARevokedToken(t *testing.T) {
	t.Parallel()
	h := newHouse()
	old := core.Config{Store: h, Providers: []core.Provider{byName()}, InsecureNoLimits: true}
	old.Session.Strategy = core.StrategyJWT
	b := signedIn(t, newApp(t, old), "1") // without Revocation, as with Auth.js
	slow := newSlowSession()
	on := old
	on.Session.Revocation.On, on.Session.UpdateAge = core.True, core.UpdateAlways
	here := newApp(t, on)
	on.Callbacks.Session = slow.callback
	elsewhere := newApp(t, on)
	slow.armed <- true
	r := b.request("GET", "/auth/session", "", "")
	done := make(chan *core.Response)
	go func() { done <- elsewhere.Handle(context.Background(), r) }()
	<-slow.entered
	b.auth = here
	b.submit("/auth/signout", url.Values{})
	slow.release <- struct{}{}
	for _, c := range (<-done).Cookies {
		b.keep(c)
	}
	if b.cookies[sessionCookie] == "" {
		t.Fatal("the other process has not renewed the session, so this test checks nothing")
	}
	if body := string(b.get("/auth/session").Body); body != "null" {
		t.Errorf("the renewed token is still valid: %s", body)
	}
}
