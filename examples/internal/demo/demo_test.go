package demo

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/examples/internal/local"
)

// TestListensOnThisMachine: a port alone is not reachable from other machines, and an address that is prints a warning.
func TestListensOnThisMachine(t *testing.T) {
	for _, row := range []struct {
		name, flag, port, want string
		open                   bool
	}{
		{"nothing said", "", "", "localhost:3000", false},
		{"a port", "", "8080", "localhost:8080", false},
		{"a flag and a port", "127.0.0.1:9090", "8080", "127.0.0.1:9090", false},
		{"IPv6", "[::1]:9090", "", "[::1]:9090", false},
		{"everywhere", "0.0.0.0:3000", "", "0.0.0.0:3000", true},
		{"everywhere, in short", ":3000", "", ":3000", true},
		{"a network", "192.0.2.1:3000", "", "192.0.2.1:3000", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := &App{Addr: local.Addr(row.flag, row.port)}
			var said strings.Builder
			a.Welcome(&said)
			if a.Addr != row.want || strings.Contains(said.String(), "open to other machines") != row.open {
				t.Errorf("listens on %s and says %s", a.Addr, said.String())
			}
		})
	}
}
