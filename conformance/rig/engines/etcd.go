package engines

import (
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

var etcd = spec{
	name: "etcd", variable: "LATCHKEY_TEST_ETCD_URL", apt: "etcd-server",
	make: func(e *Engine, port string, options []string) error {
		server, err := find("etcd")
		if err != nil {
			return err
		}
		peers, err := freePort()
		if err != nil {
			return err
		}
		clients, peer := "http://127.0.0.1:"+port, "http://127.0.0.1:"+peers
		e.command = func(further []string) *exec.Cmd {
			return e.program(server, slices.Concat([]string{
				"--data-dir", filepath.Join(e.dir, "data"), "--listen-client-urls", clients, "--advertise-client-urls", clients,
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
				"--initial-cluster", "default=" + peer, "--unsafe-no-fsync",
			}, options, further)...)
		}
		e.ready = "ready to serve client requests"
		e.stop = syscall.SIGTERM
		e.URL = clients
		return nil
	},
}

// Etcd returns the URL of an etcd that the tests of the package share. A test must use its own key prefix. Acknowledged
// data survives a crash of the process, but not of the machine.
func Etcd(t testing.TB) string { t.Helper(); return sharedURL(t, etcd) }

// StartEtcd starts an etcd for one test, with further arguments such as "--quota-backend-bytes=1000000".
func StartEtcd(t testing.TB, arguments ...string) *Engine {
	t.Helper()
	return own(t, etcd, arguments)
}
