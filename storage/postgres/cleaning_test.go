package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
)

// TestCleaningInBatches ends the context between two batches.
func TestCleaningInBatches(t *testing.T) {
	sqltest.Cleaning(t, open(t, engines.PostgresSchema(t)))
}

// TestTransactionsAreBegunAgain checks that transactions run again after the database has aborted them.
func TestTransactionsAreBegunAgain(t *testing.T) {
	sqltest.Deadlock(t, open(t, engines.PostgresSchema(t)))
}

// TestCleaningSparesWhatWasExtended extends an expired session after DeleteExpired has selected it and before it
// deletes it.
func TestCleaningSparesWhatWasExtended(t *testing.T) {
	dsn := engines.PostgresSchema(t)
	s := open(t, dsn+"&enable_seqscan=off") // as on a larger table
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
	for waits := false; !waits; { // it waits for the row
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

// TestCleaningContinuesWhereItStopped checks that a batch reads few of the deleted rows, which stay in the index until
// a vacuum. Otherwise each batch would take longer than the previous one.
func TestCleaningContinuesWhereItStopped(t *testing.T) {
	const rows = 50_000
	dsn := engines.PostgresSchema(t)
	s := open(t, dsn)
	execute(t, dsn,
		"ALTER TABLE sessions SET (autovacuum_enabled = off)", "INSERT INTO users (id) VALUES ('u')",
		`INSERT INTO sessions ("sessionToken", "userId", expires)
			SELECT 's' || n, 'u', '2030-01-01'::timestamptz + n * interval '1 second' FROM generate_series(1, 50000) AS n`,
		"DROP INDEX sessions_expires", "CREATE INDEX sessions_expires ON sessions (expires)", "ANALYZE sessions",
	)
	n, err := s.DeleteExpired(t.Context(), time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || n != rows {
		t.Fatalf("%d rows went, %v", n, err)
	}
	if err := s.Close(); err != nil { // connections report their statistics when they end
		t.Fatal(err)
	}
	const each = `SELECT COALESCE((idx_blks_read + idx_blks_hit) / NULLIF(idx_scan, 0), 0)
		FROM pg_stat_user_indexes JOIN pg_statio_user_indexes USING (schemaname, indexrelname)
		WHERE schemaname = current_schema() AND indexrelname = 'sessions_expires'`
	pages := 0
	for pages == 0 {
		pages = count(t, dsn, each)
	}
	if pages > 12 {
		t.Errorf("a batch went through %d pages of the index", pages)
	}
}
