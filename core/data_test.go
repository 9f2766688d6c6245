package core_test

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/quick"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// staff is an example of an application's data.
type staff struct {
	Role string `json:"role"`
	Pad  string `json:"pad,omitempty"`
}

// Roles returns the roles for core.HasRole.
func (s staff) Roles() []string { return []string{s.Role} }

// registry is where the application stores the data.
type registry struct {
	mu    sync.Mutex
	role  string
	pad   int
	err   error
	loads int
}

func (r *registry) set(role string) { r.mu.Lock(); defer r.mu.Unlock(); r.role = role }

func (r *registry) load(_ context.Context, u *core.User) (staff, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loads++
	if u.ID == "" || r.err != nil {
		return staff{}, errors.Join(r.err, errors.New("no id"))
	}
	return staff{r.role, strings.Repeat("x", r.pad)}, nil
}

// reads requests a page that uses the data, and stores the cookies of the response.
func reads[T any](b *browser, d *core.SessionData[T], guards ...core.Guard) (data T, status int, err error) {
	b.t.Helper()
	v := b.auth.Visit(b.t.Context(), b.request("GET", "/page", "", ""))
	_, data, err = d.FromContext(v)
	if _, refusal := v.Require(guards...); refusal != nil {
		status = refusal.Status
	}
	b.take(answerOf(v))
	return data, status, err
}

// TestDataOfASession removes a role. The change takes effect within For, and immediately after Refresh.
func TestDataOfASession(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			r := &registry{role: "admin"}
			d := &core.SessionData[staff]{Load: r.load, Public: func(s staff) any { return s.Role }}
			a, _ := factual(t, strategy, func(c *core.Config) { c.Data = d; c.Plugins = nil })
			b := signedIn(t, a, "1")
			admin := core.HasRole(d, "owner", "admin")
			expect := func(when, role string, status, loads int) {
				t.Helper()
				data, got, err := reads(b, d, admin)
				if err != nil || data.Role != role || got != status || r.loads != loads {
					t.Errorf("%s: %+v, %d, %v after %d loads", when, data, got, err, r.loads)
				}
			}
			expect("signed in", "admin", 0, 1)
			if shown := string(b.get("/auth/session").Body); !strings.Contains(shown, `"data":"admin"`) {
				t.Errorf("GET session shows %s", shown)
			}
			r.set("guest")
			a.clock.Advance(5*time.Minute - time.Second)
			expect("within For", "admin", 0, 1)
			a.clock.Advance(time.Second)
			expect("after For", "guest", 403, 2)
			r.set("owner")
			expect("unknown to anybody", "guest", 403, 2)
			if err := d.Refresh(t.Context(), "1"); err != nil {
				t.Error(err)
			}
			expect("refreshed", "owner", 0, 3)
			expect("refreshed, once", "owner", 0, 3)
			r.set("guest")
			b.signIn("1")
			expect("another sign-in", "guest", 403, 4)
			if nobody, _, err := reads(visit(t, a), d); nobody.Role != "" || err != nil {
				t.Errorf("without a session: %+v, %v", nobody, err)
			}
		})
	}
}

// TestPostedDataChangesNothing: neither posted data nor a jwt callback can change the data.
func TestPostedDataChangesNothing(t *testing.T) {
	t.Parallel()
	r := &registry{role: "guest"}
	d := &core.SessionData[staff]{Load: r.load}
	forged := core.Members{}
	loaded := map[string]any{"at": start.UnixMilli(), "v": staff{Role: "admin"}}
	if err := forged.Set("latchkey_data", loaded); err != nil {
		t.Fatal(err)
	}
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.Data = d
		c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			return &core.Token{Subject: p.Token.Subject, Extra: forged}, nil
		}
		c.Callbacks.Session = func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			return &core.Session{User: p.Session.User, Expires: p.Session.Expires}, nil
		}
	})
	b := signedIn(t, a, "1")
	for range 3 {
		body := `{"csrfToken":"` + b.csrf() + `","data":{"role":"admin","latchkey_data":{"v":{"role":"admin"}}}}`
		if answer := b.send("POST", "/auth/session", "application/json", body); answer.Status != http.StatusOK ||
			strings.Contains(string(answer.Body), `"data"`) {
			t.Errorf("answered %d %s", answer.Status, answer.Body)
		}
		if data, status, err := reads(b, d, core.HasRole(d, "admin")); data.Role != "guest" || status != 403 || err != nil {
			t.Errorf("the data is %+v, %d, %v", data, status, err)
		}
	}
	if r.loads != 1 {
		t.Errorf("%d loads", r.loads)
	}
}

