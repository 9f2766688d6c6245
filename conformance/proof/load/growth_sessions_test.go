package main

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

var (
	// most is the number of sessions in a store at the end.
	most = flag.Int("sessions", 100_000, "sessions that a store holds at most in BenchmarkGrowth")
	// cleaning is the time in which DeleteExpired must finish then.
	cleaning = flag.Duration("cleaning", 0, "how long DeleteExpired may take in the end; 0: it is not called")
)

// mostInMemory is the maximum number of sessions in an in-memory store. They are in this process's memory.
const mostInMemory = 1_000_000

// engineNames are the names of the stores in diagrams.
var engineNames = map[string]string{"memory": "memory", "sqlite": "SQLite", "postgres": "PostgreSQL", "redis": "Redis"}

// growSessions measures lookups with increasing numbers of sessions, on each reachable store. At the end it measures
// sign-ins while half of the sessions are deleted.
func growSessions(b *testing.B) {
	for _, name := range reachable() {
		b.Run(engineNames[name], func(b *testing.B) { growSessionsIn(b, name) })
	}
}

func growSessionsIn(b *testing.B, name string) {
	p, err := newPlace(b.Context(), name, b.TempDir(), crowd{time.Now().Truncate(time.Second)})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := p.clear(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	}()
	there, taken := 0, 0.0
	for n := 1000; n <= *most && (name != "memory" || n <= mostInMemory); n *= 10 {
		began := time.Now()
		taken += p.grow(b, there, n)
		there = n
		b.Logf("%d sessions are there after %v", n, time.Since(began).Round(time.Second))
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			find(b, p.Store.(store.SessionStore), n)
			b.ReportMetric(taken/float64(n), "B/session")
		})
	}
	if *cleaning > 0 && name != "memory" {
		b.Run("expired", func(b *testing.B) { expire(b, p, there) })
	}
}

// grow adds sessions and their users, and returns the bytes that the sessions need.
func (p *place) grow(b *testing.B, from, to int) float64 {
	b.Helper()
	if err := p.people(b.Context(), from/devices, to/devices); err != nil {
		b.Fatal(err)
	}
	before, err := p.size(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if err := p.sessions(b.Context(), from, to); err != nil {
		b.Fatal(err)
	}
	after, err := p.size(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return after - before
}

// find looks up a different session each time, in five rounds, and reports the fastest round. Other programs can only
// make a round slower.
func find(b *testing.B, sessions store.SessionStore, many int) {
	b.Helper()
	const rounds, each = 5, 4000
	source := rand.New(rand.NewPCG(1, 2))
	var used, half, late []float64
	for b.Loop() {
		for range rounds {
			waits, before := make([]time.Duration, each), processor(b)
			for i := range waits {
				wanted := string(token(source.IntN(many/2)*2 + 1))
				began := time.Now()
				if _, _, err := sessions.SessionAndUser(b.Context(), wanted); err != nil {
					b.Fatal(err)
				}
				waits[i] = time.Since(began)
			}
			used = append(used, float64(processor(b)-before)/each)
			slices.Sort(waits)
			half, late = append(half, float64(waits[each/2])), append(late, float64(waits[each*99/100]))
		}
	}
	b.ReportMetric(slices.Min(used), "cpu-ns/op")
	b.ReportMetric(slices.Min(half), "p50-ns")
	b.ReportMetric(slices.Min(late), "p99-ns")
}
