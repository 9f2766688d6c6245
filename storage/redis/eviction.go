package redisstore

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// warning returns what the client does with each new connection: the first one that gets an answer asks the server
// which keys it gives up when its memory is full. INFO is what hosted servers answer too, CONFIG is not.
func warning(log *slog.Logger) func(ctx context.Context, c *redis.Conn) error {
	var asked atomic.Bool
	return func(ctx context.Context, c *redis.Conn) error {
		if !asked.CompareAndSwap(false, true) {
			return nil
		}
		text, err := c.Info(ctx, "memory").Result()
		if err != nil { // a server that is busy, or does not allow it: the store works without an answer
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

// setting is a line of INFO.
func setting(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
