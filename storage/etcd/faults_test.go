package etcd_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/storage/etcd"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
	"github.com/latchkey-go/latchkey/storage/internal/kvtest"
)

// client returns a separate client for a test, like that of an application.
func client(t testing.TB, url string, options ...grpc.DialOption) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop(), DialOptions: options})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestOutages(t *testing.T) {
	e := engines.StartEtcd(t)
	s := open(t, e.URL)
	t.Run("stopped", func(t *testing.T) {
		storetest.Trouble("etcd").Outage(t, s, 300*time.Millisecond, func() { e.Stop(t) }, func() { e.Start(t) })
	})
	t.Run("killed", func(t *testing.T) {
		storetest.Trouble("etcd").Outage(t, s, 300*time.Millisecond, func() { e.Kill(t) }, func() { e.Start(t) })
	})
	t.Run("slow", func(t *testing.T) {
		storetest.Trouble("etcd").Outage(t, s, 100*time.Millisecond, func() { e.Pause(t) }, func() { e.Resume(t) })
	})
	t.Run("hanging", func(t *testing.T) {
		storetest.Trouble("etcd").Hang(t, s, func() { e.Pause(t) }, func() { e.Resume(t) })
	})
	t.Run("from a client, killed", func(t *testing.T) {
		s, err := etcd.New(client(t, e.URL), etcd.Options{})
		if err != nil {
			t.Fatal(err)
		}
		storetest.Trouble("etcd").Outage(t, s, 100*time.Millisecond, func() { e.Kill(t) }, func() { e.Start(t) })
	})
	t.Run("killed in a request", func(t *testing.T) {
		s := open(t, e.URL)
		operations := []string{"read session", "extend session"}
		storetest.Trouble("etcd").InFlight(t, s, operations,
			func(string) { e.Pause(t) }, func() { e.Kill(t) }, func() { e.Start(t) })
	})
}

func TestLostResponses(t *testing.T) {
	url := engines.Etcd(t)
	proxy, through := kvtest.StartProxy(t, url)
	prefix := rand.Text() + "/"
	s, err := etcd.Open(through, etcd.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	direct, err := etcd.Open(url, etcd.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = direct.Close() })
	kvtest.LostAnswers(t, storetest.Trouble("etcd"), s, direct, proxy)
}

// TestFull gives the server a quota. Above it the server accepts no writes, not even deletions, until an administrator
// clears the alarm.
func TestFull(t *testing.T) {
	e := engines.StartEtcd(t, "--quota-backend-bytes", "8000000")
	s := open(t, e.URL)
	kvtest.Fill(t, s, 10)
	storetest.Trouble("etcd").FillUp(t, s, 256<<10, 100)
	if _, _, err := s.SessionAndUser(t.Context(), "s0"); err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := s.UpdateSession(t.Context(), "s0", time.Unix(1, 0)); err == nil {
		t.Error("a server that is full extended a session")
	}
	e.Stop(t)
	e.Start(t, "--quota-backend-bytes", "80000000")
	if _, err := client(t, e.URL).AlarmDisarm(t.Context(), &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
	storetest.Trouble("etcd").Recovers(t, s, "s0")
}

// TestTooLarge writes a user that exceeds the size limit of a request.
func TestTooLarge(t *testing.T) {
	s := open(t, engines.Etcd(t))
	storetest.Trouble("etcd").TooLarge(t, s, 2<<20)
}

// TestKilledWhileWriting kills the server repeatedly. Acknowledged data must exist, and nothing in part.
func TestKilledWhileWriting(t *testing.T) {
	e := engines.StartEtcd(t)
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

func TestCosts(t *testing.T) {
	var n atomic.Int64
	c := client(t, engines.Etcd(t), grpc.WithChainUnaryInterceptor(
		func(
			ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
			invoker grpc.UnaryInvoker, opts ...grpc.CallOption,
		) error {
			n.Add(1)
			return invoker(ctx, method, req, reply, cc, opts...)
		}))
	s, err := etcd.New(c, etcd.Options{Prefix: rand.Text() + "/"})
	if err != nil {
		t.Fatal(err)
	}
	kvtest.Costs(t, s, func() int { return int(n.Load()) })
}

func TestRefused(t *testing.T) {
	for _, endpoints := range []string{
		"", "localhost:2379", "redis://localhost", "http://app:hunter22@:x/", "http://localhost:2379,",
		"http://a:hunter22@%zz",
	} {
		_, err := etcd.Open(endpoints, etcd.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "etcd: open: ") || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: error %v", endpoints, err)
		}
	}
	if _, err := etcd.New(nil, etcd.Options{}); err == nil {
		t.Error("no client was taken")
	}
	c := client(t, engines.Etcd(t))
	s, err := etcd.New(c, etcd.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Get(t.Context(), "x"); err != nil {
		t.Errorf("Close closed a client that was given: %v", err)
	}
}
