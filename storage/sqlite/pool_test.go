package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// TestFewConnections checks the number of connections with many concurrent readers: a connection for each would cost
// memory and files, and slow them down.
func TestFewConnections(t *testing.T) {
	const descriptors = "/proc/self/fd"
	if _, err := os.Stat(descriptors); err != nil {
		t.Logf("the open files of the process cannot be told here: %v", err)
		return
	}
	path := file(t)
	s := open(t, path)
	sqltest.Fill(t, s, 10)
	var readers sync.WaitGroup
	for range 64 {
		readers.Go(func() {
			for range 20 {
				if _, _, err := s.SessionAndUser(t.Context(), "s1"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
	entries, err := os.ReadDir(descriptors)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, entry := range entries {
		if to, err := os.Readlink(descriptors + "/" + entry.Name()); err == nil && to == path {
			n++
		}
	}
	if most := min(max(4, 2*runtime.GOMAXPROCS(0)), 16); n == 0 || n > most {
		t.Errorf("%d connections, want 1 to %d", n, most)
	}
}

// TestLogShrinks checks the size of the write-ahead log after a large transaction.
func TestLogShrinks(t *testing.T) {
	path := file(t)
	s := open(t, path)
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	err := s.InTransaction(t.Context(), func(ctx context.Context, tx core.Store) error {
		for i := range 24 {
			large := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
			u := &core.User{ID: fmt.Sprint("u", i), Extra: core.Members{"large": large}}
			if _, err := tx.CreateUser(ctx, u); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if grown := size(); grown < 20<<20 {
		t.Fatalf("the log has %d bytes: the transaction was too small for this test", grown)
	}
	for i := range 2 { // the first one restarts the log
		token := core.Secret(fmt.Sprint("s", i))
		session := &store.Session{Token: token, UserID: "u1", Expires: time.Unix(1, 0)}
		if err := s.CreateSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	if left := size(); left > 16<<20 {
		t.Errorf("the log keeps %d bytes", left)
	}
}

// TestQueueForALock uses a lock that another process holds longer than a writer waits. Queued calls give up when the
// first one does, and do not each wait the full time.
func TestQueueForALock(t *testing.T) {
	path := file(t)
	s := open(t, path)
	sqltest.Fill(t, s, 1)
	other, err := sql.Open("sqlite", sqlite.DSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	holding, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holding.Rollback() }()
	began := time.Now()
	gaveUp := make(chan time.Duration, 3)
	for range cap(gaveUp) {
		go func() {
			if err := s.UpdateSession(t.Context(), "s0", time.Unix(1, 0)); err == nil || errors.Is(err, core.ErrNotFound) {
				t.Errorf("error %v", err)
			}
			gaveUp <- time.Since(began)
		}()
	}
	first, second, last := <-gaveUp, <-gaveUp, <-gaveUp
	// With separate waits it would be three times as long. On a busy machine the first one is late, too.
	if first < 4*time.Second || last > 2*first {
		t.Errorf("gave up after %v, %v and %v, want some 5 s each", first, second, last)
	}
}
