package core_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// expiring is a store that counts the calls of DeleteExpired.
type expiring struct {
	*people
	itself  bool
	mu      sync.Mutex
	befores []time.Time
	delete  func(ctx context.Context) (int, error)
}

func (e *expiring) CleansItself() bool { return e.itself }

func (e *expiring) DeleteExpired(ctx context.Context, before time.Time) (int, error) {
	e.mu.Lock()
	e.befores = append(e.befores, before)
	e.mu.Unlock()
	if e.delete != nil {
		return e.delete(ctx)
	}
	return 0, nil
}

func (e *expiring) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, taken := e.tokens[t.Identifier+" "+t.Token]; taken {
		return core.ErrConflict
	}
	return e.people.CreateVerificationToken(ctx, t)
}

func (e *expiring) runs() int {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.befores)
}

// cleaned returns an application with such a store, and a function that signs in.
func cleaned(t *testing.T, s *expiring, config core.Config) (*app, func()) {
	t.Helper()
	if s.people == nil {
		s.people = newPeople()
		if _, err := s.CreateUser(t.Context(), &core.User{ID: "1"}); err != nil {
			t.Fatal(err)
		}
	}
	config.Store = s
	a := newApp(t, config)
	return a, func() {
		t.Helper()
		_, err := a.NewSession(t.Context(), visit(t, a).request("POST", "/register", "", ""), &core.User{ID: "1"})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// slot is the minimum time between two cleanups.
const slot = 10 * time.Minute

func TestCleanUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &expiring{}
		a, signIn := cleaned(t, s, core.Config{})
		signIn()
		if n := s.runs(); n != 0 {
			t.Fatalf("%d runs of a process that has just started", n)
		}
		a.clock.Advance(slot)
		if n := s.runs(); n != 0 {
			t.Fatalf("%d runs without a request", n)
		}
		signIn()
		if n := s.runs(); n != 1 || !s.befores[0].Equal(a.clock.Now().Add(-time.Hour)) {
			t.Fatalf("%d runs, of what ended before %v", n, s.befores)
		}
		for range 5 {
			signIn()
		}
		if n := s.runs(); n != 1 {
			t.Errorf("%d runs in one slot", n)
		}
		for range 3 {
			before := s.runs()
			a.clock.Advance(2 * slot)
			signIn()
			if n := s.runs(); n != before+1 {
				t.Errorf("%d runs after %d in a slot before", n, before)
			}
		}
	})
}

// TestCleanUpByLinks checks that a verification token starts a cleanup like a session does.
func TestCleanUpByLinks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &expiring{}
		mail := &core.EmailProvider{Send: func(context.Context, core.Email) error { return nil }}
		a, _ := cleaned(t, s, core.Config{Providers: []core.Provider{mail}})
		a.clock.Advance(slot)
		visit(t, a).askForLink("ada@example.com")
		if n := s.runs(); n != 1 {
			t.Errorf("%d runs", n)
		}
	})
}

// noting is a store that accepts every record.
type noting struct {
	*expiring
	store.RecordStore
	err error
}

func (n noting) CreateRecord(context.Context, *store.Record) error { return n.err }
func (n noting) UpdateRecord(context.Context, *store.Record) error { return n.err }

// TestCleanUpByRecords checks that a record that expires starts a cleanup, and that a permanent or rejected one does
// not.
func TestCleanUpByRecords(t *testing.T) {
	t.Parallel()
	ending := &store.Record{Expires: time.Unix(1, 0)}
	for name, tt := range map[string]struct {
		write func(ctx context.Context, s store.RecordStore) error
		err   error
		want  int
	}{
		"created": {func(ctx context.Context, s store.RecordStore) error { return s.CreateRecord(ctx, ending) }, nil, 1},
		"updated": {func(ctx context.Context, s store.RecordStore) error { return s.UpdateRecord(ctx, ending) }, nil, 1},
		"refused": {func(ctx context.Context, s store.RecordStore) error {
			return s.UpdateRecord(ctx, ending)
		}, core.ErrConflict, 0},
		"without an end": {func(ctx context.Context, s store.RecordStore) error {
			return s.CreateRecord(ctx, &store.Record{})
		}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := noting{expiring: &expiring{people: newPeople()}, err: tt.err}
				var records store.RecordStore
				a := newApp(t, core.Config{Store: s, Plugins: []core.Plugin{partFunc(func(h *core.PluginHost) error {
					records = h.Records()
					return nil
				})}})
				a.clock.Advance(slot)
				if err := tt.write(t.Context(), records); !errors.Is(err, tt.err) {
					t.Error(err)
				}
				if n := s.runs(); n != tt.want {
					t.Errorf("%d runs, want %d", n, tt.want)
				}
			})
		})
	}
}

// TestCleanUpOfManyProcesses checks that only one process cleans up in a slot if the store has leases.
func TestCleanUpOfManyProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &expiring{}
		var processes []func()
		var apps []*app
		for range 5 {
			a, signIn := cleaned(t, s, core.Config{})
			a.clock.Advance(slot)
			processes, apps = append(processes, signIn), append(apps, a)
		}
		for _, signIn := range processes {
			signIn()
		}
		if n := s.runs(); n != 1 {
			t.Errorf("%d runs of 5 processes, want 1", n)
		}
		for _, a := range apps {
			if strings.Contains(a.log.String(), "level=ERROR") {
				t.Errorf("one that leaves it to another says %s", a.log)
			}
		}
	})
}

