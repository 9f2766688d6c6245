package password

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
)

func newQueue(slots int) *queue { return &queue{slots: slots, wait: maxWait} }

// TestQueueBounds fills two slots and their waiting places. No further hash is computed, the next request is rejected
// immediately, and waiting requests are rejected after three seconds.
func TestQueueBounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2)
		release := make(chan struct{})
		var inside, most, done, busy atomic.Int64
		var all sync.WaitGroup
		for range 2 + waitingPerSlot {
			all.Go(func() {
				err := q.do(context.Background(), func() {
					most.Store(max(most.Load(), inside.Add(1)))
					<-release
					inside.Add(-1)
				})
				if errors.Is(err, errBusy) {
					busy.Add(1)
				} else if err == nil {
					done.Add(1)
				}
			})
		}
		synctest.Wait()
		if got, want := q.stats(), (observe.HashStats{Slots: 2, Busy: 2, Waiting: waitingPerSlot}); got != want {
			t.Errorf("while all wait the load is %+v, want %+v", got, want)
		}
		began := time.Now()
		if err := q.do(context.Background(), func() {}); !errors.Is(err, errBusy) || time.Since(began) > 0 {
			t.Errorf("one too many: %v after %v", err, time.Since(began))
		}
		time.Sleep(maxWait + time.Millisecond)
		if got := busy.Load(); got != waitingPerSlot {
			t.Errorf("%d were turned away after the longest wait", got)
		}
		close(release)
		all.Wait()
		if done.Load() != 2 || most.Load() != 2 {
			t.Errorf("%d computed, %d at once", done.Load(), most.Load())
		}
		if err := q.do(context.Background(), func() {}); err != nil || q.stats().Waiting != 0 {
			t.Errorf("afterwards: %v, %d wait", err, q.stats().Waiting)
		}
		if got, want := q.stats(), (observe.HashStats{Slots: 2, Refused: 1 + waitingPerSlot}); got != want {
			t.Errorf("afterwards the load is %+v, want %+v", got, want)
		}
	})
}

