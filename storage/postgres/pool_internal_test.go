package postgres

import (
	"testing"
	"time"
)

// TestPoolConfig: what the address says of the pool is heeded, and what it does not say is Open's.
func TestPoolConfig(t *testing.T) {
	for name, c := range map[string]struct {
		dsn  string
		most int32
		idle time.Duration
	}{
		"nothing said": {"postgres://app@localhost/app", maxConnections, idleFor},
		"connections":  {"postgres://app@localhost/app?pool_max_conns=3", 3, idleFor},
		"key=value":    {"host=localhost user=app pool_max_conn_idle_time=7s", maxConnections, 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := poolConfig(c.dsn)
			if err != nil {
				t.Fatal(err)
			}
			if got.MaxConns != c.most || got.MaxConnIdleTime != c.idle {
				t.Errorf("%d connections, idle for %v", got.MaxConns, got.MaxConnIdleTime)
			}
		})
	}
}