// TestPlantedDataDuringAnOutage: a value that a jwt callback sets while Load fails, at the sign-in or later, is
// never used as a copy.
func TestPlantedDataDuringAnOutage(t *testing.T) {
	t.Parallel()
	for name, planted := range map[string]bool{"at the sign-in": true, "later": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var away, plants atomic.Bool
			away.Store(true)
			plants.Store(planted)
			d := &core.SessionData[staff]{Load: func(context.Context, *core.User) (staff, error) {
				if away.Load() {
					return staff{}, errors.New("away")
				}
				return staff{Role: "guest"}, nil
			}}
			forged := core.Members{}
			loaded := map[string]any{"at": start.UnixMilli(), "v": staff{Role: "admin"}}
			if err := forged.Set("latchkey_data", loaded); err != nil {
				t.Fatal(err)
			}
			a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
				c.Data = d
				c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
					if !plants.Load() {
						return p.Token, nil
					}
					return &core.Token{Subject: p.Token.Subject, Extra: forged}, nil
				}
			})
			b := signedIn(t, a, "1")
			plants.Store(true)
			b.get("/auth/session")
			plants.Store(false)
			away.Store(false)
			if data, status, err := reads(b, d, core.HasRole(d, "admin")); data.Role != "guest" || status != 403 || err != nil {
				t.Errorf("the data is %+v, %d, %v", data, status, err)
			}
		})
	}
}

// TestDataThatCannotBeLoaded: the session stays valid, and everything that needs the data fails closed.
func TestDataThatCannotBeLoaded(t *testing.T) {
	t.Parallel()
	for _, strategy := range bothStrategies {
		for name, load := range map[string]func(context.Context, *core.User) (staff, error){
			"an error": func(context.Context, *core.User) (staff, error) { return staff{}, errors.New("away") },
			"a panic":  func(context.Context, *core.User) (staff, error) { panic("boom") },
		} {
			t.Run(string(strategy)+", "+name, func(t *testing.T) {
				t.Parallel()
				d := &core.SessionData[staff]{Load: load, Public: func(s staff) any { return s }}
				a, _ := factual(t, strategy, func(c *core.Config) { c.Data = d })
				b := signedIn(t, a, "1")
				_, status, err := reads(b, d, core.HasRole(d, ""))
				if err == nil || status != http.StatusInternalServerError {
					t.Errorf("%d, %v", status, err)
				}
				if s := b.session(); s == nil || s.UserID != "1" {
					t.Errorf("the session is %+v", s)
				}
				if shown := string(b.get("/auth/session").Body); !strings.Contains(shown, `"user"`) ||
					strings.Contains(shown, `"data"`) {
					t.Errorf("GET session shows %s", shown)
				}
			})
		}
	}
}

func TestDataSizes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		strategy core.Strategy
		size     int
		chunks   bool
		warned   int
		fails    bool
	}{
		{"small", core.StrategyJWT, 1 << 10, false, 0, false},
		{"told of", core.StrategyJWT, 2 << 10, false, 1, false},
		{"in chunks", core.StrategyJWT, 4 << 10, true, 1, false},
		{"too large for cookies", core.StrategyJWT, 8 << 10, false, 0, true},
		{"in memory", core.StrategyDatabase, 64 << 10, false, 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := &registry{role: "admin", pad: row.size}
			d := &core.SessionData[staff]{Load: r.load}
			a, _ := factual(t, row.strategy, func(c *core.Config) { c.Data = d })
			b := signedIn(t, a, "1")
			for range 2 {
				data, _, err := reads(b, d)
				if (err != nil) != row.fails || !row.fails && len(data.Pad) != row.size {
					t.Errorf("%d bytes, %v", len(data.Pad), err)
				}
				a.clock.Advance(time.Hour)
			}
			if _, chunks := b.cookies[sessionCookie+".1"]; chunks != row.chunks {
				t.Errorf("chunks: %t", chunks)
			}
			if n := strings.Count(a.log.String(), "code=session-data-large"); n != row.warned {
				t.Errorf("warned %d times", n)
			}
		})
	}
}

