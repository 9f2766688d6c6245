//go:build unix

package sqlite_test

import (
	"bytes"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// TestPrivateFiles checks that only the owner can read a new database and its journals, regardless of the umask. An
// existing file keeps its mode.
func TestPrivateFiles(t *testing.T) { // not parallel: the umask applies to the process
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	for _, row := range []struct {
		name string
		make func(t *testing.T, path string)
		mode fs.FileMode
	}{
		{"new", func(*testing.T, string) {}, 0o600},
		{"a symbolic link to a missing file", func(t *testing.T, path string) {
			if err := os.Symlink(path+".target", path); err != nil {
				t.Fatal(err)
			}
		}, 0o600},
		{"existing", func(t *testing.T, path string) {
			if err := os.WriteFile(path, nil, 0o640); err != nil {
				t.Fatal(err)
			}
		}, 0o640},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := file(t)
			row.make(t, path)
			s := open(t, path)
			if _, err := s.CreateUser(t.Context(), &core.User{ID: "u1"}); err != nil {
				t.Fatal(err)
			}
			resolved, err := filepath.EvalSymlinks(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{resolved, resolved + "-wal", resolved + "-shm"} {
				if info, err := os.Stat(name); err != nil || info.Mode().Perm() != row.mode {
					t.Errorf("%s: %v, %v", filepath.Base(name), info.Mode(), err)
				}
			}
			if files, err := s.Files(t.Context()); err != nil || len(files) != 1 || files[0] != resolved {
				t.Errorf("the files are %v, %v", files, err)
			}
		})
	}
	if files, err := open(t, ":memory:").Files(t.Context()); err != nil || len(files) > 0 {
		t.Errorf("the files of a database in memory are %v, %v", files, err)
	}
	if _, err := sqlite.Open(t.TempDir()+"/missing/app.db", sqlite.Options{}); err == nil {
		t.Error("a file in a missing folder was opened")
	}
}

// TestDeletedIsOverwritten checks that the data of a deleted user is no longer in the file.
func TestDeletedIsOverwritten(t *testing.T) {
	path := file(t)
	s, err := sqlite.Open(path, sqlite.Options{})
	if err == nil {
		err = s.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"stays", "canary-id"} {
		for _, err := range []error{
			second(s.CreateUser(t.Context(), &core.User{ID: id, Email: id + "@example.com", Name: "name of " + id})),
			s.CreateSession(t.Context(), &store.Session{Token: store.Secret("session of " + id), UserID: id,
				Expires: time.Now()}),
			s.CreateRecord(t.Context(), &store.Record{
				Kind: "password", Key: id, UserID: id, Value: []byte(`"hash of ` + id + `"`),
			}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.DeleteUser(t.Context(), "canary-id"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte("canary")) {
		t.Error("the file has data of a deleted user")
	}
	if !bytes.Contains(content, []byte("session of stays")) {
		t.Error("the test does not see what is in the file")
	}
}

func second[T any](_ T, err error) error { return err }

// TestReadOnlyCopy reads a copy in a read-only folder, as the README describes.
func TestReadOnlyCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy.db")
	s, err := sqlite.Open(path, sqlite.Options{})
	if err == nil {
		err = s.Migrate(t.Context())
	}
	if err == nil {
		_, err = s.CreateUser(t.Context(), &core.User{ID: "u1", Email: "ada@example.com"})
	}
	if err == nil {
		err = s.Close()
	}
	if err == nil {
		err = os.Chmod(path, 0o400)
	}
	if err != nil {
		t.Fatal(err)
	}
	db := readOnly(t, path)
	copied, err := sqlite.New(db, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if u, err := copied.UserByEmail(t.Context(), "ada@example.com"); err != nil || u.ID != "u1" {
		t.Errorf("read %+v, %v", u, err)
	}
	if _, err := copied.CreateUser(t.Context(), &core.User{ID: "u2"}); err == nil {
		t.Error("a read-only copy was written to")
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

// readOnly opens a copy that no program writes to: immutable needs neither locks nor a log.
func readOnly(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}
