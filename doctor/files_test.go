package doctor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/doctor"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// inFiles is a store that lists its files.
type inFiles struct {
	*memory.Store
	paths []string
}

func (s inFiles) Files(context.Context) ([]string, error) { return s.paths, nil }

// TestFilesForOthers: files of a store that every user of the machine can read are reported, journals included.
func TestFilesForOthers(t *testing.T) {
	for _, row := range []struct {
		name            string
		database, logs  os.FileMode
		database1, log1 bool // reported
	}{
		{"private", 0o600, 0o600, false, false}, {"of a group", 0o640, 0o660, false, false},
		{"of everybody", 0o644, 0o600, true, false}, {"a journal of everybody", 0o600, 0o604, false, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "app.db")
			for name, mode := range map[string]os.FileMode{path: row.database, path + "-wal": row.logs} {
				if err := os.WriteFile(name, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(name, mode); err != nil {
					t.Fatal(err)
				}
			}
			c := config()
			c.Store = inFiles{memory.New(), []string{path}}
			found := ""
			for _, l := range doctor.Run(t.Context(), c, doctor.Options{}).Lines {
				if l.State == doctor.Unknown {
					found += l.What + "\n"
				}
			}
			if strings.Contains(found, path+": ") != row.database1 || strings.Contains(found, path+"-wal: ") != row.log1 {
				t.Errorf("the report says\n%s", found)
			}
		})
	}
}

// collated is a store that reports the collation of its email column.
type collated struct {
	*memory.Store
	found, fix string
	err        error
}

func (s collated) EmailCollation(context.Context) (found, fix string, err error) {
	return s.found, s.fix, s.err
}

// TestCollation: a collation that ignores case or accents is reported with the statement that fixes it.
func TestCollation(t *testing.T) {
	const statement = "ALTER TABLE `User` MODIFY `email` varchar(191) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	for _, row := range []struct {
		name, found, fix string
		err              error
		want             string
	}{
		{"exact", "", "", nil, ""},
		{"loose", "table User, column email: collation utf8mb4_unicode_ci", statement, nil,
			"collation utf8mb4_unicode_ci ignores case or accents"},
		{"unreadable", "", "", errors.New("no rights"), "could not be read: no rights"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := config()
			c.Store = collated{memory.New(), row.found, row.fix, row.err}
			what, fix := "", ""
			for _, l := range doctor.Run(t.Context(), c, doctor.Options{}).Lines {
				if l.State == doctor.Unknown && strings.Contains(l.What, "collation") {
					what, fix = l.What, l.Fix
				}
			}
			if !strings.Contains(what, row.want) || (row.want == "") != (what == "") || row.fix != "" && fix != row.fix {
				t.Errorf("the report says %q, fix %q", what, fix)
			}
		})
	}
}