// TestDataIsLoadedOnce sends many concurrent requests of a user, with a Refresh while the data is being loaded.
func TestDataIsLoadedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		loads, goOn := atomic.Int64{}, make(chan struct{})
		d := &core.SessionData[int64]{Load: func(ctx context.Context, _ *core.User) (int64, error) {
			n := loads.Add(1)
			if n > 1 {
				<-goOn
			}
			return n, ctx.Err()
		}}
		a := process(t, newHouse(), 0, func(c *core.Config) { c.Data = d })
		b := signedIn(t, a, "1")
		elapse(time.Hour)
		var all sync.WaitGroup
		for range 50 {
			r := b.request("GET", "/page", "", "")
			all.Go(func() {
				if _, n, err := d.FromContext(a.Visit(t.Context(), r)); n != 3 || err != nil {
					t.Errorf("data %d, %v", n, err)
				}
			})
		}
		synctest.Wait()
		if err := d.Refresh(t.Context(), "1"); err != nil { // invalidates the load in progress
			t.Error(err)
		}
		close(goOn)
		all.Wait()
		if n := loads.Load(); n != 3 {
			t.Errorf("%d loads", n)
		}
	})
}

// TestRefreshReachesOtherProcesses: with Session.Revocation, within Revocation.Every.
func TestRefreshReachesOtherProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, h := &registry{role: "admin"}, newHouse()
		here, there := &core.SessionData[staff]{Load: r.load}, &core.SessionData[staff]{Load: r.load}
		one := process(t, h, 0, func(c *core.Config) { c.Data = here })
		two := process(t, h, 0, func(c *core.Config) { c.Data = there })
		b := signedIn(t, one, "1")
		if data, _, err := reads(b.at(two), there); data.Role != "admin" || err != nil {
			t.Fatalf("%+v, %v", data, err)
		}
		r.set("guest")
		if err := here.Refresh(t.Context(), "1"); err != nil {
			t.Fatal(err)
		}
		elapse(6 * time.Second)
		for range 2 { // a request after half of Every starts the poll
			_, _, _ = reads(b.at(two), there)
			synctest.Wait()
		}
		if data, _, err := reads(b.at(two), there); data.Role != "guest" || err != nil {
			t.Errorf("the other process has %+v, %v", data, err)
		}
		if r.loads != 2 {
			t.Errorf("%d loads", r.loads)
		}
	})
}

// TestDataRoundTrip: handlers get the value that Load returned.
func TestDataRoundTrip(t *testing.T) {
	t.Parallel()
	type all struct {
		Text  string
		Count int64
		List  []string
		Flags map[string]bool
		Deep  struct{ Name *string }
	}
	for _, strategy := range bothStrategies {
		var want all
		d := &core.SessionData[all]{Load: func(context.Context, *core.User) (all, error) { return want, nil }}
		a, _ := factual(t, strategy, func(c *core.Config) { c.Data = d })
		b := signedIn(t, a, "1")
		check := func(next all) bool {
			want = next
			_ = d.Refresh(t.Context(), "1")
			for range 2 {
				if got, _, err := reads(b, d); err != nil || !reflect.DeepEqual(got, want) {
					t.Logf("%+v, %v", got, err)
					return false
				}
			}
			return true
		}
		if err := quick.Check(check, &quick.Config{MaxCount: 50}); err != nil {
			t.Errorf("%s: %v", strategy, err)
		}
	}
}

