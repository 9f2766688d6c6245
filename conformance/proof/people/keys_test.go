package people_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/apikey"
)

// keySite is an application with API keys in two processes that share a store.
type keySite struct {
	*testing.T
	store core.Store
	auths [2]*core.Auth
	keys  [2]*apikey.Keys
	mails atomic.Int64
	mu    sync.Mutex
	now   time.Time
}

// Send implements [core.Mailer].
func (s *keySite) Send(_ context.Context, e core.Email) error {
	if e.Kind == mailkind.KeyExpiring {
		s.mails.Add(1)
	}
	return nil
}

func (s *keySite) clock() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }

func (s *keySite) wait(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }

func newKeySite(t *testing.T, kept core.Store, strategy core.Strategy) *keySite {
	t.Helper()
	s := &keySite{T: t, store: kept, now: time.Now().UTC().Truncate(time.Second)}
	for i := range s.auths {
		s.keys[i] = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}}, Mail: s})
		auth, err := core.New(core.Config{
			URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
			Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, Now: s.clock,
			Logger:  slog.New(slog.DiscardHandler),
			Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{s.keys[i]},
			Limits: core.Limits{Shared: true, Rates: map[limit.Attempt]limit.Rates{
				limit.AttemptKeyUse: {Identifier: limit.Rate{Burst: 200, Every: time.Minute}},
			}},
		})
		check(t, err)
		s.auths[i] = auth
	}
	return s
}

// call requests a route for programs with a key, and returns the status.
func (s *keySite) call(process int, key core.Secret) int {
	visit := s.auths[process%2].Visit(s.Context(), &core.Request{
		Method: "GET", Target: "/api", Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.7:4711",
		Header: http.Header{"Authorization": {"Bearer " + string(key)}},
	})
	if _, refusal := visit.RequirePrincipal(core.Scopes("orders:read")); refusal != nil {
		return refusal.Status
	}
	return http.StatusOK
}

// want calls both processes.
func (s *keySite) want(what string, key core.Secret, status int) {
	s.Helper()
	for i := range s.auths {
		if got := s.call(i, key); got != status {
			s.Errorf("%s, process %d: %d, want %d", what, i, got, status)
		}
	}
}

// flush stores the times of use of both processes at the same time.
func (s *keySite) flush() {
	s.Helper()
	together(2, func(i int) bool { check(s.T, s.keys[i].Flush(s.Context())); return true })
}

// TestKeys uses, replaces and ends keys on the store of each database, with both strategies and in two processes.
func TestKeys(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User) {
		newKeySite(t, kept, strategy).lives(ada.ID)
	})
}

func (s *keySite) lives(userID string) {
	ctx := s.Context()
	create := func(process int, n apikey.NewKey) (*apikey.Key, core.Secret) {
		s.Helper()
		n.Name, n.Scopes = "x", []string{"orders:*"}
		made, text, err := s.keys[process].Create(ctx, n)
		check(s.T, err)
		return made, text
	}
	made, text := create(0, apikey.NewKey{UserID: userID, TTL: 10 * 24 * time.Hour})
	s.want("a new key", text, 200)
	s.want("a key that was cut off", text[:len(text)-1], 401)

	// Times of use of both processes add up.
	together(40, func(i int) bool { return s.call(i, text) == 200 })
	s.flush()
	s.flush() // one that has met too many writes of the other
	used, err := s.keys[1].Of(ctx, userID)
	if err != nil || len(used) != 1 || used[0].Uses != 42 || used[0].Used.IsZero() {
		s.Errorf("the key is %+v, %v", used, err)
	}

	// A replaced key works for a day.
	second, secondText, err := s.keys[1].Rotate(ctx, userID, made.ID)
	check(s.T, err)
	s.want("a replaced key", text, 200)
	s.want("its successor", secondText, 200)
	s.wait(24 * time.Hour)
	s.want("a replaced key after a day", text, 401)

	// Of any number of requests, one revokes a key, and no write of the time of use brings it back.
	revoked := together(20, func(i int) bool {
		s.call(i, secondText)
		err := s.keys[i%2].Revoke(ctx, userID, second.ID)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			s.Error(err)
		}
		return err == nil
	})
	s.flush()
	s.want("a revoked key", secondText, 401)
	if revoked == 0 {
		s.Error("no request has revoked the key")
	}

	// The keys of a service are listed by its name.
	service, serviceText := create(0, apikey.NewKey{Service: "billing"})
	s.want("a service", serviceText, 200)
	if all, err := s.keys[1].OfService(ctx, "billing"); err != nil || len(all) != 1 || all[0].ID != service.ID {
		s.Errorf("the keys of the service are %+v, %v", all, err)
	}
	check(s.T, s.keys[1].RevokeService(ctx, "billing", service.ID))
	s.want("the service after the revocation", serviceText, 401)

	// Both processes together allow the rate.
	_, limited := create(1, apikey.NewKey{UserID: userID, TTL: 9 * 24 * time.Hour})
	allowed := 0
	for range 3 { // a process that has met too many writes of the other waits a second
		allowed += together(150, func(i int) bool { return s.call(i, limited) == 200 })
		s.wait(time.Second)
	}
	if allowed > 200 || allowed < 150 {
		s.Errorf("%d requests were allowed, want 200", allowed)
	}

	// The user gets one email before the key expires.
	s.mails.Store(0)
	s.wait(2*24*time.Hour + time.Hour)
	for i := range s.auths { // each visit can start the task
		s.call(i, text)
	}
	deadline := time.Now().Add(20 * time.Second)
	for s.mails.Load() == 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
		check(s.T, s.auths[0].FlushMail(ctx))
		check(s.T, s.auths[1].FlushMail(ctx))
	}
	if n := s.mails.Load(); n != 1 {
		s.Errorf("%d emails before the key expires", n)
	}

	// A key ends with its user.
	check(s.T, s.store.(interface {
		DeleteUser(ctx context.Context, id string) error
	}).DeleteUser(ctx, userID))
	s.want("the key of a deleted user", limited, 401)
	if _, _, err := s.keys[0].Create(ctx, apikey.NewKey{
		UserID: userID, Name: "x", Scopes: []string{"*"},
	}); !errors.Is(err, core.ErrNotFound) || strings.Contains(err.Error(), "lk_") {
		s.Errorf("a key for a deleted user: %v", err)
	}
}
