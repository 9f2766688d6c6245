package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/core/store"
)

// most is how many sessions a store holds at the end.
var most = flag.Int("sessions", 100_000, "sessions that a store holds at most in BenchmarkGrowth")

// engineNames are what readers of a picture call the stores.
var engineNames = map[string]string{"memory": "memory", "sqlite": "SQLite", "postgres": "PostgreSQL", "redis": "Redis"}

// growSessions measures look-ups among more and more sessions, on each store that can be reached. Every look-up is for
// another session.
func growSessions(b *testing.B) {
	for _, name := range reachable() {
		b.Run(engineNames[name], func(b *testing.B) { growSessionsIn(b, name) })
	}
}

func growSessionsIn(b *testing.B, name string) {
	dir := b.TempDir()
	s, err := openStore(b.Context(), name, dir)
	if err != nil {
		b.Fatal(err)
	}
	owner := "growth-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if _, err := s.CreateUser(b.Context(), &store.User{ID: owner, Name: personName}); err != nil {
		b.Fatal(err)
	}
	there, empty := 0, sizeOf(b, name, dir)
	for n := 1000; n <= *most; n *= 10 {
		addSessions(b, s.(store.SessionStore), s, owner, there, n)
		there = n
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			i := 0
			lookUp(b, func(ctx context.Context) error {
				i = (i + 7919) % n // a prime: not one after the other
				_, _, err := s.(store.SessionStore).SessionAndUser(ctx, owner+strconv.Itoa(i))
				return err
			})
			b.ReportMetric((sizeOf(b, name, dir)-empty)/float64(n), "B/session")
		})
	}
	if d, ok := s.(store.UserDeleter); ok {
		if err := d.DeleteUser(context.WithoutCancel(b.Context()), owner); err != nil {
			b.Error(err)
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

// sizeOf is how many bytes a store takes: of its file with the log, of its table with the indexes, or of the server's
// memory. It is 0 for a store in the memory of this process.
func sizeOf(b *testing.B, name, dir string) (size float64) {
	b.Helper()
	var err error
	switch name {
	case "sqlite":
		var files []string
		files, err = filepath.Glob(filepath.Join(dir, "sessions.db*"))
		for _, file := range files {
			if info, e := os.Stat(file); e == nil {
				size += float64(info.Size())
			}
		}
	case "postgres":
		var conn *pgx.Conn
		if conn, err = pgx.Connect(b.Context(), os.Getenv(postgresURL)); err == nil {
			err = conn.QueryRow(b.Context(), "SELECT pg_total_relation_size('sessions')").Scan(&size)
			err = errors.Join(err, conn.Close(b.Context()))
		}
	case "redis":
		var options *redis.Options
		if options, err = redis.ParseURL(os.Getenv(redisURL)); err == nil {
			client := redis.NewClient(options)
			defer func() { _ = client.Close() }()
			var memory string
			memory, err = client.Info(b.Context(), "memory").Result()
			_, memory, _ = strings.Cut(memory, "used_memory:")
			memory, _, _ = strings.Cut(memory, "\r\n")
			if err == nil {
				size, err = strconv.ParseFloat(memory, 64)
			}
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	return size
}
