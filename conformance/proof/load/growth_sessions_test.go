package main

import (
	"context"
	"flag"
	"strconv"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// most is how many sessions a store holds at the end.
var most = flag.Int("sessions", 100_000, "sessions that a store holds at most in BenchmarkGrowth")

// engineNames are what readers of a picture call the stores.
var engineNames = map[string]string{"memory": "memory", "sqlite": "SQLite", "postgres": "PostgreSQL", "redis": "Redis"}

// growSessions measures look-ups among more and more sessions, on each store that can be reached. Every look-up is for
// another session.
func growSessions(b *testing.B) {
	b.Helper()
	for _, name := range reachable() {
		s, err := openStore(b.Context(), name, b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		owner := "growth-" + strconv.FormatInt(time.Now().UnixNano(), 36)
		if _, err := s.CreateUser(b.Context(), &store.User{ID: owner, Name: personName}); err != nil {
			b.Fatal(err)
		}
		there := 0
		for n := 1000; n <= *most; n *= 10 {
			addSessions(b, s.(store.SessionStore), s, owner, there, n)
			there = n
			b.Run("sessions/"+engineNames[name]+"/"+strconv.Itoa(n), func(b *testing.B) {
				i := 0
				lookUp(b, func(ctx context.Context) error {
					i = (i + 7919) % n // a prime: not one after the other
					_, _, err := s.(store.SessionStore).SessionAndUser(ctx, owner+strconv.Itoa(i))
					return err
				})
			})
		}
		if d, ok := s.(store.UserDeleter); ok {
			if err := d.DeleteUser(context.WithoutCancel(b.Context()), owner); err != nil {
				b.Error(err)
			}
		}
	}
}

// addSessions makes the sessions from a number up to another, many in a transaction.
func addSessions(b *testing.B, sessions store.SessionStore, s store.Store, owner string, from, to int) {
	b.Helper()
	expires := time.Now().Add(month)
	add := func(ctx context.Context, into store.SessionStore, from, to int) error {
		for i := from; i < to; i++ {
			token := store.Secret(owner + strconv.Itoa(i))
			if err := into.CreateSession(ctx, &store.Session{Token: token, UserID: owner, Expires: expires}); err != nil {
				return err
			}
		}
		return nil
	}
	const batch = 500
	for ; from < to; from += batch {
		end := min(from+batch, to)
		var err error
		if tx, ok := s.(store.Transactor); ok {
			err = tx.InTransaction(b.Context(), func(ctx context.Context, s store.Store) error {
				return add(ctx, s.(store.SessionStore), from, end)
			})
		} else {
			err = add(b.Context(), sessions, from, end)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
