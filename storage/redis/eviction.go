package redisstore

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// warning returns a hook for new connections. The first connection that gets a response checks the server's eviction
// policy. It uses INFO because hosted servers often disable CONFIG.
func warning(log *slog.Logger) func(ctx context.Context, c *redis.Conn) error {
	var asked atomic.Bool
	return func(ctx context.Context, c *redis.Conn) error {
		if !asked.CompareAndSwap(false, true) {
			return nil
		}
		text, err := c.Info(ctx, "memory").Result()
		if err != nil { // a busy server, or one that does not allow INFO: the store works without it
			asked.Store(ctx.Err() == nil)
			return nil //nolint:nilerr // see above
		}
		if policy := setting(text, "maxmemory_policy"); strings.HasPrefix(policy, "allkeys-") {
			log.WarnContext(ctx, "redis: the server evicts users and sessions when its memory is full: "+
				"set maxmemory-policy noeviction", "maxmemory_policy", policy)
		}
		return nil
	}
}

// setting returns a value from the output of INFO.
func setting(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