func TestDataOfAnother(t *testing.T) {
	t.Parallel()
	r := &registry{role: "admin"}
	d, other := &core.SessionData[staff]{Load: r.load}, &core.SessionData[staff]{Load: r.load}
	with, _ := factual(t, core.StrategyJWT, func(c *core.Config) { c.Data = d })
	without, _ := factual(t, core.StrategyJWT)
	b := signedIn(t, with, "1")
	if _, status, err := reads(b, other, core.HasRole(other, "admin")); err == nil || status != 500 {
		t.Errorf("another Data: %d, %v", status, err)
	}
	if _, status, err := reads(b.at(without), d, core.HasRole(d, "admin")); err == nil || status != 500 {
		t.Errorf("an Auth without Data: %d, %v", status, err)
	}
	if _, _, err := d.FromContext(t.Context()); err == nil {
		t.Error("no error without a visit")
	}
	for name, wrong := range map[string]*core.SessionData[staff]{
		"the pointer Data is nil": nil, "Data.Load is nil": {}, "Data.MaxAge is -1ns": {Load: r.load, MaxAge: -1},
	} {
		_, err := core.New(core.Config{URL: "https://app.test", Secrets: []core.Secret{testSecret}, Data: wrong})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPublicData(t *testing.T) {
	t.Parallel()
	r := &registry{role: "admin"}
	for name, row := range map[string]struct {
		public func(staff) any
		own    bool
		want   string
	}{
		"nothing":             {nil, false, ""},
		"its result":          {func(s staff) any { return map[string]string{"r": s.Role} }, false, `"data":{"r":"admin"}`},
		"set by the callback": {func(staff) any { return 1 }, true, `"data":"own"`},
		"a panic":             {func(staff) any { panic("boom") }, false, ""},
		"not marshalable":     {func(staff) any { return make(chan int) }, false, ""},
		"nil":                 {func(staff) any { return nil }, false, `"data":null`},
		"markup is quoted":    {func(staff) any { return "</script>" }, false, `"data":"\u003c/script\u003e"`},
	} {
		d := &core.SessionData[staff]{Load: r.load, Public: row.public}
		a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
			c.Data = d
			if row.own {
				c.Callbacks.Session = func(_ context.Context, p core.SessionParams) (*core.Session, error) {
					return p.Session, p.Session.Extra.Set("data", "own")
				}
			}
		})
		answer := signedIn(t, a, "1").get("/auth/session")
		if body := string(answer.Body); answer.Status != 200 || !strings.Contains(body, row.want) ||
			strings.Contains(body, `"data"`) != (row.want != "") {
			t.Errorf("%s: %d %s", name, answer.Status, body)
		}
	}
}

func TestAnyAndAll(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	say := func(err error) core.Guard { return func(context.Context, *core.Session) error { return err } }
	again := &core.StepUp{MaxAge: time.Minute}
	yes, no, late, broken := say(nil), say(core.ErrForbidden), say(again), say(away)
	for name, row := range map[string]struct {
		guard core.Guard
		want  error
	}{
		"any of none": {core.AnyOf(), core.ErrForbidden}, "all of none": {core.AllOf(), nil},
		"any": {core.AnyOf(no, broken, late, yes), nil}, "all": {core.AllOf(yes, yes), nil},
		"the step-up takes precedence": {core.AnyOf(no, late, broken), again}, "unknown": {core.AnyOf(no, broken), away},
		"no": {core.AnyOf(no, no), core.ErrForbidden}, "the first of all": {core.AllOf(yes, late, no), again},
		"nested": {core.AnyOf(core.AllOf(yes, no), core.AllOf(yes, yes)), nil},
	} {
		if got := row.guard(t.Context(), &core.Session{}); !errors.Is(got, row.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestDataOfAnotherSubject: an administrator acts as a customer, because the jwt callback changes the subject of the
// token. The session must have the data of its subject, although the token has a copy of another user's data.
func TestDataOfAnotherSubject(t *testing.T) {
	t.Parallel()
	d := &core.SessionData[staff]{Load: func(_ context.Context, u *core.User) (staff, error) {
		return staff{Role: "of " + u.ID},
			nil
	}}
	actsAs := ""
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.Data = d
		c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if actsAs != "" {
				p.Token.Subject = actsAs
			}
			return p.Token, nil
		}
	})
	b := signedIn(t, a, "1")
	for _, subject := range []string{"1", "2", "1", "2"} {
		actsAs = subject
		if data, _, err := reads(b, d); err != nil || data.Role != "of "+subject {
			t.Errorf("a session of user %s has the data %q, %v", subject, data.Role, err)
		}
	}
}
