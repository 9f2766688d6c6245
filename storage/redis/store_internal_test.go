package redisstore

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9/maintnotifications"
)

func TestClientOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		url   string
		least int // connections
		most  int
	}{
		"by itself":                {"redis://localhost:6379/0", 64, 1 << 20},
		"as the URL says":          {"redis://localhost:6379/0?pool_size=3", 3, 3},
		"as the URL says, and TLS": {"rediss://u:p@localhost:6379/0?pool_size=200", 200, 200},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := clientOptions(c.url)
			if err != nil {
				t.Fatal(err)
			}
			if o.PoolSize < c.least || o.PoolSize > c.most {
				t.Errorf("%d connections", o.PoolSize)
			}
			if o.ReadBufferSize != bufferSize || o.WriteBufferSize != bufferSize {
				t.Errorf("buffers of %d and %d bytes", o.ReadBufferSize, o.WriteBufferSize)
			}
			if !o.ContextTimeoutEnabled || o.MaintNotificationsConfig.Mode != maintnotifications.ModeDisabled {
				t.Errorf("%+v", o)
			}
		})
	}
	if _, err := clientOptions("redis://u:hunter2@local host"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}
