package mysql_test

import (
	"bytes"
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	"github.com/latchkey-go/latchkey/storage/mysql"
)

// withSettings returns a data source name with a database for the test and other settings.
func withSettings(t *testing.T, dsn string, set func(c *driver.Config)) string {
	t.Helper()
	config, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.DBName = "app"
	set(config)
	return config.FormatDSN()
}

func TestOutages(t *testing.T) {
	e := engines.StartMariaDB(t, "innodb-flush-log-at-trx-commit=2")
	execute(t, e.URL, "CREATE DATABASE app")
	dsn := withSettings(t, e.URL, func(*driver.Config) {})
	s := open(t, dsn)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	own, err := mysql.New(db, mysql.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*mysql.Store{"opened": s, "own handle": own} {
		t.Run(name+"/stopped", func(t *testing.T) {
			storetest.Trouble("mysql").Outage(t, s, 5*time.Second, func() { e.Stop(t) }, func() { e.Start(t) })
		})
		t.Run(name+"/killed", func(t *testing.T) {
			storetest.Trouble("mysql").Outage(t, s, 5*time.Second, func() { e.Kill(t) }, func() { e.Start(t) })
		})
		t.Run(name+"/slow", func(t *testing.T) {
			storetest.Trouble("mysql").Outage(t, s, 100*time.Millisecond, func() { e.Pause(t) }, func() { e.Resume(t) })
		})
		t.Run(name+"/hanging", func(t *testing.T) {
			storetest.Trouble("mysql").Hang(t, s, func() { e.Pause(t) }, func() { e.Resume(t) })
		})
	}
	t.Run("killed in a request", func(t *testing.T) {
		storetest.Trouble("mysql").InFlight(t, s, []string{"update user"},
			func(id string) { lock(t, dsn, id) }, func() { e.Kill(t) }, func() { e.Start(t) })
	})
}

// lock locks the row of a user until the server stops or the test ends.
func lock(t *testing.T, dsn, id string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.ExecContext(t.Context(), "UPDATE users SET image = 'locked' WHERE id = ?", id); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnly(t *testing.T) {
	e := engines.StartMariaDB(t)
	// An administrator of a read-only server can still write.
	execute(t, e.URL, "CREATE DATABASE app", "CREATE USER app@'%'", "GRANT ALL ON app.* TO app@'%'")
	s := open(t, withSettings(t, e.URL, func(c *driver.Config) { c.User = "app" }))
	sqltest.Fill(t, s, 1)
	execute(t, e.URL, "SET GLOBAL read_only = 1")
	// These read the row first, and there is none.
	serve := append(storetest.Trouble("mysql").Reads(s), "delete session", "use verification token")
	storetest.Trouble("mysql").Fails(t, s, "", time.Minute, serve...)
	_, err := s.DeleteSession(t.Context(), "s0")
	if err == nil || !strings.HasPrefix(err.Error(), "mysql: delete session: ") {
		t.Errorf("error %v", err)
	}
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	execute(t, e.URL, "SET GLOBAL read_only = 0")
	if err := s.DeleteUser(t.Context(), "u0"); err != nil {
		t.Error(err)
	}
}

// TestFull uses a server with a size limit for its tables, until the operator raises it.
func TestFull(t *testing.T) {
	const size = "innodb-data-file-path=ibdata1:12M:autoextend:max:"
	e := engines.StartMariaDB(t, "innodb-file-per-table=0", size+"32M")
	execute(t, e.URL, "CREATE DATABASE app")
	s := open(t, withSettings(t, e.URL, func(*driver.Config) {}))
	sqltest.Fill(t, s, 1)
	ids := storetest.Trouble("mysql").FillUp(t, s, 1<<20, 100)
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	e.Stop(t)
	e.Start(t, size+"64M")
	if _, err := s.CreateUser(t.Context(), dbtest.Large("again", 1<<20)); err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if err := s.DeleteUser(t.Context(), id); err != nil {
			t.Error(err)
		}
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

// TestKilledWhileWriting kills the server repeatedly. Acknowledged data must exist, and nothing in part.
func TestKilledWhileWriting(t *testing.T) {
	// Written on every commit and synced later: the operating system keeps running.
	e := engines.StartMariaDB(t, "innodb-flush-log-at-trx-commit=2")
	execute(t, e.URL, "CREATE DATABASE app")
	s := open(t, withSettings(t, e.URL, func(*driver.Config) {}))
	next := 0
	for round := range 4 {
		var acknowledged bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- dbtest.Write(context.WithoutCancel(t.Context()), s, next, &acknowledged) }()
		time.Sleep(time.Duration(30+60*round) * time.Millisecond) // during the writes
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
