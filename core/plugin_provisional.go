package core

import (
	"context"
	"slices"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
)

// ProvisionalUsers describes users without a sign-in method, such as guests: see [PluginHost.AddProvisionalUsers]. All
// functions except Upgrade must be set. They are called concurrently.
type ProvisionalUsers struct {
	// Method is the method of their sessions, such as [amr.Guest]. No other session may have it.
	Method amr.Method
	// Action is the path of the plugin's POST action that signs in a new provisional user. The sign-in page has a button
	// for it.
	Action string
	// Guard is called before an action of another plugin that requires a session or is for programs.
	Guard func(ctx context.Context, s *Session, action string) error
	// Active reports whether a user is a provisional user, for the sessions that the application creates.
	Active func(ctx context.Context, userID string) (bool, error)
	// Upgrade gives a provisional user the data of user, within a transaction, and ends their stored sessions. The error
	// is [ErrNotFound] if the user cannot be upgraded any more, and [ErrConflict] if another user has the email address.
	// If Upgrade is nil, a new user is created instead, and SignedIn is called. Upgrade needs a store.Transactor.
	Upgrade func(ctx context.Context, tx Store, userID string, user *User) (*User, error)
	// Upgraded is called after the transaction, when all sessions from before the upgrade have ended.
	Upgraded func(ctx context.Context, userID string) error
	// SignedIn is called when a provisional user has signed in as an existing user, before the browser gets the session.
	SignedIn func(ctx context.Context, userID, existing string) error
}

// provisional are the provisional users of a plugin. A nil *provisional has none.
type provisional struct {
	ProvisionalUsers
	plugin string
	auth   *Auth
}

// AddProvisionalUsers registers users without a sign-in method. When the browser of such a user signs in and a new user
// would be created, the provisional user is upgraded instead, in the same transaction: they keep the ID. If an existing
// user signs in, SignedIn is called. In both cases the sign-in must have been started under the provisional user's
// session, because an attacker may have planted the session afterwards. Apart from an upgrade, no account is linked to
// the user of a session with Method.
//
// AddProvisionalUsers also calls TrackAuthentication and EndsSessions.
func (h *PluginHost) AddProvisionalUsers(p ProvisionalUsers) {
	h.TrackAuthentication()
	h.EndsSessions()
	switch {
	case p.Method == "" || p.Guard == nil || p.Active == nil || p.Upgraded == nil || p.SignedIn == nil:
		h.fault("ProvisionalUsers: set Method, Guard, Active, Upgraded and SignedIn")
	case h.plugins.provisional != nil:
		h.fault("another plugin has provisional users: remove one of them")
	case p.Upgrade != nil && h.Records() != nil && h.Transactor == nil:
		h.fault("ProvisionalUsers.Upgrade needs a Store that implements store.Transactor: leave Upgrade nil without one")
	}
	h.plugins.provisional = &provisional{p, h.plugin, h.Auth}
}

// UpgradeUser upgrades a provisional user with the data of user, within a transaction of the store: see
// [ProvisionalUsers].Upgrade. A plugin calls it in [SignIn].Upgrade.
func (h *PluginHost) UpgradeUser(ctx context.Context, tx Store, userID string, user *User) (*User, error) {
	if !h.plugins.provisional.upgrades() {
		return nil, ErrNotFound
	}
	return h.plugins.provisional.Upgrade(ctx, tx, userID, user)
}

// upgrades reports whether a sign-up upgrades a provisional user.
func (p *provisional) upgrades() bool { return p != nil && p.Upgrade != nil }

// has reports whether these are the methods of a session of a provisional user.
func (p *provisional) has(methods []amr.Method) bool {
	return p != nil && slices.Contains(methods, p.Method)
}

// identify sets the provisional user of a sign-in that was started under their session.
func (p *provisional) identify(ctx context.Context, r requestSession, id *identity) error {
	if p == nil {
		return nil
	}
	current, err := r.current(ctx)
	if err != nil || current == nil || !p.has(current.methods) {
		return err
	}
	if id.unlinked = true; id.started == flowstate.SameSession {
		id.provisional = current.user.ID
	}
	return nil
}

// endsReplaced reports whether the session of the request ends as soon as the sign-in has replaced it. That of a
// provisional user ends with Upgraded or SignedIn: if the process stops before, the user can sign in again.
func (id *identity) endsReplaced() bool { return id.provisional == "" }
