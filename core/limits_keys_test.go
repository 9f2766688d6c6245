package core_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
)

// keyRate allows ten requests with a key immediately, and one more each second.
var keyRate = map[limit.Attempt]limit.Rates{
	limit.AttemptKeyUse: {Identifier: limit.Rate{Burst: 10, Every: time.Second}},
}

// valid is a keyring that accepts all credentials.
func valid(change func(*core.Config)) *keyring {
	return &keyring{
		now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), change: change,
		verify: func(name string) (*core.Principal, error) {
			return &core.Principal{UserID: "1", Credential: "key:" + name}, nil
		},
	}
}

// TestKeyUse sends more requests with valid credentials than the rate allows.
func TestKeyUse(t *testing.T) {
	for _, row := range []struct {
		name    string
		change  func(*core.Config)
		allowed int
	}{
		{"no rate", func(*core.Config) {}, 100},
		{"a rate", func(c *core.Config) { c.Limits.Rates = keyRate }, 10},
		{"a callback", func(c *core.Config) {
			used := 0
			c.Callbacks.Limit = func(_ context.Context, p core.LimitParams) (time.Duration, error) {
				if p.Attempt == limit.AttemptKeyUse && p.Identifier == "key:one" {
					used++
				}
				return time.Duration(max(0, used-7)) * time.Second, nil
			}
		}, 7},
	} {
		t.Run(row.name, func(t *testing.T) {
			k := valid(row.change)
			auth, allowed := k.site(t), 0
			for i := range 100 {
				from := []string{"192.0.2.1", "198.51.100.1", "127.0.0.1"}[i%3] // the last one is a proxy
				switch r := k.ask(t, auth, "key_one", from); {
				case r == nil:
					allowed++
				case r.Status != 429 || r.Header.Get("Retry-After") != "1" && row.name == "a rate" ||
					!strings.Contains(string(r.Body), `"too_many_requests"`):
					t.Fatalf("answered %d %v %s", r.Status, r.Header, r.Body)
				}
			}
			if allowed != row.allowed {
				t.Errorf("%d requests were allowed, want %d", allowed, row.allowed)
			}
			if row.name != "a rate" {
				return
			}
			if r := k.ask(t, auth, "key_two", "192.0.2.1"); r != nil {
				t.Errorf("another key: %d", r.Status)
			}
			k.now = k.now.Add(time.Second)
			if r := k.ask(t, auth, "key_one", "192.0.2.1"); r != nil {
				t.Errorf("a second later: %d", r.Status)
			}
		})
	}
}

// TestKeyUseOfProcesses sends concurrent requests with one key to four processes. Together they allow the rate, and a
// key over its rate costs no queries.
func TestKeyUseOfProcesses(t *testing.T) {
	s := newShelf()
	var all []*keyring
	var sites []*core.Auth
	for range 4 {
		k := valid(func(c *core.Config) {
			c.Store, c.Session.Strategy = s, core.StrategyJWT
			c.Limits = core.Limits{Shared: true, Rates: map[limit.Attempt]limit.Rates{
				limit.AttemptKeyUse: {Identifier: limit.Rate{Burst: 100, Every: time.Second}},
			}}
		})
		all, sites = append(all, k), append(sites, k.site(t))
	}
	var allowed atomic.Int64
	for i, k := range all { // the first request of each process counts as an attempt, until the key is known
		if k.ask(t, sites[i], "key_one", "192.0.2.1") == nil {
			allowed.Add(1)
		}
	}
	var wait sync.WaitGroup
	for i, k := range all {
		for range 100 {
			wait.Go(func() {
				if k.ask(t, sites[i], "key_one", "192.0.2.1") == nil {
					allowed.Add(1)
				}
			})
		}
	}
	wait.Wait()
	// A process that lost five races in a row has waited, and its requests with it.
	if n := allowed.Load(); n > 100 || n < 40 {
		t.Errorf("%d requests were allowed, want 100", n)
	}
	_, writes := s.counts()
	// There are ten leases of ten requests. Each makes at most one write of each other process conflict. Four attempts are
	// counted and given back.
	if writes > 10+30+8 {
		t.Errorf("%d writes", writes)
	}
	for range 20 { // a process that has waited takes what is left
		for i, k := range all {
			k.ask(t, sites[i], "key_one", "192.0.2.1")
		}
	}
	reads, writes := s.counts()
	for range 100 {
		k := all[0]
		if r := k.ask(t, sites[0], "key_one", "192.0.2.1"); r == nil || r.Status != 429 {
			t.Fatal("a further request is allowed")
		}
	}
	if r, w := s.counts(); r != reads || w != writes {
		t.Errorf("requests over the rate: %d reads, %d writes", r-reads, w-writes)
	}
}

// TestKeyUseFailsClosed makes the store fail while it counts. The next requests do not ask it again immediately.
func TestKeyUseFailsClosed(t *testing.T) {
	s := newShelf()
	k := valid(func(c *core.Config) {
		c.Store, c.Session.Strategy = s, core.StrategyJWT
		c.Limits = core.Limits{Shared: true, Rates: keyRate}
	})
	auth := k.site(t)
	if r := k.ask(t, auth, "key_one", "192.0.2.1"); r != nil {
		t.Fatalf("the first request: %d", r.Status)
	}
	reads, _ := s.counts()
	s.fail = errors.Join(errors.New("db-1.internal"), core.ErrStoreUnavailable)
	for range 10 {
		r := k.ask(t, auth, "key_one", "192.0.2.1")
		if r == nil || r.Status != 503 || strings.Contains(string(r.Body), "db-1") {
			t.Fatalf("the store fails: %+v", r)
		}
	}
	if now, _ := s.counts(); now > reads+1 {
		t.Errorf("%d reads of a store that fails", now-reads)
	}
	s.fail = nil
	k.now = k.now.Add(time.Second)
	if r := k.ask(t, auth, "key_one", "192.0.2.1"); r != nil {
		t.Errorf("the store is back: %d", r.Status)
	}
}