// TestCleanUpAtDifferentTimes checks that processes that start at the same time clean up at different times.
func TestCleanUpAtDifferentTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		moments := map[int]bool{}
		for range 20 {
			s := &expiring{}
			a, signIn := cleaned(t, s, core.Config{})
			steps := 0
			for ; s.runs() == 0; steps++ {
				a.clock.Advance(slot / 20)
				signIn()
			}
			moments[steps] = true
		}
		if len(moments) < 2 {
			t.Error("twenty processes clean up at the same moment")
		}
	})
}

func TestCleanUpSwitch(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		to     core.OptionalBool
		itself bool
		runs   int
	}{
		"off":                                   {core.False, false, 0},
		"on":                                    {core.True, false, 1},
		"left to a store that does it itself":   {core.Default, true, 0},
		"on for a store that does it by itself": {core.True, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &expiring{itself: row.itself}
				a, signIn := cleaned(t, s, core.Config{CleanUp: row.to})
				a.clock.Advance(slot)
				signIn()
				if n := s.runs(); n != row.runs {
					t.Errorf("%d runs, want %d", n, row.runs)
				}
			})
		})
	}
}

// TestCleanUpInTrouble checks that a hanging run ends after a minute, and that no other starts before. Errors are
// logged, and no request fails.
func TestCleanUpInTrouble(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		delete func(ctx context.Context) (int, error)
		log    string
	}{
		"it hangs": {
			func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }, "context deadline exceeded",
		},
		"it comes to its end with rows left": {
			func(ctx context.Context) (int, error) { <-ctx.Done(); return 7, ctx.Err() },
			"in part, the rest in the next runs\" rows=7 left=unknown",
		},
		"it comes to its end and knows how many are left": {
			func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 7, &store.LeftError{Rows: 9, Err: ctx.Err()}
			}, "rows=7 left=9",
		},
		"it comes to its end and knows that many are left": {
			func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 7, &store.LeftError{Rows: store.MostLeft, More: true, Err: ctx.Err()}
			}, `rows=7 left="at least 10000"`,
		},
		"it fails":  {func(context.Context) (int, error) { return 0, errors.New("no such table") }, "no such table"},
		"it panics": {func(context.Context) (int, error) { panic("nil map") }, "nil map"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &expiring{delete: row.delete}
				a, signIn := cleaned(t, s, core.Config{})
				a.clock.Advance(slot)
				signIn()
				hangs := strings.HasPrefix(name, "it hangs")
				if hangs {
					a.clock.Advance(2 * slot)
					signIn()
				}
				if n := s.runs(); n != 1 {
					t.Errorf("%d runs", n)
				}
				time.Sleep(time.Minute) //nolint:forbidigo // the fake clock of synctest
				synctest.Wait()
				if log := a.log.String(); !strings.Contains(log, row.log) {
					t.Errorf("the log has no %q:\n%s", row.log, log)
				}
				a.clock.Advance(2 * slot)
				signIn()
				if n := s.runs(); n != 2 {
					t.Errorf("%d runs in all, want one more", n)
				}
				time.Sleep(time.Minute) //nolint:forbidigo // the fake clock of synctest
			})
		})
	}
}

// TestCleanUpNeedsACleaner checks that CleanUp set to On is a configuration error without a store.Cleaner.
func TestCleanUpNeedsACleaner(t *testing.T) {
	t.Parallel()
	_, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{testSecret}, Store: newPeople(), CleanUp: core.True,
		Getenv: func(string) string { return "" },
	})
	if !errors.Is(err, core.ErrMissingStoreMethods) || !strings.Contains(err.Error(), "CleanUp") {
		t.Errorf("error %v", err)
	}
}

// TestTasks checks that tasks of plugins run after visits, in one process per slot, with or without a clean-up, and
// that one that fails, panics or hangs stops neither requests nor the tasks after it.
func TestTasks(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		first func(ctx context.Context) error
		clean core.OptionalBool
		log   string
	}{
		"with a clean-up":    {func(context.Context) error { return nil }, core.True, ""},
		"without a clean-up": {func(context.Context) error { return nil }, core.False, ""},
		"an error":           {func(context.Context) error { return errors.New("no mail") }, core.True, "no mail"},
		"a panic":            {func(context.Context) error { panic("no mail") }, core.True, "no mail"},
		"it hangs": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, core.True,
			"context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int64
				plugin := partFunc(func(h *core.PluginHost) error {
					h.AddTask(row.first)
					h.AddTask(func(context.Context) error { runs.Add(1); return nil })
					return nil
				})
				s := &expiring{}
				config := core.Config{CleanUp: row.clean, Plugins: []core.Plugin{plugin}}
				a, _ := cleaned(t, s, config)
				other, _ := cleaned(t, s, config)
				both := func() {
					for _, each := range []*app{a, other} {
						each.clock.Advance(2 * slot)
						each.Visit(t.Context(), visit(t, each).request("GET", "/", "", ""))
						time.Sleep(2 * time.Minute) //nolint:forbidigo // time of synctest, which no test waits for
					}
				}
				both()
				both()
				if n := runs.Load(); n != 2 {
					t.Errorf("%d runs in two slots of two processes", n)
				}
				if log := a.log.String() + other.log.String(); row.log == "" && strings.Contains(log, "level=ERROR") ||
					!strings.Contains(log, row.log) {
					t.Errorf("the log is %s", log)
				}
				if cleans := s.runs() > 0; cleans != (row.clean == core.True) {
					t.Errorf("cleaned up: %t", cleans)
				}
			})
		})
	}
}
