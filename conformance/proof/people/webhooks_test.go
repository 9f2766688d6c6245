package people_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
)

const hookSecret core.Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// hookSite is one process with webhooks.
type hookSite struct {
	hooks *webhooks.Webhooks
	host  *core.PluginHost
}

// Attach implements [core.Plugin], for events of tests.
func (s *hookSite) Attach(h *core.PluginHost) error { s.host = h; return nil }

func newHookSite(kept core.Store, strategy core.Strategy, address string, now func() time.Time) (*hookSite, error) {
	s := &hookSite{hooks: webhooks.New(webhooks.Options{Endpoints: []webhooks.Config{{
		ID: "billing", URL: address, Events: []string{"user.*"}, Secrets: []core.Secret{hookSecret}, Internal: true,
	}}})}
	_, err := core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
		Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, Now: now, CleanUp: core.False,
		Logger: slog.New(slog.DiscardHandler), Session: core.SessionConfig{Strategy: strategy},
		Plugins: []core.Plugin{s.hooks, s},
	})
	return s, err
}

func (s *hookSite) emit(ctx context.Context, user string) {
	s.host.Audit(ctx, audit.Event{Name: audit.UserCreated, Outcome: audit.OK, UserID: user})
}

// hookReceiver is an endpoint that counts the IDs of the events by their user.
type hookReceiver struct {
	*httptest.Server
	mu     sync.Mutex
	status int
	ids    map[string][]string
}

func newHookReceiver(t *testing.T) *hookReceiver {
	t.Helper()
	r := &hookReceiver{status: http.StatusOK, ids: map[string][]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var event struct {
			Data struct {
				UserID string `json:"user_id"`
			}
		}
		if err := json.NewDecoder(req.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.status == http.StatusOK {
			r.ids[event.Data.UserID] = append(r.ids[event.Data.UserID], req.Header.Get("webhook-id"))
		}
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *hookReceiver) respond(status int) { r.mu.Lock(); defer r.mu.Unlock(); r.status = status }

// TestWebhooks sends events of two processes on the store of each database. Those of an outage are sent afterwards,
// each once, by one of the two processes.
func TestWebhooks(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, _ *core.User) {
		now := time.Now().UTC().Truncate(time.Second)
		var mu sync.Mutex
		clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
		r := newHookReceiver(t)
		var sites [2]*hookSite
		for i := range sites {
			s, err := newHookSite(kept, strategy, r.URL, clock)
			check(t, err)
			sites[i] = s
		}
		flush := func() {
			for range 2 {
				together(2, func(i int) bool { check(t, sites[i].hooks.Flush(t.Context())); return true })
			}
		}
		r.respond(http.StatusServiceUnavailable)
		const events = 20
		together(events, func(i int) bool { sites[i%2].emit(t.Context(), strconv.Itoa(i)); return true })
		flush()
		r.respond(http.StatusOK)
		mu.Lock()
		now = now.Add(10 * time.Minute)
		mu.Unlock()
		flush()
		for i := range events {
			if ids := r.ids[strconv.Itoa(i)]; len(ids) != 1 {
				t.Errorf("event %d was accepted %d times", i, len(ids))
			}
		}
		if failed, err := sites[0].hooks.Failed(t.Context(), "billing", 10); err != nil || len(failed) > 0 {
			t.Errorf("the failed deliveries are %+v, %v", failed, err)
		}
	})
}

// emitting is the environment variable with the event that a child process of this program reports.
const emitting = "LATCHKEY_PEOPLE_EMITS"

// hookEvent is such an event.
type hookEvent struct {
	Engine  string
	Place   place
	Address string
	Writes  int
}

// emitOne runs such a process. It is killed, or returns 0 if there were fewer writes.
func emitOne(text string) int {
	err := func() error {
		var e hookEvent
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return err
		}
		ctx := context.Background()
		i := slices.IndexFunc(stores, func(each engine) bool { return each.name == e.Engine })
		kept, err := stores[i].open(ctx, e.Place)
		if err != nil {
			return err
		}
		s, err := newHookSite(mortal(kept.Store, e.Writes), core.StrategyJWT, e.Address, time.Now)
		if err != nil {
			return err
		}
		s.emit(ctx, "ada")
		if err := s.hooks.Flush(ctx); err != nil {
			return err
		}
		return kept.close()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// TestWebhookEnds kills a process with SIGKILL while it stores and sends an event: after each of its writes, on the
// store of each database. The event is not lost: another process sends it after the claim has ended, with the same ID
// if it was sent before.
func TestWebhookEnds(t *testing.T) {
	for _, engine := range stores {
		if engine.name == "memory" { // is lost with the process
			continue
		}
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			for writes := 1; writes <= 4; writes++ { // the event, the delivery, and the deletion of both
				at, r := engine.place(t), newHookReceiver(t)
				kept, err := engine.open(t.Context(), at)
				check(t, err)
				check(t, kept.close())
				at.Migrated = true
				if !runMortal(t, emitting, hookEvent{engine.name, at, r.URL, writes}) {
					t.Fatalf("write %d: the process was not killed", writes)
				}
				kept, err = engine.open(t.Context(), at)
				check(t, err)
				next, err := newHookSite(kept.Store, core.StrategyJWT, r.URL, func() time.Time {
					return time.Now().Add(3 * time.Minute)
				})
				check(t, err)
				for range 2 {
					check(t, next.hooks.Flush(t.Context()))
				}
				check(t, kept.close())
				ids := r.ids["ada"]
				if len(ids) == 0 || len(ids) > 2 || ids[0] != ids[len(ids)-1] {
					t.Errorf("write %d: accepted with the IDs %q", writes, ids)
				}
			}
		})
	}
}
