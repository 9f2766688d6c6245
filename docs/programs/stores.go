package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	"github.com/latchkey-go/latchkey/storage/postgres"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// open opens the store of a URL: a file in development, a server in production.
func open(ctx context.Context, address string) (core.Store, error) {
	scheme, _, _ := strings.Cut(address, "://")
	switch scheme {
	case "postgres":
		store, err := postgres.Open(address, postgres.Options{})
		if err != nil {
			return nil, err
		}
		return store, store.Migrate(ctx)
	case "redis", "rediss":
		return redisstore.Open(address, redisstore.Options{})
	case "file":
		return bboltstore.Open(strings.TrimPrefix(address, "file://"))
	}
	return nil, fmt.Errorf("no store for %q", scheme)
}
