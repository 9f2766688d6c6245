package redisstore_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// TestLost deletes keys, one after another, like a server that evicts them.
func TestLost(t *testing.T) {
	storetest.Lost(t, func(t *testing.T) storetest.Keyed {
		prefix := "{" + rand.Text() + "}:"
		c, n := client(t, engines.Redis(t)), &counter{}
		behind := client(t, engines.Redis(t))
		c.AddHook(n)
		s, err := redisstore.New(c, redisstore.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		return storetest.Keyed{
			Store: s, Together: true, Requests: func() int { return int(n.n.Load()) },
			Keys: func() (keys []string) {
				list, err := behind.Keys(t.Context(), prefix+"*").Result()
				if err != nil {
					t.Fatal(err)
				}
				for _, key := range list {
					keys = append(keys, strings.TrimPrefix(key, prefix))
				}
				return keys
			},
			Remove: func(key string) {
				if err := behind.Del(t.Context(), prefix+key).Err(); err != nil {
					t.Fatal(err)
				}
			},
		}
	}, []string{"user", "email"}, []string{"email", "account"}, []string{"user", "account"})
}
