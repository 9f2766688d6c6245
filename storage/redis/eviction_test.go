package redisstore_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// TestEviction checks that a server that evicts keys causes one warning.
func TestEviction(t *testing.T) {
	e := engines.StartRedis(t)
	for policy, warns := range map[string]bool{
		"allkeys-lru": true, "allkeys-random": true, "volatile-lru": false, "noeviction": false, // no key has a time to live
	} {
		set(t, e, "maxmemory-policy", policy)
		var log bytes.Buffer
		s, err := redisstore.Open(e.URL, redisstore.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if log.Len() > 0 {
			t.Error("Open has connected")
		}
		for range 3 {
			if err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		told := log.String()
		want := map[bool]int{true: 1}[warns]
		if strings.Count(told, "level=WARN") != want || warns && !strings.Contains(told, policy) {
			t.Errorf("%s: %q", policy, told)
		}
	}
}
