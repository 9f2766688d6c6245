package engines

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"
)

var dynalite = spec{
	name: "dynalite", variable: "LATCHKEY_TEST_DYNAMODB_URL", apt: "nodejs npm",
	make: func(e *Engine, port string, options []string) error {
		node, err := find("node")
		if err != nil {
			return err
		}
		if err := installPackages(packageFolder("dynalite")); err != nil {
			return fmt.Errorf("%w: %w", exec.ErrNotFound, err)
		}
		e.command = func([]string) *exec.Cmd {
			return e.program(node, append([]string{
				"--require", packageFolder("dynalite/hangups.cjs"),
				packageFolder("dynalite/node_modules/dynalite/cli.js"), "--host", "127.0.0.1", "--port", port,
				"--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0",
			}, options...)...)
		}
		e.ready = "listening at"
		e.stop = syscall.SIGTERM
		e.URL = "http://127.0.0.1:" + port
		return nil
	},
}

// DynamoDB returns the address of a dynalite, an implementation of Amazon DynamoDB, that the tests of the package
// share. A test must create its own table. Its data is in memory.
func DynamoDB(t testing.TB) string { t.Helper(); return sharedURL(t, dynalite) }

// StartDynalite starts a dynalite for one test. Its data is in files.
func StartDynalite(t testing.TB) *Engine {
	t.Helper()
	return own(t, dynalite, []string{"--path", "data"})
} // relative to its folder
