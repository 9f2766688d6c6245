package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// BenchmarkLookups compares a store's lookup of a session and its user with the database driver alone. The difference
// is Latchkey's cost, plus what the baseline omits.
func BenchmarkLookups(b *testing.B) {
	for _, name := range reachable() {
		if name == "memory" {
			continue
		}
		dir := b.TempDir()
		find, err := floorStore(b.Context(), name, dir)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/floor", func(b *testing.B) {
			lookUp(b, func(ctx context.Context) error {
				_, err := find(ctx, floorToken)
				return err
			})
		})
		kept, token := aSession(b, name, dir)
		b.Run(name+"/latchkey", func(b *testing.B) {
			lookUp(b, func(ctx context.Context) error {
				_, _, err := kept.SessionAndUser(ctx, token)
				return err
			})
		})
	}
}

// aSession opens a store and creates a session.
func aSession(tb testing.TB, name, dir string) (kept store.SessionStore, token string) {
	tb.Helper()
	s, err := openStore(tb.Context(), name, dir)
	if err != nil {
		tb.Fatal(err)
	}
	person, err := personIn(s, &store.User{ID: personID, Name: personName, Email: personEmail, Image: personImage})
	if err != nil {
		tb.Fatal(err)
	}
	kept, token = s.(store.SessionStore), strings.Replace(floorToken, "2f", "3f", 1)
	_, _ = kept.DeleteSession(tb.Context(), token) // from an earlier run
	session := &store.Session{Token: store.Secret(token), UserID: person.ID, Expires: time.Now().Add(month)}
	if err := kept.CreateSession(tb.Context(), session); err != nil {
		tb.Fatal(err)
	}
	return kept, token
}

func lookUp(b *testing.B, find func(context.Context) error) {
	b.Helper()
	ctx := b.Context()
	b.ReportAllocs()
	before := processor(b)
	for b.Loop() {
		if err := find(ctx); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processor(b)-before)/float64(b.N), "cpu-ns/op")
}

// looked is the allowed number of allocations of a lookup, including the driver's.
var looked = map[string]float64{"sqlite": 44, "postgres": 16, "redis": 47}

// TestLookupAllocations checks that lookups do not need more allocations than allowed.
func TestLookupAllocations(t *testing.T) {
	if withoutRaceDetector(t) {
		return
	}
	for _, name := range reachable() {
		most, known := looked[name]
		if !known {
			continue // TestAllocations checks it
		}
		kept, token := aSession(t, name, t.TempDir())
		got := least(3, func() float64 {
			return testing.AllocsPerRun(100, func() {
				if _, _, err := kept.SessionAndUser(t.Context(), token); err != nil {
					t.Fatal(err)
				}
			})
		})
		if got > most {
			t.Errorf("%s: %v allocations, %v at most", name, got, most)
		}
	}
}
