package engines

import (
	"os/exec"
	"slices"
	"syscall"
	"testing"
)

var redis = spec{
	name: "redis", variable: "LATCHKEY_TEST_REDIS_URL", apt: "redis-server",
	make: func(e *Engine, port string, options []string) error {
		server, err := find("redis-server")
		if err != nil {
			if server, err = find("valkey-server"); err != nil {
				return err
			}
		}
		e.command = func(further []string) *exec.Cmd {
			return e.program(server, slices.Concat([]string{
				"--port", port, "--bind", "127.0.0.1", "--dir", e.dir, "--save", "", "--appendonly", "no",
			}, options, further)...)
		}
		e.ready = "Ready to accept connections"
		e.stop = syscall.SIGTERM
		e.URL = "redis://127.0.0.1:" + port + "/0"
		return nil
	},
}

// Redis returns the URL of a Redis or Valkey that the tests of the package share. A test must use its own key prefix.
// Acknowledged data may be lost in a crash.
func Redis(t testing.TB) string { t.Helper(); return sharedURL(t, redis) }

// StartRedis starts a Redis or Valkey for one test, with further arguments such as "--maxmemory", "10mb".
func StartRedis(t testing.TB, arguments ...string) *Engine {
	t.Helper()
	return own(t, redis, arguments)
}
