package kvtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core/store"
)

// Proxy is between a client and a database, and can drop responses.
type Proxy struct {
	losing atomic.Bool
	lost   atomic.Int64
}

// StartProxy starts a proxy for the database at a URL and returns the URL of the proxy.
func StartProxy(t testing.TB, engine string) (*Proxy, string) {
	t.Helper()
	u, err := url.Parse(engine)
	must(t, err)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	p := &Proxy{}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).Dial("tcp", u.Host)
			if err != nil {
				_ = client.Close()
				continue
			}
			all.Go(func() { _, _ = io.Copy(server, client); _ = server.Close() })
			all.Go(func() { p.answers(client, server); _ = client.Close() })
			t.Cleanup(func() { _ = client.Close(); _ = server.Close() })
		}
	})
	t.Cleanup(func() { _ = l.Close() })
	return p, strings.Replace(engine, u.Host, l.Addr().String(), 1)
}

func (p *Proxy) answers(client, server net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if p.losing.Load() && n > 0 {
			p.lost.Add(1)
			_ = server.Close()
			return
		}
		if _, e := client.Write(buffer[:n]); err != nil || e != nil {
			return
		}
	}
}

// LostAnswers checks a store that loses responses after the database has applied the request. The store must fail and
// must not retry, because a retry would find the writes of the first request. s uses the proxy and direct does not.
func LostAnswers(t *testing.T, trouble storetest.Trouble, s, direct Store, p *Proxy) {
	t.Helper()
	user(t, direct, "u1")
	session(t, direct, "u1", "r1")
	token := &store.VerificationToken{Identifier: "a", Token: "t", Expires: ends}
	must(t, direct.CreateVerificationToken(t.Context(), token))
	lose := func(operation string, call func(ctx context.Context) error) {
		t.Helper()
		must(t, s.Ping(t.Context())) // the connection is open
		before := p.lost.Load()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // a client may wait for the next connection
		defer cancel()
		err := call(ctx)
		p.losing.Store(false)
		if err == nil || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: error %v", operation, err)
		}
		if p.lost.Load() == before {
			t.Errorf("%s: no answer was lost", operation)
		}
		trouble.Recovers(t, s, "r1")
	}
	// Only responses to commits are lost: a read may be retried.
	for i := 0; ; i++ {
		id := fmt.Sprint("lost ", i)
		lose("create user", func(ctx context.Context) error {
			return s.InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
				_, err := tx.CreateUser(ctx, &store.User{ID: id, Email: id + "@example.com"})
				p.losing.Store(true)
				return err
			})
		})
		// The lost data may have been another message that the server sends before its response.
		if _, err := direct.User(t.Context(), id); err == nil {
			break
		}
		if i == 10 {
			t.Fatal("the engine was never asked")
		}
	}
	lose("use token", func(ctx context.Context) error {
		return s.InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
			_, err := tx.(store.VerificationTokenStore).UseVerificationToken(ctx, "a", "t")
			p.losing.Store(true)
			return err
		})
	})
	lose("extend session", func(ctx context.Context) error {
		p.losing.Store(true)
		return s.UpdateSession(ctx, "r1", ends.Add(1))
	})
}
