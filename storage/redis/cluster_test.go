package redisstore_test

import (
	"context"
	"crypto/rand"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/keyvalue/kvtest"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// TestCluster runs the kit on a Cluster of one node, which checks as one of many does that keys are written together
// only when they belong together.
func TestCluster(t *testing.T) {
	e := engines.StartRedis(t, "--cluster-enabled", "yes")
	if err := client(t, e.URL).ClusterAddSlotsRange(t.Context(), 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSuffix(strings.TrimPrefix(e.URL, "redis://"), "/0")
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{address}, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = cluster.Close() })
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		info, err := cluster.ClusterInfo(t.Context()).Result()
		if err == nil && strings.Contains(info, "cluster_state:ok") {
			break
		}
		if time.Since(began) > 20*time.Second {
			t.Fatalf("the Cluster did not come up: %v", err)
		}
	}
	storetest.Run(t, func(t *testing.T) core.Store {
		s, err := redisstore.New(cluster, redisstore.Options{Prefix: "{" + rand.Text() + "}:"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
	for _, prefix := range []string{"app:", "app{}:", "app}{:"} {
		if _, err := redisstore.New(cluster, redisstore.Options{Prefix: prefix}); err == nil {
			t.Errorf("a Cluster was given the prefix %q", prefix)
		}
	}
	if _, err := redisstore.New(cluster); err != nil {
		t.Errorf("the default prefix: %v", err)
	}
}

// counter counts the commands that are sent.
type counter struct{ n atomic.Int64 }

func (c *counter) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { c.n.Add(1); return next(ctx, cmd) }
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { c.n.Add(int64(len(cmds))); return next(ctx, cmds) }
}

func TestCosts(t *testing.T) {
	c, n := client(t, engines.Redis(t)), &counter{}
	c.AddHook(n)
	s, err := redisstore.New(c, redisstore.Options{Prefix: "{" + rand.Text() + "}:"})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.SessionAndUser(t.Context(), "none"); err == nil {
		t.Fatal("a session that nobody made")
	}
	kvtest.Costs(t, s, func() int { return int(n.n.Load()) })
}

func TestRefused(t *testing.T) {
	for _, url := range []string{
		"", "http://localhost", "redis://app:hunter22@:x/", "redis://localhost/0?wrong=hunter22", "redis://a:hunter22@%zz",
	} {
		_, err := redisstore.Open(url)
		if err == nil || !strings.HasPrefix(err.Error(), "redis: open: ") || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: error %v", url, err)
		}
	}
	if _, err := redisstore.New(nil); err == nil {
		t.Error("no client was taken")
	}
	if _, err := redisstore.Open("redis://localhost", redisstore.Options{}, redisstore.Options{}); err == nil {
		t.Error("two Options were taken")
	}
	c := client(t, engines.Redis(t))
	s, err := redisstore.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("Close closed a client that was given: %v", err)
	}
}
