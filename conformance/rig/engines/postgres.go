package engines

import (
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

var postgres = spec{
	name: "postgres", variable: "LATCHKEY_TEST_POSTGRES_URL", apt: "postgresql",
	make: func(e *Engine, port string, options []string) error {
		const debian = "/usr/lib/postgresql/*/bin"
		server, err := find("postgres", debian)
		if err != nil {
			return err
		}
		initdb, err := find("initdb", debian)
		if err != nil {
			return err
		}
		if err := e.ownedBy("postgres"); err != nil {
			return err
		}
		data := filepath.Join(e.dir, "data")
		err = e.run(initdb,
			"-D", data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C", "--no-instructions")
		if err != nil {
			return err
		}
		e.command = func(further []string) *exec.Cmd {
			args := []string{
				"-D", data, "-p", port, "-k", e.dir, "-c", "listen_addresses=127.0.0.1",
				"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off",
				"-c", "dynamic_shared_memory_type=mmap", // so that a killed server leaves no memory behind
			}
			for _, option := range slices.Concat(options, further) {
				args = append(args, "-c", option)
			}
			return e.program(server, args...)
		}
		e.ready = "database system is ready to accept connections"
		e.stop = syscall.SIGINT // fast shutdown, which does not wait for clients
		e.URL = "postgres://postgres@127.0.0.1:" + port + "/postgres?sslmode=disable"
		return nil
	},
}

// Postgres returns the URL of a PostgreSQL that the tests of the package share. A test must create its own schema or
// database. Acknowledged data may be lost in a crash.
func Postgres(t testing.TB) string { t.Helper(); return sharedURL(t, postgres) }

// StartPostgres starts a PostgreSQL for one test, with further settings such as "max_connections=10".
func StartPostgres(t testing.TB, settings ...string) *Engine {
	t.Helper()
	return own(t, postgres, settings)
}
