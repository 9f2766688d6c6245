package doctor_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/doctor"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// inFiles is a store that says which files it is in.
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
