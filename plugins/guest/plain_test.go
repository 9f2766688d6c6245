package guest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/guest"
)

// TestWithoutTransactions signs guests in on a store without transactions: they become a new user, or an existing one,
// and Callbacks.Merge gets their data.
func TestWithoutTransactions(t *testing.T) {
	for name, signIn := range map[string]func(b *browser){
		"new account":      func(b *browser) { b.oauth("zoe") },
		"existing account": func(b *browser) { b.oauth("grace") },
		"email link":       func(b *browser) { b.link("zoe@example.com") },
		"password":         func(b *browser) { b.signUp("zoe@example.com") },
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(s *site) {
				b := s.browser()
				id := b.guest()
				old := b.copied()
				signIn(b)
				user := b.id()
				if user == "" || user == id || s.user(id) != nil || s.work() != 0 {
					s.Errorf("signed in as %q; the guest is %+v; %d records of work", user, s.user(id), s.work())
				}
				if calls := s.calls(); len(calls) != 1 || calls[0] != (merged{id, user}) {
					s.Errorf("merges %v", calls)
				}
				if s.audited("guest.merged ok") != 1 || s.audited("guest.upgraded ok") != 0 || old.id() != "" {
					s.Errorf("events %v; the guest's session is that of %q", *s.log, old.id())
				}
			}, withoutTransactions)
		})
	}
}

// TestWithoutTransactionsInterrupted makes single writes fail.
func TestWithoutTransactionsInterrupted(t *testing.T) {
	t.Run("create guest", func(t *testing.T) {
		both(t, func(s *site) {
			s.rows.failing("create guest")
			b := s.browser()
			if r := b.post("/auth/guest", nil); r.Err == nil || b.id() != "" || s.audited("signin ok") != 0 {
				s.Errorf("a guest without a record: %v, signed in as %q", r.Err, b.id())
			}
			users, _, err := s.rows.ListUsers(s.Context(), "", 10)
			if err != nil || len(users) != 2 { // grace and linus
				s.Errorf("users %v, %v", users, err)
			}
		}, withoutTransactions)
	})
	for _, step := range []string{"update guest", "create guest-work", "delete user", "delete guest-work"} {
		t.Run(step, func(t *testing.T) {
			both(t, func(s *site) {
				b := s.browser()
				id := b.guest()
				start := b.started()
				s.rows.failing(step)
				r := b.get(start + "grace")
				s.rows.failing("")
				if step == "update guest" {
					if r.Err == nil || b.id() != id || s.user(id) == nil || len(s.calls()) != 0 {
						s.Fatalf("a merge that was not stored: %v, user %q", r.Err, b.id())
					}
					b.oauth("grace")
				}
				s = s.process() // the first one was killed
				for range 3 {
					s.works(20 * time.Minute)
				}
				if s.user(id) != nil || s.work() != 0 || len(s.calls()) == 0 {
					s.Errorf("guest %+v, %d records, %d merges", s.user(id), s.work(), len(s.calls()))
				}
				for _, call := range s.calls() {
					if call != (merged{id, "grace"}) {
						s.Errorf("merge %v", call)
					}
				}
			}, withoutTransactions)
		})
	}
}

// TestWithoutTransactionsNeedsMerge: without Callbacks.Merge the data of a guest would be lost.
func TestWithoutTransactionsNeedsMerge(t *testing.T) {
	s := &site{T: t, rows: &rows{}, strategy: core.StrategyJWT}
	config := s.config()
	config.Callbacks.Merge = nil
	withoutTransactions(&config, nil)
	config.Plugins = []core.Plugin{guest.New(guest.Options{})}
	if _, err := core.New(config); err == nil || !strings.Contains(err.Error(), "set Callbacks.Merge") {
		t.Errorf("New returns %v", err)
	}
}
