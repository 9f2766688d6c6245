package core_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// listed is a store with records that can be listed.
type listed struct{ *shelf }

func (s listed) ListRecords(
	_ context.Context, kind, prefix, _ string, _ int,
) (list []*store.Record, next string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.records {
		if r.Kind == kind && strings.HasPrefix(r.Key, prefix) {
			list = append(list, r.Clone())
		}
	}
	return list, "", nil
}

// mortal is the store as seen by a process that ends: from then on it changes nothing.
type mortal struct {
	listed
	dead atomic.Bool
}

func (s *mortal) UpdateRecord(ctx context.Context, r *store.Record) error {
	if s.dead.Load() {
		return errors.New("the process has ended")
	}
	return s.listed.UpdateRecord(ctx, r)
}

func (s *mortal) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if s.dead.Load() {
		return nil, errors.New("the process has ended")
	}
	return s.listed.DeleteRecord(ctx, kind, key)
}

// TestOutbox: an email of a process that does not finish is sent by another process: after the claim has ended, at its
// next request, once for any number of processes. The stored email is encrypted.
func TestOutbox(t *testing.T) {
	for name, row := range map[string]struct {
		failures int           // of the first process's mail server; 0 means that it never responds
		after    time.Duration // until the requests at the other processes
		sent     int           // by them
	}{
		"the claim lasts":               {0, time.Minute, 0},
		"the claim has ended":           {0, 3 * time.Minute, 1},
		"before the second attempt":     {-1, 5 * time.Second, 0},
		"the second attempt is due":     {-1, 15 * time.Second, 1},
		"the record has expired by now": {0, 25 * time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kept := listed{newShelf()}
				dying := &mortal{listed: kept}
				open := func(kept core.Store, m core.Mailer) *app {
					return newApp(t, core.Config{
						Store: kept, Now: time.Now, CleanUp: core.False, Session: core.SessionConfig{Strategy: core.StrategyJWT},
						Plugins: []core.Plugin{&mailing{mailer: m}}, Mail: core.MailConfig{Retries: []time.Duration{10 * time.Second}},
					})
				}
				dead := &mailServer{failures: row.failures, hold: make(chan struct{})}
				first := visit(t, open(dying, dead))
				to := "hold@example.com"
				if row.failures != 0 {
					to = "ada@example.com"
				}
				if status := first.ask("link", to); status != 202 {
					t.Fatalf("status %d", status)
				}
				synctest.Wait()
				for _, r := range kept.records {
					if r.Kind != "outbox" || strings.Contains(string(r.Value), to) {
						t.Errorf("stored %s %s", r.Kind, r.Value)
					}
				}
				if len(kept.records) != 1 {
					t.Fatalf("%d records", len(kept.records))
				}
				dying.dead.Store(true)
				time.Sleep(row.after) //nolint:forbidigo // the clock of a synctest bubble
				server := &mailServer{}
				for range 2 {
					visit(t, open(kept, server)).get("/auth/providers")
				}
				synctest.Wait()
				if n := server.got(to); n != row.sent {
					t.Errorf("sent %d times, want %d", n, row.sent)
				}
				close(dead.hold)
				time.Sleep(2 * time.Hour) //nolint:forbidigo // the clock of a synctest bubble
			})
		})
	}
}
