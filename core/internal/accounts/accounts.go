// Package accounts finds or creates the user of a sign-in, and links the account that they signed in with, in one
// transaction of the store. The rules are in internal/linking.
package accounts

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// Linker finds or creates the users of sign-ins. It is safe for concurrent use.
type Linker struct {
	Store storecalls.Stores
	// Within returns the interfaces of a transaction.
	Within func(tx store.Store) storecalls.Stores
	Now    func() time.Time
	// NewID returns the ID of a new user.
	NewID func() (string, error)
	// Open reports that the configuration has a provider of accounts or passkeys, so that an account can sign a user in.
	Open bool
	// FreshLinks is the maximum time since the last authentication for a user who links an account. Zero means no limit.
	FreshLinks time.Duration
	// StoredSessions reports that sessions are in the store, not in cookies.
	StoredSessions bool
	// NewSessions reports that a sign-in by the current user gets a new session.
	NewSessions bool
	// EndSessions ends the sessions in cookies of a user. It is nil if they cannot be ended.
	EndSessions func(ctx context.Context, userID string) error
	// Refused returns the error of a sign-in that is refused.
	Refused func(r Refusal) error
}

// SignIn is what a provider, a passkey or a sign-in link has shown.
type SignIn struct {
	// User is the stored user if the flow knows them, else a new user from the profile with a new ID.
	User *store.User
	// Account is the account of the sign-in. Its UserID is that of the owner, if the flow knows them.
	Account *store.Account
	// OAuth reports that an OAuth provider has authenticated the user. OnlyIDToken reports that it has sent no tokens
	// except an ID token.
	OAuth, OnlyIDToken bool
	// ByAddress reports that the account may be linked to the user who has its address. Verifies reports that this is so
	// and that the provider vouches for the address.
	ByAddress, Verifies bool
	// Given is the address as the provider sent it.
	Given string
	// SameSession reports that the current session has started the flow.
	SameSession bool
	// Passkey is the passkey of a registration, or nil. Typed is the address that its user typed: see typedAccount.
	Passkey *store.Authenticator
	Typed   string
	// Current is the session of the request.
	Current Current
	// Upgrade gives the provisional user with the ID Upgrades the data of a new user. It is nil if a user is created.
	Upgrade  func(ctx context.Context, tx store.Store, user *store.User) (*store.User, error)
	Upgrades string
	// NewSession creates the session of a user. It is nil if the sign-in creates none.
	NewSession func(ctx context.Context, sessions store.SessionStore, m Member) (*store.Session, error)
}

// Current is the session of a request. The zero value means that no user is signed in.
type Current struct {
	User    *store.User
	Session *store.Session
	// AtRest is the token of Session as the store has it.
	AtRest string
	// Outdated reports that the token was issued before the user's address was verified.
	Outdated bool
	// AuthTime is when the user authenticated. It is zero if that is unknown.
	AuthTime time.Time
}

// Member is the user of a sign-in.
type Member struct {
	User    *store.User
	Session *store.Session // nil if none was created
	Created bool
	// KeepsSession reports that the session of the request continues.
	KeepsSession bool
	// Upgraded reports that a provisional user has become this user.
	Upgraded bool
}

// Refusal is why a sign-in is refused.
type Refusal struct {
	// UserID is the user whose account or address it is, or empty.
	UserID string
	// Text is the reason, for the log.
	Text string
	// OtherSession reports that another session has started the flow. Passkey reports that a passkey is refused.
	OtherSession, Passkey bool
}

// Effects has the consequences of a change outside of users, accounts and passkeys.
type Effects interface {
	// Announce reports a change before it is made. records are those of its transaction, or nil.
	Announce(ctx context.Context, records store.RecordStore, e audit.Event) error
	// Add calls write, which adds a sign-in method, and informs the user.
	Add(ctx context.Context, a *Attempt, m Method, write func(ctx context.Context) error) error
	// Kept returns the stored account of the sign-in.
	Kept() *store.Account
	// Done reports a change that was made, and committed if there is a transaction.
	Done(ctx context.Context, c Change)
}

// Method is a sign-in method that is added to a user.
type Method struct {
	User     *store.User
	NewUser  bool
	ID       string
	Kind     mailkind.Kind
	Provider string
}

// Change is a change that was made.
type Change struct {
	Event audit.Event // Name, Reason, UserID and SessionID
	// User is the new state of a user who was created or changed, or the user of Account.
	User *store.User
	// Account is the account that was linked.
	Account *store.Account
	// Err is why the user of a failed sign-in could not be deleted. Nothing was changed.
	Err error
}

