package core_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// unkeyer is a store that deletes passkeys, or fails to.
type unkeyer struct {
	least
	store.UserDeleter
	store.AccountStore
	store.SessionLister
	store.RecordStore
	people *people
	fails  error
}

func (u *unkeyer) DeleteAuthenticator(_ context.Context, id string) error {
	if u.fails != nil {
		return u.fails
	}
	_, err := found(u.people.passkeys, id)
	delete(u.people.passkeys, id)
	return err
}

// TestVerifyEmailRemovesPasskeys checks that a verification also deletes the passkeys of accounts that no provider
// vouched for. An attacker may have added them before the owner verified the address. The passkeys of accounts that
// were vouched for stay.
func TestVerifyEmailRemovesPasskeys(t *testing.T) {
	t.Parallel()
	u := &unkeyer{}
	w := newTown(t, power{}, core.StrategyDatabase, func(c *core.Config) {
		p := c.Store.(struct{ least }).least.(*people)
		_, records := p.records()
		u.least, u.UserDeleter, u.AccountStore, u.SessionLister, u.RecordStore, u.people = p, p, p, p, records, p
		c.Store = u
		c.Plugins = []core.Plugin{partFunc(func(h *core.PluginHost) error {
			h.VerifiesEmail()
			h.AddAction(core.Action{Method: "POST", Name: "prove",
				Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
					return c.Redirect("/"), c.MarkEmailVerified(ctx, c.Field("id"), victim)
				}})
			return nil
		})}
	})
	w.users["u1"] = core.User{ID: "u1", Email: victim}
	w.users["u2"] = core.User{ID: "u2", Email: "eve@x.example"}
	for id, a := range map[string]core.Account{
		"strange": {UserID: "u1"}, "own": {UserID: "u1", VerifiedEmail: victim}, "eves": {UserID: "u2"},
	} {
		a.Type, a.Provider, a.ProviderAccountID = core.TypeWebAuthn, "passkey", id
		w.accounts[accountKey("passkey", id)] = a
		w.passkeys[id] = store.Authenticator{CredentialID: id, ProviderAccountID: id, UserID: a.UserID}
	}
	// A write conflict in the store must not become ErrConflict, which means that the user has another address.
	for _, u.fails = range []error{errors.New("connection reset"), fmt.Errorf("write: %w", core.ErrConflict)} {
		r := w.browser().submit("/auth/prove", url.Values{"id": {"u1"}})
		if r.Err == nil || errors.Is(r.Err, core.ErrConflict) || !errors.Is(r.Err, core.ErrStore) {
			t.Errorf("a passkey that could not be deleted: %v", r.Err)
		}
		w.users["u1"] = core.User{ID: "u1", Email: victim}
		w.accounts[accountKey("passkey", "strange")] = core.Account{
			UserID: "u1", Type: core.TypeWebAuthn, Provider: "passkey", ProviderAccountID: "strange",
		}
	}
	u.fails = nil
	if r := w.browser().submit("/auth/prove", url.Values{"id": {"u1"}}); r.Err != nil {
		t.Fatal(r.Err)
	}
	if left := slices.Sorted(maps.Keys(w.passkeys)); !slices.Equal(left, []string{"eves", "own"}) {
		t.Errorf("remaining passkeys %q", left)
	}
}
