package etcd_test

import (
	"os"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/etcd"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
)

// TestReadme checks that the README lists every kind of key.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "latchkey/"
	e := engines.StartEtcd(t)
	s, err := etcd.Open(e.URL, etcd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	kinds := kvtest.Kinds(t, s, func() (keys []string) {
		got, err := client(t, e.URL).Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range got.Kvs {
			keys = append(keys, strings.TrimPrefix(string(kv.Key), prefix))
		}
		return keys
	})
	for _, kind := range kinds {
		if !strings.Contains(string(text), "`"+prefix+kind+"/") {
			t.Errorf("README.md does not list the keys %s%s", prefix, kind)
		}
	}
}
