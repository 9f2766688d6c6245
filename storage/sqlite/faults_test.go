package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/sqltest"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// writerFile and writerFirst make the test program a writer, which TestKilledWhileWriting kills.
const (
	writerFile  = "LATCHKEY_TEST_WRITER_FILE"
	writerFirst = "LATCHKEY_TEST_WRITER_FIRST"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(writerFile); path != "" {
		write(path)
	}
	os.Exit(m.Run())
}

// write writes until it is killed.
func write(path string) {
	first, err := strconv.Atoi(os.Getenv(writerFirst))
	if err != nil {
		panic(err)
	}
	s, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		panic(err)
	}
	panic(dbtest.Write(context.Background(), s, first, os.Stdout))
}

// TestKilledWhileWriting kills a writing process repeatedly. Acknowledged data must exist, and nothing in part.
func TestKilledWhileWriting(t *testing.T) {
	path := file(t)
	s := open(t, path)
	next := 0
	for round := range 12 {
		var acknowledged bytes.Buffer
		writer := exec.CommandContext(t.Context(), os.Args[0])
		writer.Env = append(os.Environ(), writerFile+"="+path, writerFirst+"="+strconv.Itoa(next))
		out, err := writer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		var reader sync.WaitGroup
		begun := make(chan struct{})
		reader.Go(func() {
			first := true
			for buffer := make([]byte, 1024); ; {
				n, err := out.Read(buffer)
				acknowledged.Write(buffer[:n])
				if first {
					close(begun)
					first = false
				}
				if err != nil {
					return
				}
			}
		})
		<-begun
		time.Sleep(time.Duration(3+7*round) * time.Millisecond) // during the writes
		if err := writer.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		reader.Wait()
		_ = writer.Wait() // returns that it was killed
		before := next
		next = dbtest.CheckWritten(t, s, next, &acknowledged)
		if next == before {
			t.Error("nothing was written")
		}
		t.Logf("round %d: %d acknowledged or whole", round, next-before)
	}
}

// TestLocked uses a file that another process has locked for writing.
func TestLocked(t *testing.T) {
	path := file(t)
	s := open(t, path)
	other, err := sql.Open("sqlite", sqlite.DSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	var holding *sql.Tx
	hold := func() {
		if holding, err = other.BeginTx(context.WithoutCancel(t.Context()), nil); err != nil {
			t.Fatal(err)
		}
	}
	release := func() {
		if err := holding.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
	sqltest.Fill(t, s, 1)
	hold()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	err = s.UpdateSession(ctx, "s0", time.Unix(1, 0))
	if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "sqlite: extend session: ") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took > 4*time.Second { // less than the store's maximum wait of 5 s
		t.Errorf("gave up after %v", took)
	}
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading meanwhile: %v", err)
	}
	release()
	if err := s.UpdateSession(t.Context(), "s0", time.Unix(1, 0)); err != nil {
		t.Error(err)
	}
}

// TestWritersOfOneStore checks that writers wait in order and until their contexts end, and that a writer that gives up
// keeps its place until then.
func TestWritersOfOneStore(t *testing.T) {
	s := open(t, file(t))
	sqltest.Fill(t, s, 10)
	inside, done := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_ = s.InTransaction(t.Context(), func(context.Context, core.Store) error {
			close(inside)
			<-done
			return nil
		})
	})
	<-inside
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.UpdateSession(ctx, "s0", time.Unix(1, 0)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	for range 50 {
		all.Go(func() {
			if err := s.UpdateSession(t.Context(), "s0", time.Unix(1, 0)); err != nil {
				t.Error(err)
			}
		})
	}
	close(done)
	all.Wait()
}

// TestOuterStoreInTransaction checks a mistake that would otherwise be a deadlock.
func TestOuterStoreInTransaction(t *testing.T) {
	s := open(t, file(t))
	err := s.InTransaction(t.Context(), func(ctx context.Context, _ core.Store) error {
		_, err := s.User(ctx, "u")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "use the store passed to the function") {
		t.Errorf("error %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	path := file(t)
	sqltest.Fill(t, open(t, path), 1)
	db, err := sql.Open("sqlite", sqlite.DSN(path)+"&mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	s, err := sqlite.New(db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.Trouble("sqlite").Fails(t, s, "", time.Minute, storetest.Trouble("sqlite").Reads(s)...)
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
}

func TestFull(t *testing.T) {
	db, err := sql.Open("sqlite", sqlite.DSN(file(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1) // the setting applies to one connection
	s, err := sqlite.New(db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	sqltest.Fill(t, s, 1)
	limit := func(pages string) {
		if _, err := db.ExecContext(t.Context(), "PRAGMA max_page_count = "+pages); err != nil {
			t.Fatal(err)
		}
	}
	limit("2000")
	ids := storetest.Trouble("sqlite").FillUp(t, s, 1<<20, 100)
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := s.DeleteUser(t.Context(), ids[0]); err != nil {
		t.Error(err)
	}
	if _, err := s.CreateUser(t.Context(), dbtest.Large("in its place", 1<<20)); err != nil {
		t.Error(err)
	}
	limit("100000")
	if _, err := s.CreateUser(t.Context(), dbtest.Large("again", 1<<20)); err != nil {
		t.Error(err)
	}
}