// TestQueueDropsCanceledCalls: a client that has disconnected takes no slot and no place.
func TestQueueDropsCanceledCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		release := make(chan struct{})
		go func() { _ = q.do(context.Background(), func() { <-release }) }()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { left <- q.do(ctx, func() { t.Error("computed after the client disconnected") }) }()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) || q.stats().Waiting != 0 {
			t.Errorf("%v, %d wait", err, q.stats().Waiting)
		}
		close(release)
		synctest.Wait()
		if err := q.do(ctx, func() { t.Error("computed after the client disconnected") }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestQueueOutlivesPanics: the slot of work that panics is free again.
func TestQueueOutlivesPanics(t *testing.T) {
	t.Parallel()
	q := newQueue(1)
	func() {
		defer func() { _ = recover() }()
		_ = q.do(t.Context(), func() { panic("verifier") })
	}()
	if err := q.do(t.Context(), func() {}); err != nil {
		t.Error(err)
	}
}

// TestQueueFlood fills the queue in all ways to be many or unidentified. Clients elsewhere and the owner in a known
// browser still get a slot within the longest wait.
func TestQueueFlood(t *testing.T) {
	t.Parallel()
	v6 := func(third, fourth int) place {
		at := netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, byte(third >> 8), byte(third), byte(fourth >> 8), byte(fourth)})
		return place{identified, []netip.Prefix{
			netip.PrefixFrom(at, 64).Masked(), netip.PrefixFrom(at, 56).Masked(), netip.PrefixFrom(at, 48).Masked(),
		}}
	}
	v4 := func(i int) place {
		at := netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)})
		return place{identified, []netip.Prefix{netip.PrefixFrom(at, 32)}}
	}
	for name, row := range map[string]struct {
		attacker func(i int) place
		most     int  // waiting requests of the attacker
		others   bool // whether identified clients elsewhere get a slot
	}{
		"unidentified":          {func(int) place { return place{} }, 64, true},
		"one IPv4":              {func(int) place { return v4(1) }, 16, true},
		"one /64":               {func(int) place { return v6(1, 1) }, 16, true},
		"the /64 of one /56":    {func(i int) place { return v6(1, i%256) }, 24, true},
		"the /64 of one /48":    {func(i int) place { return v6(1, i) }, 32, true},
		"many /48":              {func(i int) place { return v6(i, 1) }, 64, false},
		"known, unidentified":   {func(int) place { return place{priority: known} }, 64, true},
		"known, one IPv4":       {func(int) place { return place{known, v4(1).networks} }, 32, true},
		"known, one /48":        {func(i int) place { return place{known, v6(1, i).networks} }, 64, true},
		"known, many addresses": {func(i int) place { return place{known, v4(i).networks} }, 128, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(2)
				hash := func() { time.Sleep(20 * time.Millisecond) }
				as := func(p place) context.Context { return context.WithValue(context.Background(), placeKey{}, p) }
				var all sync.WaitGroup
				for range 2 {
					all.Go(func() { _ = q.do(as(place{}), hash) })
				}
				synctest.Wait()
				for i := range 500 {
					all.Go(func() { _ = q.do(as(row.attacker(i)), hash) })
					synctest.Wait()
				}
				if n := q.stats().Waiting; n != row.most {
					t.Errorf("%d requests of the attacker wait, want %d", n, row.most)
				}
				elsewhere, owner, proxied := make(chan error, 1), make(chan error, 1), make(chan error, 1)
				go func() { elsewhere <- q.do(as(v4(9000)), hash) }()
				if row.most < 128 {
					go func() { owner <- q.do(as(place{known, v4(9001).networks}), hash) }()
				} else {
					owner <- nil
				}
				go func() { proxied <- q.do(as(place{}), hash) }()
				if err := <-elsewhere; (err == nil) != row.others {
					t.Errorf("a client elsewhere: %v", err)
				}
				if err := <-owner; err != nil {
					t.Errorf("the owner in a known browser: %v", err)
				}
				if err := <-proxied; err != nil && row.attacker(0).priority != unidentified {
					t.Errorf("an unidentified client: %v", err)
				}
				all.Wait()
				if q.stats().Busy != 0 || q.stats().Waiting != 0 || len(q.networks) != 0 {
					t.Errorf("afterwards: %+v, %d networks", q.stats(), len(q.networks))
				}
			})
		})
	}
}

// TestQueueTurns: waiting known clients do not keep others out, and each network has a separate share in each line.
func TestQueueTurns(t *testing.T) {
	t.Parallel()
	q := newQueue(1)
	at := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	if w, err := q.join(known, at); w != nil || err != nil {
		t.Fatalf("the slot is taken: %v", err)
	}
	waiting := map[priority]int{known: 9, identified: 3, unidentified: 1}
	for p, n := range waiting {
		for range n {
			networks := at
			if p == unidentified {
				networks = nil
			}
			if _, err := q.join(p, networks); err != nil {
				t.Fatal(err)
			}
		}
	}
	var served []priority
	for range 13 {
		before := [priorities]int{len(q.lines[0]), len(q.lines[1]), len(q.lines[2])}
		q.leave()
		for p := range priorities {
			if len(q.lines[p]) < before[p] {
				served = append(served, p)
			}
		}
	}
	k, i, u := known, identified, unidentified
	if want := []priority{k, k, k, i, k, k, k, i, k, k, k, i, u}; !slices.Equal(served, want) {
		t.Errorf("served %v, want %v", served, want)
	}
}

// TestQueueSharesOfClients: a known client has the share of its network in the line of known clients.
func TestQueueSharesOfClients(t *testing.T) {
	t.Parallel()
	at := []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")}
	for name, row := range map[string]struct {
		client core.Client
		want   place
	}{
		"known":               {core.Client{Known: true, Networks: at}, place{known, at}},
		"known, unidentified": {core.Client{Known: true}, place{priority: known}},
		"identified":          {core.Client{Networks: at}, place{identified, at}},
		"unidentified":        {core.Client{}, place{}},
	} {
		got := placeFor(row.client)
		if got.priority != row.want.priority || !slices.Equal(got.networks, row.want.networks) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
