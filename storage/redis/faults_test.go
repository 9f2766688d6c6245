package redisstore_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// durable starts a Redis that has acknowledged data on disk.
func durable(t *testing.T) *engines.Engine {
	t.Helper()
	return engines.StartRedis(t, "--appendonly", "yes", "--appendfsync", "always")
}

// client returns a separate client for a test, like that of an application.
func client(t testing.TB, url string, further ...func(*redis.Options)) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.ContextTimeoutEnabled = true
	for _, change := range further {
		change(o)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestOutages(t *testing.T) {
	e := durable(t)
	s := open(t, e.URL)
	t.Run("stopped", func(t *testing.T) {
		storetest.Trouble("redis").Outage(t, s, 5*time.Second, func() { e.Stop(t) }, func() { e.Start(t) })
	})
	t.Run("killed", func(t *testing.T) {
		storetest.Trouble("redis").Outage(t, s, 5*time.Second, func() { e.Kill(t) }, func() { e.Start(t) })
	})
	t.Run("slow", func(t *testing.T) {
		storetest.Trouble("redis").Outage(t, s, 100*time.Millisecond, func() { e.Pause(t) }, func() { e.Resume(t) })
	})
	t.Run("hanging", func(t *testing.T) {
		storetest.Trouble("redis").Hang(t, s, func() { e.Pause(t) }, func() { e.Resume(t) })
	})
	t.Run("from a client, killed", func(t *testing.T) {
		s, err := redisstore.New(client(t, e.URL), redisstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		storetest.Trouble("redis").Outage(t, s, 100*time.Millisecond, func() { e.Kill(t) }, func() { e.Start(t) })
	})
	t.Run("killed in a request", func(t *testing.T) {
		s := open(t, e.URL)
		operations := []string{"read session", "extend session"}
		storetest.Trouble("redis").InFlight(t, s, operations,
			func(string) { e.Pause(t) }, func() { e.Kill(t) }, func() { e.Start(t) })
	})
}

func TestLostResponses(t *testing.T) {
	url := engines.Redis(t)
	proxy, through := kvtest.StartProxy(t, url)
	prefix := "{" + rand.Text() + "}:"
	s, err := redisstore.Open(through, redisstore.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	direct, err := redisstore.Open(url, redisstore.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = direct.Close() })
	kvtest.LostAnswers(t, storetest.Trouble("redis"), s, direct, proxy)
}

// set changes a setting of the server.
func set(t *testing.T, e *engines.Engine, setting, value string) {
	t.Helper()
	if err := client(t, e.URL).ConfigSet(t.Context(), setting, value).Err(); err != nil {
		t.Fatal(err)
	}
}

// reads are the operations that work while the database rejects writes, including those that find nothing to write.
var reads = []string{
	"read user", "read user by e-mail", "read user by account", "read account", "read session", "read authenticator",
	"list accounts", "list sessions", "list authenticators", "delete sessions", "delete expired sessions",
	"update user", "update account", "update authenticator", "unlink account", "delete user", "delete session",
	"link account", "create session", "create authenticator", "use verification token", "extend session",
	"delete authenticator", "list users",
	"read record", "list records", "delete records", "create record", "update record", "delete record",
}

func TestReadOnly(t *testing.T) {
	e := engines.StartRedis(t)
	s := open(t, e.URL)
	kvtest.Fill(t, s, 10)
	set(t, e, "min-replicas-to-write", "1") // there is no replica
	storetest.Trouble("redis").Fails(t, s, "", time.Minute, reads...)
	if err := s.UpdateSession(t.Context(), "s0", time.Unix(1, 0)); err == nil {
		t.Error("a read-only server extended a session")
	}
	if err := s.DeleteUser(t.Context(), "u0"); err == nil {
		t.Error("a read-only server deleted a user")
	}
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	set(t, e, "min-replicas-to-write", "0")
	if err := s.DeleteUser(t.Context(), "u0"); err != nil {
		t.Error(err)
	}
}

func TestFull(t *testing.T) {
	e := engines.StartRedis(t, "--maxmemory", "8mb", "--maxmemory-policy", "noeviction")
	s := open(t, e.URL)
	kvtest.Fill(t, s, 10)
	ids := storetest.Trouble("redis").FillUp(t, s, 256<<10, 100)
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	set(t, e, "maxmemory", "0")
	if err := s.DeleteUser(t.Context(), ids[0]); err != nil {
		t.Error(err)
	}
	storetest.Trouble("redis").Recovers(t, s, "s0")
}

// TestKilledWhileWriting kills the server repeatedly. Acknowledged data must exist, and nothing in part.
func TestKilledWhileWriting(t *testing.T) {
	e := durable(t)
	s := open(t, e.URL)
	next := 0
	for round := range 6 {
		var acknowledged bytes.Buffer
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- dbtest.Write(ctx, s, next, &acknowledged) }()
		time.Sleep(time.Duration(20+30*round) * time.Millisecond) // during the writes
		e.Kill(t)
		waiting := time.AfterFunc(time.Second, cancel) // in case the server does not restart earlier
		if err := <-ended; err == nil {
			t.Fatal("a server that is dead acknowledged")
		}
		waiting.Stop()
		cancel()
		e.Start(t)
		before := next
		next = dbtest.CheckWritten(t, s, next, &acknowledged)
		t.Logf("round %d: %d acknowledged or whole", round, next-before)
	}
}

// TestScriptsForgotten deletes the scripts from the server, as happens with a restart or a failover.
func TestScriptsForgotten(t *testing.T) {
	e := engines.StartRedis(t)
	s := open(t, e.URL)
	kvtest.Fill(t, s, 10)
	for range 2 {
		if err := client(t, e.URL).ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if err := s.UpdateSession(t.Context(), "s0", time.Unix(1, 0)); err != nil {
			t.Error(err)
		}
		if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
			t.Error(err)
		}
	}
}
