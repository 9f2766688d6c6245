package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/emailproof"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/signinmethods"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// VerifiesEmail declares that the plugin verifies email addresses: it sends links or codes and calls MarkEmailVerified.
// Session tokens of users with an unverified address are then marked, so that they become invalid when the address is
// verified.
func (h *PluginHost) VerifiesEmail() {
	h.attaching("VerifiesEmail")
	h.plugins.proves = true
}

// MarkEmailVerified records that the user has verified their address with a link or code that was sent to it, outside
// of a request. Within a request use [ActionRequest.MarkEmailVerified].
func (h *PluginHost) MarkEmailVerified(ctx context.Context, userID, address string) error {
	v := h.Auth.site.unsettled(&Request{})
	_, err := h.plugins.prove(ctx, &v, userID, address)
	v.pending.Cancel(err != nil && !refusesChange(err))
	return err
}

// MarkEmailVerified records that the user has verified their address with a link or code that was sent to it. If the
// address was verified before, nothing changes.
//
// Otherwise an attacker may have created the user with another person's address, to keep access after its owner signs
// in. MarkEmailVerified therefore removes all accounts and passkeys whose provider has not vouched for this exact
// address. Unless all accounts were vouched for, it also ends all sessions of the user. Sign the user in afterwards.
//
// The error is [ErrNotFound] if there is no such user. It is [ErrConflict] if the user has another address by now,
// which then stays unverified; addresses are compared exactly. An error of type [ErrMissingStoreMethods]
// means that the store cannot list accounts or sessions, so that MarkEmailVerified cannot find what to remove. The
// plugin must call [PluginHost.VerifiesEmail] in Attach.
//
// If no user has the address yet, MarkEmailVerified is not needed: [ActionRequest.SignIn] with an Account of type
// [TypeEmail] finds or creates the user of the address, by the rules of a sign-in link (docs/accounts.md).
func (c *ActionRequest) MarkEmailVerified(ctx context.Context, userID, address string) error {
	unlinked, err := c.plugins.prove(ctx, &c.in.arrival, userID, address)
	if err == nil {
		c.verified, c.unlinked = userID, unlinked
	}
	return err
}

// prove verifies the address of a user, and returns the sign-in methods that it removed.
func (ps *plugins) prove(ctx context.Context, v *arrival, userID, address string) (removed []SignInMethod, err error) {
	if err := ps.canProve(); err != nil {
		return nil, err
	}
	l := ps.entry.linker
	user, unlinked, err := l.Verify(ctx, userID, address, &linkEffects{linker: l, at: v})
	for _, a := range unlinked {
		m := ps.namedMethod(signinmethods.OfAccount(a))
		kind := mailkind.AccountUnlinked
		if m.Passkey {
			kind = mailkind.PasskeyRemoved
		}
		removed = append(removed, m)
		ps.notify(ctx, v, user, SecurityNotice{Kind: kind, UserID: userID, Provider: m.Provider})
	}
	switch {
	case err == nil:
		return removed, nil
	case errors.Is(err, ErrNotFound), errors.Is(err, emailproof.ErrChanged):
		return nil, err
	case errors.Is(err, ErrConflict): // a write conflict in the store, not a conflict of addresses
		return nil, errorf(ErrStore, "verify an address: %v", err)
	}
	return nil, errormarks.As(err, ErrStore)
}

// canProve returns an error if the configuration cannot verify addresses.
func (ps *plugins) canProve() error {
	l := ps.entry.linker
	switch {
	case !ps.proves:
		return errors.New("core: MarkEmailVerified: the plugin must call PluginHost.VerifiesEmail in Attach")
	case l.store.Store == nil:
		return errorf(ErrMissingStore, "MarkEmailVerified needs a Store")
	case l.store.Accounts == nil && l.Open:
		return errorf(ErrMissingStoreMethods, "MarkEmailVerified needs a Store that implements store.AccountStore "+
			"(package core/store)")
	case l.store.SessionLister == nil && l.sessions.config.Strategy == StrategyDatabase:
		return errorf(ErrMissingStoreMethods, "MarkEmailVerified needs a Store that implements store.SessionLister "+
			"(package core/store)")
	}
	return nil
}
