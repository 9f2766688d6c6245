package bboltstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
)

func file(t testing.TB) string { return filepath.Join(t.TempDir(), "app.bolt") }

// database opens a file like an application, and closes it at the end of the test.
func database(t testing.TB, path string, options *bbolt.Options) *bbolt.DB {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func on(t testing.TB, db *bbolt.DB) *bboltstore.Store {
	t.Helper()
	s, err := bboltstore.New(db)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// quick returns a store that does not wait for the disk. The checks need no durable data.
func quick(t testing.TB) *bboltstore.Store {
	t.Helper()
	return on(t, database(t, file(t), &bbolt.Options{NoSync: true}))
}

func TestLarge(t *testing.T) { storetest.Large(t, quick(t), 100_000, 1000) }

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return quick(t) })
	t.Logf("bbolt: %d cases", storetest.Count())
}

func TestShared(t *testing.T) {
	kvtest.Run(t, storetest.Trouble("bbolt"), func(t *testing.T) kvtest.Store { return quick(t) })
}

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*bboltstore.Store)(nil)) }

func BenchmarkSession(b *testing.B) {
	kvtest.Bench(b, func(b *testing.B) kvtest.Store { return on(b, database(b, file(b), nil)) })
}

// TestReopened checks that the next process finds the written data, and that only the owner can read the file.
func TestReopened(t *testing.T) {
	path := file(t)
	s, err := bboltstore.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateUser(t.Context(), &store.User{ID: "u", Email: "ada@example.com"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if s, err = bboltstore.Open(path); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if u, err := s.UserByEmail(t.Context(), "ada@example.com"); err != nil || u.ID != "u" {
		t.Errorf("%v, %v", u, err)
	}
}

// TestOtherBuckets checks that an application can keep its own data in the same file.
func TestOtherBuckets(t *testing.T) {
	db := database(t, file(t), nil)
	err := db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte("orders"))
		if err != nil {
			return err
		}
		return b.Put([]byte("user/u"), []byte("theirs"))
	})
	if err != nil {
		t.Fatal(err)
	}
	s := on(t, db)
	kvtest.Fill(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *bbolt.Tx) error { // Close of the store has not closed it
		if got := string(tx.Bucket([]byte("orders")).Get([]byte("user/u"))); got != "theirs" {
			t.Errorf("the application's key holds %q", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestReadme checks that the README lists every kind of key.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	db := database(t, file(t), nil)
	kinds := kvtest.Kinds(t, on(t, db), func() (keys []string) {
		err := db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("latchkey")).ForEach(func(key, _ []byte) error {
				keys = append(keys, string(key))
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return keys
	})
	for _, kind := range kinds {
		if !strings.Contains(string(text), "`"+kind+"/") {
			t.Errorf("README.md does not list the keys %s", kind)
		}
	}
}

func TestRefused(t *testing.T) {
	if _, err := bboltstore.New(nil); err == nil || !strings.Contains(err.Error(), "give New an open one") {
		t.Errorf("no database: %v", err)
	}
	missing := filepath.Join(t.TempDir(), "no", "app.bolt")
	if _, err := bboltstore.Open(missing); err == nil || !strings.HasPrefix(err.Error(), "bbolt: open: ") {
		t.Errorf("no folder: %v", err)
	}
	damaged := file(t)
	if err := os.WriteFile(damaged, []byte(strings.Repeat("not a database. ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bboltstore.Open(damaged); err == nil || !strings.HasPrefix(err.Error(), "bbolt: open: ") {
		t.Errorf("a file of another kind: %v", err)
	}
}

func TestClosed(t *testing.T) {
	s, err := bboltstore.Open(file(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	storetest.Trouble("bbolt").Fails(t, s, "", time.Minute)
}
