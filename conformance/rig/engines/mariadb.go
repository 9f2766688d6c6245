package engines

import (
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

var mariadb = spec{
	name: "mariadb", variable: "LATCHKEY_TEST_MYSQL_URL", apt: "mariadb-server",
	make: func(e *Engine, port string, options []string) error {
		server, err := find("mariadbd", "/usr/sbin")
		if err != nil {
			return err
		}
		install, err := find("mariadb-install-db")
		if err != nil {
			return err
		}
		if err := e.ownedBy("mysql"); err != nil {
			return err
		}
		data := filepath.Join(e.dir, "data")
		flags := func(options []string) (list []string) {
			for _, option := range options {
				list = append(list, "--"+option)
			}
			return list
		}
		prepare := append([]string{
			"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db",
		}, flags(options)...)
		if err := e.run(install, prepare...); err != nil {
			return err
		}
		e.command = func(further []string) *exec.Cmd {
			return e.program(server, slices.Concat([]string{
				"--no-defaults", "--datadir=" + data, "--port=" + port,
				"--bind-address=127.0.0.1", "--socket=" + filepath.Join(e.dir, "s"),
				"--innodb-flush-log-at-trx-commit=0", "--innodb-fast-shutdown=2", "--skip-log-bin",
			}, flags(options), flags(further))...)
		}
		e.ready = "ready for connections"
		e.stop = syscall.SIGTERM
		e.URL = "root@tcp(127.0.0.1:" + port + ")/mysql"
		return nil
	},
}

// MariaDB returns the data source name, for go-sql-driver/mysql, of a MariaDB that the tests of the package share. A
// test must create its own database. Acknowledged data may be lost in a crash.
func MariaDB(t testing.TB) string { t.Helper(); return sharedURL(t, mariadb) }

// StartMariaDB starts a MariaDB for one test, with further options such as "max-connections=10".
func StartMariaDB(t testing.TB, options ...string) *Engine {
	t.Helper()
	return own(t, mariadb, options)
}
