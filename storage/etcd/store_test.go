package etcd_test

import (
	"crypto/rand"
	"os"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/etcd"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// open opens a store with its own keys until the test ends.
func open(t testing.TB, url string) *etcd.Store {
	t.Helper()
	s, err := etcd.Open(url, etcd.Options{Prefix: rand.Text() + "/"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestLarge has fewer rows than on other databases, because etcd allows only 128 operations in a transaction.
func TestLarge(t *testing.T) { storetest.Large(t, open(t, engines.Etcd(t)), 20_000, 40) }

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, engines.Etcd(t)) })
	t.Logf("etcd: %d cases", storetest.Count())
}

func TestShared(t *testing.T) {
	kvtest.Run(t, storetest.Trouble("etcd"), func(t *testing.T) kvtest.Store { return open(t, engines.Etcd(t)) })
}

func BenchmarkSession(b *testing.B) {
	kvtest.Bench(b, func(b *testing.B) kvtest.Store { return open(b, engines.Etcd(b)) })
}

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*etcd.Store)(nil)) }
