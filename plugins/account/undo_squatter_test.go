package account_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestUndoTakesTheAddressFromASquatter: an attacker moves the address away and registers it again, in a profile that
// its provider does not vouch for. The owner gets it back by undoing the change. A user who has verified the address
// keeps it.
func TestUndoTakesTheAddressFromASquatter(t *testing.T) {
	for name, row := range map[string]struct {
		proved  time.Time
		vouched string
		undone  bool
	}{
		"an unverified address":                 {undone: true},
		"a verified address":                    {proved: time.Unix(1_900_000_000, 0)},
		"one that a provider vouches for":       {vouched: ada},
		"with an account vouched for elsewhere": {vouched: adaNew, undone: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{})
			b := s.as(ada)
			b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
			s.must(s.store.CreateUser(t.Context(), &core.User{ID: "squatter", Email: ada, EmailVerified: row.proved}))
			s.must(s.store.LinkAccount(t.Context(), &core.Account{
				UserID: "squatter", Type: core.TypeOAuth, Provider: "hub", ProviderAccountID: "7", VerifiedEmail: row.vouched,
			}))
			s.told()
			owner, form := s.browse(), url.Values{"token": {s.tokenIn(s.mail(ada))}}
			r := owner.call("account/undo", form)
			if !row.undone {
				owner.refused(r, http.StatusGone, "link_invalid")
				if s.user("squatter").Email != ada || s.user("ada").Email != adaNew {
					t.Error("a verified address was removed from its user")
				}
				return
			}
			owner.fine(r, http.StatusOK)
			if u := s.user("squatter"); s.user("ada").Email != ada || u.Email != "" || b.signedIn() {
				t.Errorf("the owner has %q, the squatter %q", s.user("ada").Email, u.Email)
			}
			if told := s.told(); !slices.Contains(told, "email.changed ok squatter") {
				t.Errorf("audit events %q", told)
			}
		})
	}
}

// TestUnverifiedAddressGrantsNothing: a mistyped address is another person's mailbox. When it is corrected, that
// mailbox gets a notice without a link that would give access to the account, and without the user's network.
func TestUnverifiedAddressGrantsNothing(t *testing.T) {
	for vouched, links := range map[string]int{"": 0, eve: 0, ada: 1} {
		s := newSite(t, setup{})
		u := s.user("ada")
		u.EmailVerified = time.Time{}
		s.must(s.store.UpdateUser(t.Context(), u))
		s.must(s.store.LinkAccount(t.Context(), &core.Account{
			UserID: "ada", Type: core.TypeOAuth, Provider: "hub", ProviderAccountID: "7", VerifiedEmail: vouched,
		}))
		b := s.as(ada)
		b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
		if m := s.mail(ada); m.Kind != mailkind.AddressChanged || (m.URL != "") != (links == 1) ||
			m.Email.Peer.IsValid() != (links == 1) {
			t.Errorf("vouched for as %q: the mailbox got %s with %q from %s", vouched, m.Kind, m.URL, m.Email.Peer)
		}
		if left, err := s.store.UserRecords(t.Context(), "ada", "email-undo"); err != nil || len(left) != links {
			t.Errorf("vouched for as %q: %d undo links, %v", vouched, len(left), err)
		}
	}
}

// restless is a store that changes the address while the sessions end, like a concurrent request.
type restless struct {
	*memory.Store
	moves int
}

func (r *restless) DeleteSessions(ctx context.Context, userID string) (int, error) {
	if r.moves > 0 {
		r.moves--
		u, err := r.User(ctx, userID)
		if err != nil {
			return 0, err
		}
		u.Email = "second@evil.example"
		if _, err := r.UpdateUser(ctx, u); err != nil {
			return 0, err
		}
	}
	return r.Store.DeleteSessions(ctx, userID)
}

// TestUndoDuringAChange: a concurrent change by an attacker does not remain after an undo.
func TestUndoDuringAChange(t *testing.T) {
	for name, row := range map[string]struct{ moves, status int }{"once": {1, 200}, "for ever": {100, 409}} {
		t.Run(name, func(t *testing.T) {
			r := &restless{}
			s := newSite(t, setup{configure: func(c *core.Config) {
				r.Store = c.Store.(*memory.Store)
				c.Store = r
			}})
			b := s.as(ada)
			b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
			r.moves = row.moves
			owner, form := s.browse(), url.Values{"token": {s.tokenIn(s.mail(ada))}}
			if a := owner.call("account/undo", form); a.Status != row.status {
				t.Fatalf("answered %d %s", a.Status, a.Body)
			}
			if r.moves = 0; row.status != http.StatusOK {
				owner.fine(owner.call("account/undo", form), http.StatusOK) // the link still works
			}
			if got := s.user("ada").Email; got != ada {
				t.Errorf("the address is %s", got)
			}
		})
	}
}
