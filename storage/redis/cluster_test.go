package redisstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// cluster is a Cluster of three masters and a replica of the first.
type cluster struct {
	*redis.ClusterClient
	nodes []*engines.Engine
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{}
	var clients []*redis.Client
	for range 4 {
		bus := engines.FreePort(t)
		e := engines.StartRedis(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--cluster-node-timeout", "1000")
		c.nodes, clients = append(c.nodes, e), append(clients, client(t, e.URL))
		host, port, err := net.SplitHostPort(hostOf(e))
		if err == nil {
			err = clients[0].Do(t.Context(), "CLUSTER", "MEET", host, port, bus).Err()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, slots := range [][2]int{{0, 5460}, {5461, 10922}, {10923, 16383}} {
		if err := clients[i].ClusterAddSlotsRange(t.Context(), slots[0], slots[1]).Err(); err != nil {
			t.Fatal(err)
		}
	}
	first := clients[0].Do(t.Context(), "CLUSTER", "MYID").String()
	_, first, _ = strings.Cut(first, ": ")
	eventually(t, "the replica", func() bool { return clients[3].ClusterReplicate(t.Context(), first).Err() == nil })
	var addresses []string
	for i, node := range clients {
		addresses = append(addresses, hostOf(c.nodes[i]))
		eventually(t, "a node", func() bool {
			info, _ := node.ClusterInfo(t.Context()).Result()
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:4")
		})
	}
	eventually(t, "the replica's link", func() bool {
		info, _ := clients[3].Info(t.Context(), "replication").Result()
		return strings.Contains(info, "master_link_status:up")
	})
	c.ClusterClient = redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: addresses, ContextTimeoutEnabled: true, ClusterStateReloadInterval: time.Second,
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func hostOf(e *engines.Engine) string {
	return strings.TrimSuffix(strings.TrimPrefix(e.URL, "redis://"), "/0")
}

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%s of the Cluster did not come up", what)
		}
	}
}

// TestCluster runs the contract on a Cluster of three masters. Each store has its keys on one of them.
func TestCluster(t *testing.T) {
	c := startCluster(t)
	storetest.Run(t, func(t *testing.T) core.Store {
		s, err := redisstore.New(c.ClusterClient, redisstore.Options{Prefix: "{" + rand.Text() + "}:"})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
	for _, prefix := range []string{"app:", "app{}:", "app}{:"} {
		if _, err := redisstore.New(c.ClusterClient, redisstore.Options{Prefix: prefix}); err == nil {
			t.Errorf("a Cluster was given the prefix %q", prefix)
		}
	}
	if _, err := redisstore.New(c.ClusterClient, redisstore.Options{}); err != nil {
		t.Errorf("the default prefix: %v", err)
	}
}

// TestFailover kills the master that has the keys. Its replica takes over with the writes that it has received, and the
// store recovers automatically.
func TestFailover(t *testing.T) {
	c := startCluster(t)
	prefix := ""
	for slot := int64(1 << 14); slot > 5460; { // on the master that has a replica
		prefix = "{" + rand.Text() + "}:"
		var err error
		if slot, err = c.ClusterKeySlot(t.Context(), prefix).Result(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := redisstore.New(c.ClusterClient, redisstore.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	kvtest.Fill(t, s, 20)
	master, replica := client(t, c.nodes[0].URL), client(t, c.nodes[3].URL)
	eventually(t, "the replica's copy", func() bool {
		there, _ := master.DBSize(t.Context()).Result()
		copied, _ := replica.DBSize(t.Context()).Result()
		return there > 0 && there == copied
	})
	c.nodes[0].Kill(t)
	eventually(t, "the new master", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err := s.SessionAndUser(ctx, "s0")
		if errors.Is(err, core.ErrNotFound) {
			t.Fatal("while there is no master, a session is not there")
		}
		return err == nil
	})
	storetest.Trouble("redis").Recovers(t, s, "s0")
	for i := range 20 {
		if _, _, err := s.SessionAndUser(t.Context(), fmt.Sprint("s", i)); err != nil {
			t.Errorf("session %d: %v", i, err)
		}
	}
}

// counter counts the commands.
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
		_, err := redisstore.Open(url, redisstore.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "redis: open: ") || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: error %v", url, err)
		}
	}
	if _, err := redisstore.New(nil, redisstore.Options{}); err == nil {
		t.Error("no client was taken")
	}
	c := client(t, engines.Redis(t))
	s, err := redisstore.New(c, redisstore.Options{})
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
