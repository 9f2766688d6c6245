package core_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
)

type observedKey struct{}

// observer records calls.
type observer struct {
	mu   sync.Mutex
	told map[string]int
	open int
}

func (o *observer) observe(ctx context.Context, c observe.Call) (context.Context, func(observe.Outcome)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open++
	return context.WithValue(ctx, observedKey{}, c.Name), func(outcome observe.Outcome) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.told == nil {
			o.told = map[string]int{}
		}
		o.open--
		o.told[strings.TrimSpace(fmt.Sprintf("%s %s: %s %s", c.Target, c.Name, outcome, c.Provider))]++
	}
}

// TestObserve runs every flow. Each call to the store and to providers is reported with fixed names and configured IDs,
// and calls to providers use the context that Observe returned.
func TestObserve(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			var o observer
			within := map[any]bool{}
			var mu sync.Mutex
			w := newTown(t, all, strategy, func(c *core.Config) {
				c.Observe = o.observe
				for _, p := range c.Providers[:4] {
					p := p.(*core.OAuthProvider)
					next := p.HTTPClient.Transport
					p.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
						mu.Lock()
						within[r.Context().Value(observedKey{})] = true
						mu.Unlock()
						return next.RoundTrip(r)
					})}
				}
			})
			everyFlow(w, &canaries{handler: w.app, secrets: map[string]string{}})
			want := []string{
				"provider discover: ok plain", "provider token: ok plain", "provider userinfo: ok plain",
				"provider token: ok vouching", "provider authorize: ok credentials", "store transaction: refused",
				"provider mail: ok email", "store create user: ok", "store read user by account: absent",
				"store use verification token: absent",
			}
			if strategy == core.StrategyDatabase {
				want = append(want, "store read session: ok", "store delete session: ok")
			}
			for _, call := range want {
				if o.told[call] == 0 {
					t.Errorf("not reported: %s", call)
				}
			}
			if o.open != 0 || !within["token"] || !within["userinfo"] || within[nil] {
				t.Errorf("%d calls have not ended; providers are asked within %v", o.open, within)
			}
			for call := range o.told {
				if _, id, ok := strings.Cut(call, ": "); !ok || strings.Count(id, " ") > 1 || strings.Contains(call, "CANARY") {
					t.Errorf("got %q", call)
				}
			}
			if t.Failed() {
				t.Log(o.told)
			}
		})
	}
}

// TestObserveRefusedPassword checks that wrong credentials are reported as refused, whether or not Authorize returns an
// error.
func TestObserveRefusedPassword(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, core.NewError(core.ErrCredentialsSignin, nil)} {
		var o observer
		a := newApp(t, core.Config{Observe: o.observe, Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, err },
		}}})
		visit(t, a).submit("/auth/callback/credentials", url.Values{"email": {"x"}})
		if len(o.told) != 1 || o.told["provider authorize: refused credentials"] != 1 {
			t.Errorf("got %v", o.told)
		}
	}
}

// TestObserveMayDoNothing checks that functions that return nil or panic have no effect.
func TestObserveMayDoNothing(t *testing.T) {
	t.Parallel()
	type ended = func(observe.Outcome)
	panics := func(observe.Outcome) { panic("observer") }
	for name, observer := range map[string]func(context.Context, observe.Call) (context.Context, ended){
		"nothing":             func(context.Context, observe.Call) (context.Context, ended) { return nil, nil },
		"panic":               func(context.Context, observe.Call) (context.Context, ended) { panic("observer") },
		"panic when it ended": func(context.Context, observe.Call) (context.Context, ended) { return nil, panics },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := passwords()
			authorize := provider.Authorize
			provider.Authorize = func(ctx context.Context, f map[string]string, r *core.Request) (*core.User, error) {
				if ctx == nil {
					t.Error("Authorize has no context")
				}
				return authorize(ctx, f, r)
			}
			a := newApp(t, core.Config{Providers: []core.Provider{provider}, Observe: observer})
			b := visit(t, a)
			signIn(t, b)
			if who := string(b.get("/auth/session").Body); !strings.Contains(who, "ada@example.com") {
				t.Errorf("the session is %s", who)
			}
			if logged := strings.Contains(a.log.String(), "level=ERROR"); logged != strings.HasPrefix(name, "panic") {
				t.Errorf("the log has\n%s", a.log)
			}
		})
	}
}

// TestObserveCleanUp checks that a cleanup in the background is reported too.
func TestObserveCleanUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o observer
		s := &expiring{}
		a, signIn := cleaned(t, s, core.Config{Observe: o.observe})
		a.clock.Advance(3 * slot)
		signIn()
		if s.runs() != 1 || o.told["store delete expired sessions: ok"] != 1 {
			t.Errorf("%d runs, got %v", s.runs(), o.told)
		}
	})
}
