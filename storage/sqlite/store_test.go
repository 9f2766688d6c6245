package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// open opens and migrates a store until the test ends. At most one layout is used.
func open(t testing.TB, path string, layout ...sqlite.Layout) *sqlite.Store {
	t.Helper()
	var options sqlite.Options
	for _, options.Layout = range layout {
	}
	s, err := sqlite.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// file returns the path of a database for one test. Without escaping, its name would be truncated.
func file(t testing.TB) string { return filepath.Join(t.TempDir(), "a b?c#d.db") }

func TestLarge(t *testing.T) { storetest.Large(t, open(t, file(t)), 100_000, 1000) }

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, file(t)) })
	t.Logf("sqlite: %d cases", storetest.Count())
}

func TestContractInMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, ":memory:") })
}

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*sqlite.Store)(nil)) }
