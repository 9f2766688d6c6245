package bboltstore_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
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
	s, err := bboltstore.Open(path)
	if err != nil {
		panic(err)
	}
	panic(dbtest.Write(context.Background(), s, first, os.Stdout))
}

// TestKilledWhileWriting kills a writing process repeatedly. Acknowledged data must exist, and nothing in part.
func TestKilledWhileWriting(t *testing.T) {
	path, next := file(t), 0
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
		// It is killed after it has acknowledged some writes, so that the kill happens during another write.
		for buffer := make([]byte, 64); bytes.Count(acknowledged.Bytes(), []byte("\n")) <= round; {
			n, err := out.Read(buffer)
			acknowledged.Write(buffer[:n])
			if err != nil {
				t.Fatalf("the writer ended early: %v", err)
			}
		}
		if err := writer.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = acknowledged.ReadFrom(out)
		_ = writer.Wait() // returns that it was killed

		s, err := bboltstore.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		before := next
		next = dbtest.CheckWritten(t, s, next, &acknowledged)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("round %d: %d acknowledged or whole", round, next-before)
	}
}

// TestWritersWait checks that calls can read during a write, and wait to write only until their contexts end.
func TestWritersWait(t *testing.T) {
	db := database(t, file(t), nil)
	s := on(t, db)
	kvtest.Fill(t, s, 10)
	held, err := db.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"the first", "one behind it"} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := s.UpdateSession(ctx, "s0", time.Unix(1, 0))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), "bbolt: extend session: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading meanwhile: %v", err)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if err := s.UpdateSession(t.Context(), "s0", time.Unix(2, 0)); err != nil {
				t.Error(err)
			}
		})
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}

// TestEnded checks that a call with a cancelled context does nothing.
func TestEnded(t *testing.T) {
	s := quick(t)
	kvtest.Fill(t, s, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.DeleteSession(ctx, "s0"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, _, err := s.SessionAndUser(ctx, "s0"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Error(err)
	}
}

func TestReadOnly(t *testing.T) {
	path := file(t)
	s, err := bboltstore.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	kvtest.Fill(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = on(t, database(t, path, &bbolt.Options{ReadOnly: true}))
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	for operation, call := range map[string]func() error{
		"create user":    func() error { _, err := s.CreateUser(t.Context(), &core.User{ID: "other"}); return err },
		"extend session": func() error { return s.UpdateSession(t.Context(), "s0", time.Unix(1, 0)) },
		"delete session": func() error { _, err := s.DeleteSession(t.Context(), "s0"); return err },
		"delete user":    func() error { return s.DeleteUser(t.Context(), "u0") },
		"transaction": func() error {
			return s.InTransaction(t.Context(), func(ctx context.Context, tx core.Store) error {
				_, err := tx.CreateUser(ctx, &core.User{ID: "other"})
				return err
			})
		},
	} {
		storetest.Trouble("bbolt").Check(t, operation, call())
	}
}

// TestFull limits the size of the file. It accepts further users only after the limit is raised, and its data can be
// read meanwhile.
func TestFull(t *testing.T) {
	path := file(t)
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{MaxSize: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s := on(t, db)
	kvtest.Fill(t, s, 1)
	storetest.Trouble("bbolt").FillUp(t, s, 1<<20, 100)
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = on(t, database(t, path, nil))
	if _, err := s.CreateUser(t.Context(), dbtest.Large("again", 1<<20)); err != nil {
		t.Error(err)
	}
}
