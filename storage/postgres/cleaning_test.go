package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/storage/sql/sqltest"
)

// TestCleaningInBatches stops with its context between two of them.
func TestCleaningInBatches(t *testing.T) {
	sqltest.Cleaning(t, open(t, schema(t)), storetest.NewCountdown)
}

// TestTransactionsAreBegunAgain when the engine undid them.
func TestTransactionsAreBegunAgain(t *testing.T) { sqltest.Deadlock(t, open(t, schema(t))) }

// TestCleaningSparesWhatWasExtended is a session that has ended when DeleteExpired looks, and is extended before it
// deletes.
func TestCleaningSparesWhatWasExtended(t *testing.T) {
	dsn := schema(t)
	s := open(t, dsn+"&enable_seqscan=off") // as on a table of some size
	sqltest.Fill(t, s, 10)                  // s0 to s9, of u0
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const extend = `UPDATE sessions SET expires = '2040-01-01' WHERE "sessionToken" = 's3'`
	if _, err := tx.Exec(t.Context(), extend); err != nil {
		t.Fatal(err)
	}
	var cleaning sync.WaitGroup
	cleaning.Go(func() {
		n, err := s.DeleteExpired(t.Context(), time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil || n != 9 {
			t.Errorf("%d rows went, error %v, want 9", n, err)
		}
	})
	for waits := false; !waits; { // for the row
		err := tx.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND transactionid IN
			(SELECT transactionid FROM pg_locks WHERE pid = pg_backend_pid() AND transactionid IS NOT NULL))`).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	cleaning.Wait()
	if _, _, err := s.SessionAndUser(t.Context(), "s3"); err != nil {
		t.Errorf("the session that was extended: %v", err)
	}
}
