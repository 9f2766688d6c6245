package people_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/account"
)

// deletionSite is an application that deletes accounts after a week, in two processes that share a store.
type deletionSite struct {
	*factorSite
	deleted atomic.Int64 // calls of Options.Delete
	mails   atomic.Int64 // emails after a deletion
}

// Send implements [core.Mailer].
func (s *deletionSite) Send(_ context.Context, e core.Email) error {
	if e.Kind == mailkind.Deleted {
		s.mails.Add(1)
	}
	return nil
}

func newDeletionSite(t *testing.T, kept core.Store, strategy core.Strategy) *deletionSite {
	t.Helper()
	s := &deletionSite{factorSite: &factorSite{T: t, now: time.Now().UTC().Truncate(time.Second)}}
	for i := range s.auths {
		auth, err := core.New(core.Config{
			URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
			Getenv: func(string) string { return "" }, StoreTimeout: time.Minute,
			Now:    func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now },
			Logger: slog.New(slog.DiscardHandler), Session: core.SessionConfig{Strategy: strategy},
			Providers: []core.Provider{&core.CredentialsProvider{
				Authorize: func(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
					return kept.UserByEmail(ctx, form["email"])
				},
			}},
			Plugins: []core.Plugin{account.New(account.Options{
				Mail: s, DeleteAfter: 7 * 24 * time.Hour,
				Delete: func(context.Context, *core.User) error { s.deleted.Add(1); return nil },
			})},
		})
		check(t, err)
		s.auths[i] = auth
	}
	return s
}

// TestScheduledDeletions schedules, cancels and runs a deletion on the store of each database, with both strategies and
// in two processes.
func TestScheduledDeletions(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, _ *core.User) {
		newDeletionSite(t, kept, strategy).deletes(kept)
	})
}

func (s *deletionSite) deletes(kept core.Store) {
	const address = "ada@example.com"
	ask := func(process int) {
		s.Helper()
		b := s.browse(process)
		b.signIn(address)
		status, body := b.send("POST", "account/delete", url.Values{"phrase": {"delete my account"}})
		if status != http.StatusOK || b.signedIn() {
			s.Fatalf("answered %d %s", status, body)
		}
	}
	// Sign-ins of both processes wait, and any number of them can keep the account.
	ask(0)
	held := make([]*factorBrowser, 10)
	for i := range held {
		held[i] = s.browse(i)
		if held[i].signIn(address); held[i].signedIn() {
			s.Fatal("the sign-in is not held")
		}
	}
	if won := together(len(held), func(i int) bool {
		held[i].send("POST", "account/keep", url.Values{})
		return held[i].signedIn()
	}); won != len(held) {
		s.Errorf("%d sign-ins were completed", won)
	}
	free := s.browse(1)
	if free.signIn(address); !free.signedIn() {
		s.Fatal("the account was not kept")
	}
	s.wait(8 * 24 * time.Hour)
	if _, err := kept.UserByEmail(s.Context(), address); err != nil || s.deleted.Load() != 0 {
		s.Fatalf("a kept account was deleted: %v", err)
	}

	// When the time has come, one process deletes it.
	ask(1)
	s.wait(7*24*time.Hour + time.Hour)
	for _, auth := range s.auths { // each visit can start the task
		auth.Visit(s.Context(), &core.Request{
			Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.7:4711",
			Header: http.Header{},
		})
	}
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) && s.mails.Load() == 0 {
		time.Sleep(10 * time.Millisecond)
		check(s.T, s.auths[0].FlushMail(s.Context()))
		check(s.T, s.auths[1].FlushMail(s.Context()))
	}
	if _, err := kept.UserByEmail(s.Context(), address); !errors.Is(err, core.ErrNotFound) || s.deleted.Load() != 1 ||
		s.mails.Load() != 1 {
		s.Errorf("the user is %v, %d deletions, %d emails", err, s.deleted.Load(), s.mails.Load())
	}
}
