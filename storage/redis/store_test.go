package redisstore_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	os.Exit(engines.Main(m))
}

// silent hides the client's log messages about servers that the tests stop.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// open opens a store with its own keys until the test ends.
func open(t testing.TB, url string) *redisstore.Store {
	t.Helper()
	s, err := redisstore.Open(url, redisstore.Options{Prefix: "{" + rand.Text() + "}:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestLarge uses a separate database, because SCAN in other tests would pass over its keys.
func TestLarge(t *testing.T) {
	storetest.Large(t, open(t, strings.TrimSuffix(engines.Redis(t), "/0")+"/9"), 100_000, 100)
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, engines.Redis(t)) })
	t.Logf("redis: %d cases", storetest.Count())
}

func TestShared(t *testing.T) {
	kvtest.Run(t, storetest.Trouble("redis"), func(t *testing.T) kvtest.Store { return open(t, engines.Redis(t)) })
}

func BenchmarkSession(b *testing.B) {
	kvtest.Bench(b, func(b *testing.B) kvtest.Store { return open(b, engines.Redis(b)) })
}

func BenchmarkScale(b *testing.B) { dbtest.Scale(b, open(b, engines.Redis(b)), nil) }

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*redisstore.Store)(nil)) }
