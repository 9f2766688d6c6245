package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// inPeace is the duration of sign-ins without a concurrent deletion.
const inPeace = 30 * time.Second

// expire deletes expired sessions of this number of sessions while users sign in. It stops at its time limit.
func expire(b *testing.B, p *place, many int) {
	b.Helper()
	v := &visitors{place: p, crowd: crowd{time.Now()}, many: many}
	for b.Loop() {
		v.report(b, "in-peace", v.meet(b, func() { time.Sleep(inPeace) }))
		var gone int
		var err error
		began := time.Now()
		v.report(b, "meanwhile", v.meet(b, func() {
			ctx, cancel := context.WithTimeout(b.Context(), *cleaning)
			defer cancel()
			gone, err = p.Store.(store.Cleaner).DeleteExpired(ctx, v.crowd.now)
		}))
		b.ReportMetric(time.Since(began).Seconds(), "clean-s")
		b.ReportMetric(float64(gone), "clean-rows")
		var left *store.LeftError
		if err != nil && !errors.As(err, &left) && !errors.Is(err, context.DeadlineExceeded) {
			b.Fatal(err)
		}
	}
}

// visitors are existing users who sign in, two concurrently, with five milliseconds between two sign-ins.
type visitors struct {
	*place
	crowd crowd
	many  int // number of sessions at the start

	mu   sync.Mutex
	next int
}

// meet signs users in while meanwhile runs, and returns the duration of each sign-in.
func (v *visitors) meet(b *testing.B, meanwhile func()) (waits []time.Duration) {
	b.Helper()
	var all sync.WaitGroup
	over := make(chan struct{})
	for range 2 {
		all.Go(func() {
			for {
				took, err := v.signIn(b.Context())
				if err != nil {
					b.Error(err)
					return
				}
				v.mu.Lock()
				waits = append(waits, took)
				v.mu.Unlock()
				select {
				case <-over:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	meanwhile()
	close(over)
	all.Wait()
	return waits
}

// signIn makes the store calls of a returning user: find the user, create a session, and read it for the first page.
func (v *visitors) signIn(ctx context.Context) (took time.Duration, err error) {
	v.mu.Lock()
	v.next += 2
	n := v.many + v.next + 1 // odd, so it has not expired
	v.mu.Unlock()
	session := v.crowd.session(n)
	person := v.crowd.person(n % (v.many / devices))
	session.UserID = person.ID
	began := time.Now()
	if _, err = v.UserByEmail(ctx, person.Email); err != nil {
		return 0, fmt.Errorf("find who signs in: %w", err)
	}
	sessions := v.Store.(store.SessionStore)
	if err = sessions.CreateSession(ctx, session); err != nil {
		return 0, fmt.Errorf("make the session: %w", err)
	}
	_, _, err = sessions.SessionAndUser(ctx, string(session.Token))
	return time.Since(began), err
}

func (*visitors) report(b *testing.B, name string, waits []time.Duration) {
	b.Helper()
	if len(waits) == 0 {
		b.Fatal("no user signed in")
	}
	slices.Sort(waits)
	for label, part := range map[string]float64{"p50": 0.5, "p99": 0.99, "longest": 1} {
		at := waits[int(part*float64(len(waits)-1))]
		b.ReportMetric(float64(at.Microseconds()), name+"-"+label+"-µs")
	}
}
