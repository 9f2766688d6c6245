package password_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// paced is a site with hashes of another system that contain their duration: "slow$173ms$password". Its clock advances
// while they are compared and while rejected sign-ins wait.
type paced struct {
	*world
	mu     sync.Mutex
	waited time.Duration
	inSlot bool // a sign-in waited while a hash had a slot
}

func newPaced(t *testing.T) *paced {
	p := &paced{}
	slow := password.Func(
		func(encoded string) bool { return strings.HasPrefix(encoded, "slow$") },
		func(encoded string, typed []byte) (bool, error) {
			parts := strings.Split(encoded, "$")
			d, err := time.ParseDuration(parts[1])
			p.advance(d)
			return parts[2] == string(typed), err
		})
	p.world = site(t, func(o *password.Options, _ *core.Config) { o.LegacyHashes = []password.Verifier{slow} })
	p.provider.Sleep(func(_ context.Context, d time.Duration) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.inSlot = p.inSlot || p.provider.Stats().Busy > 0
		p.waited += d
		p.advance(d)
	})
	return p
}

// imported creates a user with a hash of this duration.
func (p *paced) imported(email, takes string) {
	p.t.Helper()
	u, err := p.store.Store.CreateUser(p.t.Context(), &core.User{ID: core.NewID(), Email: email, EmailVerified: p.Now()})
	if err == nil {
		err = p.provider.Import(p.t.Context(), u.ID, "slow$"+takes+"$"+good)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// takes returns the duration of a sign-in by the site's clock.
func (p *paced) takes(email, secret string) time.Duration {
	p.t.Helper()
	b := p.visit()
	token := b.csrf()
	began := p.Now()
	b.send("POST", "/auth/callback/password", "application/x-www-form-urlencoded",
		encode("csrfToken", token, "email", email, "password", secret))
	return p.Now().Sub(began)
}

// TestImportedHashesTakeNoOtherTime: after a comparison with a hash of another system, a wrong password takes the same
// time for that hash, for a hash of this package, for a cheaper one, and for an unknown address.
func TestImportedHashesTakeNoOtherTime(t *testing.T) {
	t.Parallel()
	p := newPaced(t)
	p.signUp(ada, good)
	p.imported("bob@example.com", "173ms")
	p.imported("carol@example.com", "900ms")
	p.imported("dan@example.com", "1ms")
	same := func(want time.Duration) {
		t.Helper()
		for _, email := range []string{"nobody@example.com", ada, "bob@example.com", "dan@example.com"} {
			if got := p.takes(email, "a wrong password"); got != want {
				t.Errorf("a wrong password for %s takes %v, want %v", email, got, want)
			}
		}
	}
	p.takes("bob@example.com", "a wrong password")
	same(173 * time.Millisecond)
	if got := p.takes("carol@example.com", "a wrong password"); got != 900*time.Millisecond {
		t.Errorf("the slowest of all takes %v", got)
	}
	same(900 * time.Millisecond)
	p.advance(50 * time.Minute)
	same(900 * time.Millisecond) // a minute of the last hour
	p.advance(11 * time.Minute)
	p.takes("bob@example.com", "a wrong password")
	p.advance(55 * time.Minute) // the comparisons since then took 173 ms or less
	same(173 * time.Millisecond)
	p.advance(48 * time.Hour)
	same(173 * time.Millisecond) // there were no comparisons for two days: the previous minimum stays
	if p.inSlot {
		t.Error("a sign-in waits in a slot of the queue")
	}
	p.waited = 0
	if got := p.takes("bob@example.com", good); got != 173*time.Millisecond || p.waited != 0 {
		t.Errorf("a right password takes %v, of which %v are waited for", got, p.waited)
	}
}

// TestPaceIsBounded: after a comparison that hung, other sign-ins wait for at most five seconds. Without hashes of
// other systems no sign-in waits.
func TestPaceIsBounded(t *testing.T) {
	t.Parallel()
	p := newPaced(t)
	p.imported("bob@example.com", "10m")
	p.takes("bob@example.com", "a wrong password")
	if got := p.takes("nobody@example.com", "a wrong password"); got != 5*time.Second {
		t.Errorf("an unknown address takes %v", got)
	}
	w := site(t)
	w.provider.Sleep(func(context.Context, time.Duration) { t.Error("a sign-in waits without Import") })
	w.signUp(ada, good)
	for _, email := range []string{ada, "nobody@example.com"} {
		w.signIn(email, "a wrong password")
	}
}

// TestSharedProviderKeepsNoAuths: a provider that several Auths use in succession does not keep the earlier ones in
// memory. The last one can still be managed.
func TestSharedProviderKeepsNoAuths(t *testing.T) { // not parallel: it runs the garbage collector
	provider := password.New(password.Options{Mail: &postbox{}})
	made := func() *core.Auth {
		auth, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test", Store: memory.New(),
			Session:   core.SessionConfig{Strategy: core.StrategyDatabase},
			Providers: []core.Provider{provider}, Getenv: func(string) string { return "" }, CleanUp: core.False,
		})
		if err != nil {
			t.Fatal(err)
		}
		return auth
	}
	for range 100 {
		made()
	}
	var last *core.Auth
	for range 20 { // an Auth may have its own cleanup functions
		runtime.GC()
		last = made()
		if provider.Kept() < 5 {
			break
		}
	}
	if n := provider.Kept(); n >= 5 {
		t.Errorf("%d Auths are kept", n)
	}
	runtime.GC()
	if err := provider.Remove(t.Context(), "nobody"); err == nil || strings.Contains(err.Error(), "configuration") {
		t.Errorf("the one that is in use: %v", err)
	}
	runtime.KeepAlive(last)
}
