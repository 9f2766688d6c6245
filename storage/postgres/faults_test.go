package postgres_test

import (
	"bytes"
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

func TestOutages(t *testing.T) {
	e := engines.StartPostgres(t, "synchronous_commit=on")
	pool, err := pgxpool.New(t.Context(), e.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	fromPool, err := postgres.NewFromPool(pool, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fromPool.Close() })
	for name, s := range map[string]*postgres.Store{"opened": open(t, e.URL), "from a pool": fromPool} {
		t.Run(name+"/stopped", func(t *testing.T) {
			storetest.Trouble("postgres").Outage(t, s, 5*time.Second, func() { e.Stop(t) }, func() { e.Start(t) })
		})
		t.Run(name+"/killed", func(t *testing.T) {
			storetest.Trouble("postgres").Outage(t, s, 5*time.Second, func() { e.Kill(t) }, func() { e.Start(t) })
		})
		t.Run(name+"/slow", func(t *testing.T) {
			storetest.Trouble("postgres").Outage(t, s, 100*time.Millisecond, func() { e.Pause(t) }, func() { e.Resume(t) })
		})
		t.Run(name+"/hanging", func(t *testing.T) {
			storetest.Trouble("postgres").Hang(t, s, func() { e.Pause(t) }, func() { e.Resume(t) })
		})
	}
	t.Run("killed in a request", func(t *testing.T) {
		s := open(t, e.URL)
		storetest.Trouble("postgres").InFlight(t, s, []string{"update user"},
			func(id string) { lock(t, e.URL, id) }, func() { e.Kill(t) }, func() { e.Start(t) })
	})
}

// lock locks the row of a user until the server stops or the test ends.
func lock(t *testing.T, dsn, id string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM users WHERE id = $1 FOR UPDATE", id); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnly(t *testing.T) {
	e := engines.StartPostgres(t)
	s := open(t, e.URL)
	sqltest.Fill(t, s, 1)
	readOnly := func(setting string) {
		execute(t, e.URL, "SET default_transaction_read_only = off",
			"ALTER SYSTEM SET default_transaction_read_only = "+setting, "SELECT pg_reload_conf()")
		eventually(t, func() bool {
			err := s.UpdateSession(t.Context(), "s0", time.Unix(1, 0))
			return (err != nil) == (setting == "on")
		})
	}
	readOnly("on")
	storetest.Trouble("postgres").Fails(t, s, "", time.Minute, storetest.Trouble("postgres").Reads(s)...)
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	readOnly("off")
	if err := s.DeleteUser(t.Context(), "u0"); err != nil {
		t.Error(err)
	}
}

// eventually waits for background work of the database.
func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			t.Fatal("it did not happen")
		}
	}
}

// TestFull limits the size of the server's files, which the server sees like a full disk.
func TestFull(t *testing.T) {
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("prlimit, of util-linux, limits the size of files here")
	}
	e := engines.StartPostgres(t, "wal_init_zero=off")
	s := open(t, e.URL)
	sqltest.Fill(t, s, 1)
	e.LimitFiles(t, 20_000_000)
	ids := storetest.Trouble("postgres").FillUp(t, s, 1<<20, 100)
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	e.LimitFiles(t, 0)
	if err := s.DeleteUser(t.Context(), ids[0]); err != nil {
		t.Error(err)
	}
	if _, err := s.CreateUser(t.Context(), dbtest.Large("again", 1<<20)); err != nil {
		t.Error(err)
	}
}

// TestKilledWhileWriting kills the server repeatedly. Acknowledged data must exist, and nothing in part.
func TestKilledWhileWriting(t *testing.T) {
	e := engines.StartPostgres(t, "synchronous_commit=on", "full_page_writes=on")
	s := open(t, e.URL)
	next := 0
	for round := range 8 {
		var acknowledged bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- dbtest.Write(context.WithoutCancel(t.Context()), s, next, &acknowledged) }()
		time.Sleep(time.Duration(20+30*round) * time.Millisecond) // during the writes
		e.Kill(t)
		if err := <-ended; err == nil {
			t.Fatal("a server that is dead acknowledged")
		}
		e.Start(t)
		eventually(t, func() bool { _, err := s.DeleteExpired(t.Context(), time.Unix(0, 0)); return err == nil })
		before := next
		next = dbtest.CheckWritten(t, s, next, &acknowledged)
		t.Logf("round %d: %d acknowledged or whole", round, next-before)
	}
}
