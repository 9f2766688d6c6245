package redisstore_test

import (
	"os"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// TestReadme checks that the README lists every kind of key.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "{latchkey}:"
	e := engines.StartRedis(t)
	s, err := redisstore.Open(e.URL, redisstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	kinds := kvtest.Kinds(t, s, func() (keys []string) {
		list, err := client(t, e.URL).Keys(t.Context(), "*").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range list {
			keys = append(keys, strings.TrimPrefix(key, prefix))
		}
		return keys
	})
	for _, kind := range kinds {
		if !strings.Contains(string(text), "`"+prefix+kind+"/") && !strings.Contains(string(text), "`"+prefix+kind+"`") {
			t.Errorf("README.md does not list the keys %s%s", prefix, kind)
		}
	}
}
