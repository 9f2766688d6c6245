package kvtest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// Proxy stands between a client and an engine and can lose answers.
type Proxy struct {
	losing atomic.Bool
	lost   atomic.Int64
}

// StartProxy starts a proxy before the engine of a URL and returns the URL that leads through it.
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

// LostAnswers checks what a store does whose answers get lost after the engine has done what was asked: it fails, and does not ask
// a second time, which would find what the first has done. s works through p and direct does not.
func LostAnswers(t *testing.T, s, direct *keyvalue.Store, p *Proxy) {
	t.Helper()
	user(t, direct, "u1")
	must(t, direct.CreateVerificationToken(t.Context(), &core.VerificationToken{Identifier: "a", Token: "t", Expires: ends}))
	lose := func(operation string, call func() error) {
		t.Helper()
		must(t, s.Ping(t.Context())) // the connection is there
		before := p.lost.Load()
		err := call()
		p.losing.Store(false)
		if err == nil || errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: error %v", operation, err)
		}
		if p.lost.Load() == before {
			t.Errorf("%s: no answer was lost", operation)
		}
		Recovers(t, s, "r1")
	}
	session(t, direct, "u1", "r1")
	// Only the answers of commits are lost: a read may be asked again.
	lose("transaction", func() error {
		return s.InTransaction(t.Context(), func(ctx context.Context, tx core.Store) error {
			_, err := tx.CreateUser(ctx, &core.User{ID: "u2", Email: "u2@example.com"})
			p.losing.Store(true)
			return err
		})
	})
	if _, err := direct.User(t.Context(), "u2"); err != nil {
		t.Errorf("the engine was never asked: %v", err)
	}
	lose("transaction", func() error {
		return s.InTransaction(t.Context(), func(ctx context.Context, tx core.Store) error {
			_, err := tx.(core.VerificationTokenStore).UseVerificationToken(ctx, "a", "t")
			p.losing.Store(true)
			return err
		})
	})
	_, err := direct.UseVerificationToken(t.Context(), "a", "t")
	want(t, err, core.ErrNotFound)
	lose("extend session", func() error { p.losing.Store(true); return s.UpdateSession(t.Context(), "r1", ends.Add(1)) })
}