// Attempt accesses the store for one attempt, within a transaction if the store supports them. The report of changes
// is delayed until the commit.
type Attempt struct {
	*Linker
	Effects
	tx      storecalls.Stores // the transaction, or the store if it has none
	given   store.Store       // tx as the store gave it
	waiting []func()
	inTx    bool
	// owner is the ID of the account's user as the flow found it, before a rule assigned the account to another user.
	owner string
	// made is the user that this sign-in created. Without a transaction, undo deletes them if a later step fails.
	made *store.User
	// refused is the user whose address the rules refused to this sign-in, or nil.
	refused *store.User
	// verified reports that this sign-in has already marked the address as verified.
	verified bool
	// unlinked lists the accounts that a verification removed.
	unlinked []*store.Account
	// endsEarlierSessions reports that the user's earlier sessions in cookies must end after the commit.
	endsEarlierSessions bool
}

func (l *Linker) attempt(e Effects, owner string) *Attempt {
	return &Attempt{Linker: l, Effects: e, tx: l.Store, owner: owner}
}

// atomically runs work in a transaction. If the store has none and work fails, a user who was created is deleted again.
func (a *Attempt) atomically(ctx context.Context, work func(context.Context) error) error {
	if a.Store.Transactor == nil {
		err := work(ctx)
		if err != nil {
			a.undo(ctx)
		}
		return err
	}
	a.inTx = true
	err := a.Store.Transactor.InTransaction(ctx, func(ctx context.Context, tx store.Store) error {
		// The store may run the transaction again.
		a.tx, a.given, a.waiting, a.made, a.refused, a.unlinked = a.Within(tx), tx, nil, nil, nil, nil
		return work(ctx)
	})
	a.inTx = false
	if err != nil {
		return err
	}
	for _, report := range a.waiting {
		report()
	}
	return nil
}

// undo deletes the user whom a failed sign-in created. Otherwise that user would make the next attempt fail. The user
// may not exist: undo also runs if CreateUser failed without a definite result.
func (a *Attempt) undo(ctx context.Context) {
	if a.made == nil || a.Store.UserDeleter == nil {
		return
	}
	err := a.Store.UserDeleter.DeleteUser(context.WithoutCancel(ctx), a.made.ID)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	a.Done(ctx, Change{
		Event: audit.Event{Name: audit.UserDeleted, Reason: audit.ReasonUndone, UserID: a.made.ID}, Err: err,
	})
}

// InTransaction reports whether the changes are in a transaction now.
func (a *Attempt) InTransaction() bool { return a.inTx }

// Records are those of the transaction, or of the store if it has none. It is nil if the store has no records.
func (a *Attempt) Records() store.RecordStore { return a.tx.Records }

// AnnounceChange announces a change of the transaction, or of the store if it has no transactions.
func (a *Attempt) AnnounceChange(ctx context.Context, e audit.Event) error {
	switch {
	case !a.inTx:
		return a.Announce(ctx, nil, e)
	case a.tx.Records == nil:
		return nil
	}
	return a.Announce(ctx, a.tx.Records, e)
}

// AfterCommit calls report after the transaction is committed. Without transactions it calls report immediately, in the
// order of Auth.js; it may then report a user whom undo deletes when a later write fails.
func (a *Attempt) AfterCommit(report func()) {
	if a.inTx {
		a.waiting = append(a.waiting, report)
		return
	}
	report()
}

// done reports a change after the commit.
func (a *Attempt) done(ctx context.Context, name audit.Name, reason audit.Reason, u *store.User) {
	a.AfterCommit(func() {
		a.Done(ctx, Change{Event: audit.Event{Name: name, Reason: reason, UserID: u.ID}, User: u})
	})
}

// newSession creates the session of a user.
func (a *Attempt) newSession(ctx context.Context, in *SignIn, m Member) (*store.Session, error) {
	if in.NewSession == nil {
		return nil, nil
	}
	return in.NewSession(ctx, a.tx.Sessions, m)
}

// typedAccount returns the account that finds a user's passkeys by the text they typed at registration, if the user has
// no email address. The text is an address and therefore never equals a credential ID. The account does not grant
// access; only a passkey does.
func typedAccount(provider, typed string) *store.Account {
	return &store.Account{Type: store.TypeWebAuthn, Provider: provider, ProviderAccountID: typed}
}

// is reports whether an account is that of the sign-in.
func (in *SignIn) is(a *store.Account) bool {
	return a.Provider == in.Account.Provider && a.ProviderAccountID == in.Account.ProviderAccountID
}
