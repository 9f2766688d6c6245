package accounts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
	"github.com/latchkey-go/latchkey/core/internal/signinmethods"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/linking"
)

// maxAttempts is the maximum number of attempts at a sign-in while concurrent sign-ins of the same user interfere.
const maxAttempts = 5

// On a store without transactions a sign-in may have to wait until a concurrent one has linked its account. It waits
// up to maxPauses times, first for firstPause and then twice as long each time.
const (
	firstPause = 25 * time.Millisecond
	maxPauses  = 6
)

// Max is the maximum number of accounts, and of passkeys, that a user may have. Stores list them without paging, so a
// user with an unlimited number would slow down every page that shows them. Ordinary users do not reach it.
const Max = 100

// Link finds or creates the user of a sign-in, and makes the resulting changes. Two concurrent sign-ins of the same
// user, in two tabs or on two devices, both succeed: if the other one was faster, Link starts a new transaction and
// reads what it has written. Link changes the UserID of the sign-in's account.
func (l *Linker) Link(ctx context.Context, in *SignIn, e Effects) (m Member, err error) {
	owner := in.Account.UserID
	for n := 1; ; n++ {
		a := l.attempt(e, owner)
		m, err = a.link(ctx, in)
		if err == nil || n == maxAttempts || !a.lostRace(ctx, in, err) {
			return m, err
		}
	}
}

// link determines the user of the sign-in, and makes the resulting changes in one transaction.
func (a *Attempt) link(ctx context.Context, in *SignIn) (m Member, err error) {
	var rule linking.Rule
	err = a.atomically(ctx, func(ctx context.Context) error {
		in.Account.UserID = a.owner // reset: the store may run the transaction again, and so may Link
		facts, known, err := a.facts(ctx, in)
		if err != nil {
			return err
		}
		if rule = facts.Rule(); rule == linking.RuleRefuse {
			if facts.Means == linking.MeansNewAccount && facts.Current == linking.SessionNone {
				a.refused = known
			}
			return a.refusal(facts, in, known)
		}
		m, err = a.apply(ctx, rule, in, known)
		if err == nil && in.Passkey != nil {
			err = a.attachPasskey(ctx, in, m)
		}
		return err
	})
	switch {
	case err != nil:
		return m, err
	case rule == linking.RuleVerify || rule == linking.RuleVerifyAndEndSessions:
		return a.signInVerified(ctx, in, m.User)
	case rule == linking.RuleLink:
		return m, a.undoLinkIfVerified(ctx, in)
	}
	return m, nil
}

// apply executes any rule except linking.RuleRefuse.
func (a *Attempt) apply(
	ctx context.Context, rule linking.Rule, in *SignIn, known *store.User,
) (m Member, err error) {
	switch rule {
	case linking.RuleContinue, linking.RuleSignIn:
		if err = a.refreshAccount(ctx, in, known); err != nil {
			return m, err
		}
		if rule == linking.RuleContinue && !a.NewSessions {
			return Member{User: in.Current.User, Session: in.Current.Session, KeepsSession: true}, nil
		}
		m.User = known
	case linking.RuleLink:
		m = Member{User: in.Current.User, Session: in.Current.Session, KeepsSession: true}
		return m, a.attach(ctx, in, m.User, true)
	case linking.RuleCreateUser, linking.RuleMoveAddress:
		return a.createUser(ctx, in, known)
	case linking.RuleVerify, linking.RuleVerifyAndEndSessions:
		m.User, err = a.verify(ctx, in, known, rule == linking.RuleVerifyAndEndSessions)
		return m, err
	default: // linking.RuleSignInByAddress
		if m.User, err = a.signInByAddress(ctx, in, known); err != nil {
			return m, err
		}
	}
	m.Session, err = a.newSession(ctx, in, m)
	return m, err
}

// signInByAddress signs in the user who has the address.
func (a *Attempt) signInByAddress(ctx context.Context, in *SignIn, known *store.User) (*store.User, error) {
	switch {
	case in.Account.Type != store.TypeEmail:
		return known, a.attach(ctx, in, known, false)
	case a.verified:
		return known, nil
	}
	return a.verify(ctx, in, known, false)
}

// createUser creates a user, or upgrades the provisional user. If known is not nil, its address moves to the new user,
// and they have verified it.
func (a *Attempt) createUser(ctx context.Context, in *SignIn, known *store.User) (m Member, err error) {
	if known != nil {
		if err := a.removeAddress(ctx, known); err != nil {
			return m, err
		}
	}
	newUser, err := a.newUser(in, known != nil)
	if err != nil {
		return m, err
	}
	if in.Upgrade != nil {
		m, err = a.upgrade(ctx, in, newUser)
	} else {
		m, err = a.create(ctx, newUser)
	}
	if err != nil {
		return m, err
	}
	if known != nil && in.Account.UserID == known.ID { // callbacks and events see the account's new owner
		in.Account.UserID = m.User.ID
	}
	if in.Account.Type != store.TypeEmail {
		if err := a.attach(ctx, in, m.User, false); err != nil {
			return m, err
		}
	}
	m.Session, err = a.newSession(ctx, in, m)
	return m, err
}

func (a *Attempt) create(ctx context.Context, newUser *store.User) (m Member, err error) {
	announced := audit.Event{Name: audit.UserCreated, UserID: newUser.ID, Subject: newUser.Email}
	if !a.inTx {
		if err := a.AnnounceChange(ctx, announced); err != nil {
			return m, err
		}
	}
	a.made = newUser // even if the store fails: it may have created the user anyway
	if m.User, err = a.tx.CreateUser(ctx, newUser); err != nil {
		if errors.Is(err, store.ErrConflict) {
			a.made = nil
		}
		return m, err
	}
	a.made, m.Created = m.User, true
	if announced.UserID = m.User.ID; a.inTx { // the store may have chosen the ID
		if err := a.AnnounceChange(ctx, announced); err != nil {
			return m, err
		}
	}
	a.done(ctx, audit.UserCreated, "", m.User)
	return m, nil
}

// upgrade makes a provisional user the user that create would create.
func (a *Attempt) upgrade(ctx context.Context, in *SignIn, newUser *store.User) (m Member, err error) {
	if err := a.AnnounceChange(ctx, audit.Event{Name: audit.GuestUpgraded, UserID: in.Upgrades}); err != nil {
		return m, err
	}
	m.User, err = in.Upgrade(ctx, a.given, newUser)
	if errors.Is(err, store.ErrNotFound) { // the session is from before the upgrade: the next attempt creates a user
		in.Upgrade, err = nil, store.ErrConflict
	}
	if err != nil {
		return m, err
	}
	a.made, m.Created, m.Upgraded = m.User, true, true
	a.done(ctx, audit.GuestUpgraded, "", m.User)
	return m, nil
}

// removeAddress removes the address of a user who never verified it.
func (a *Attempt) removeAddress(ctx context.Context, known *store.User) error {
	left := known.Clone()
	left.Email, left.EmailVerified, left.Null = "", time.Time{}, left.Null|store.NullEmail
	if err := a.AnnounceChange(ctx, audit.Event{Name: audit.EmailChanged, UserID: left.ID}); err != nil {
		return err
	}
	left, err := a.tx.UpdateUser(ctx, left)
	if err == nil {
		a.done(ctx, audit.EmailChanged, audit.ReasonProved, left)
	}
	return err
}

// newUser returns the user to create. moved reports that the address belonged to another user.
func (a *Attempt) newUser(in *SignIn, moved bool) (*store.User, error) {
	u := in.User.Clone()
	if in.Account.Type == store.TypeEmail { // the flow may have found the previous user: take only the address
		u = &store.User{ID: u.ID, Email: u.Email}
	} else {
		u.Stored = in.OAuth
	}
	if moved || in.User.Stored || in.Passkey != nil { // another user may have this ID by now
		var err error
		if u.ID, err = a.NewID(); err != nil {
			return nil, err
		}
	}
	if u.EmailVerified = (time.Time{}); moved || in.Account.Type == store.TypeEmail {
		u.EmailVerified = a.Now()
	}
	return u, nil
}

// signInVerified signs in a user who was the first to verify the address. It reads the accounts again, after other
// requests can see the verification. If another request has linked an account in the meantime, the account is in the
// list. If one links an account from now on, undoLinkIfVerified in that request removes it. One of the two always runs
// second, whatever isolation level the store's transactions have.
func (a *Attempt) signInVerified(ctx context.Context, in *SignIn, proved *store.User) (m Member, err error) {
	if err := a.endEarlierSessions(ctx, proved.ID); err != nil {
		return m, err
	}
	linked, err := a.Store.Linked(ctx, proved.ID)
	if err != nil {
		return m, err
	}
	rule := linking.RuleSignInByAddress
	if a.otherMethods(a.Store, linked, proved) == linking.UnvouchedMethods {
		rule = linking.RuleMoveAddress
	}
	a.verified = true
	err = a.atomically(ctx, func(ctx context.Context) (err error) {
		m, err = a.apply(ctx, rule, in, proved)
		return err
	})
	return m, err
}

// undoLinkIfVerified unlinks an account that was just linked, if another person verified the user's address in the
// meantime. See signInVerified.
func (a *Attempt) undoLinkIfVerified(ctx context.Context, in *SignIn) error {
	accounts, current := a.Store.Accounts, in.Current.User
	if accounts == nil || !current.EmailVerified.IsZero() {
		return nil
	}
	user, err := a.Store.User(ctx, current.ID)
	if err == nil && user.EmailVerified.IsZero() {
		return nil
	}
	undo := accounts.UnlinkAccount(context.WithoutCancel(ctx), in.Account.Provider, in.Account.ProviderAccountID)
	if err = errors.Join(err, undo); err != nil {
		return err
	}
	a.done(ctx, audit.AccountUnlinked, audit.ReasonProved, current)
	return a.refusal(linking.Facts{Means: linking.MeansNewAccount, Current: linking.SessionOutdated}, in, current)
}

// attach links the account of a sign-in to a user. signedIn reports that the user is signed in. If the provider of
// every existing account vouches for the user's address, the added account also counts as vouched for.
func (a *Attempt) attach(ctx context.Context, in *SignIn, u *store.User, signedIn bool) error {
	account := a.Kept()
	if !a.isNew(u) {
		linked, err := a.tx.Linked(ctx, u.ID)
		if err != nil {
			return err
		}
		n, what := 0, "linked accounts"
		if in.Passkey != nil {
			what = "passkeys"
		}
		for _, other := range linked {
			if (other.Type == store.TypeWebAuthn) == (in.Passkey != nil) {
				n++
			}
		}
		switch {
		case n >= Max:
			return a.Refused(Refusal{UserID: u.ID, Passkey: in.Passkey != nil, Text: fmt.Sprintf(
				"the user has %d %s, which is the maximum: remove one first", Max, what)})
		case signedIn && u.EmailVerified.IsZero() && u.Email != "" && !mailboxes.Same(account.VerifiedEmail, u.Email) &&
			a.otherMethods(a.tx, linked, u) == linking.VouchedMethods:
			account.VerifiedEmail = u.Email
		}
	}
	account.UserID = u.ID
	write := func(ctx context.Context) error {
		if err := a.tx.LinkAccount(ctx, account); err != nil {
			return err
		}
		a.AfterCommit(func() {
			told := account.Clone()
			told.UserID = ""
			a.Done(ctx, Change{Event: audit.Event{Name: audit.AccountLinked, UserID: u.ID}, User: u, Account: told})
		})
		return nil
	}
	if account.Type == store.TypeWebAuthn {
		return write(ctx)
	}
	return a.Add(ctx, a, Method{
		u, a.isNew(u), signinmethods.AccountID(account), mailkind.AccountLinked, account.Provider,
	}, write)
}

// isNew reports whether the user was created by this sign-in.
func (a *Attempt) isNew(u *store.User) bool { return a.made != nil && a.made.ID == u.ID }

// attachPasskey stores the passkey of a registration. For a new user without an email address it also stores the
// account that finds the user by the text they typed.
func (a *Attempt) attachPasskey(ctx context.Context, in *SignIn, m Member) error {
	in.Passkey.UserID = m.User.ID
	passkeys := a.tx.Passkeys
	if passkeys == nil {
		return errors.New("the Store that InTransaction passes does not implement AuthenticatorStore")
	}
	write := func(ctx context.Context) error {
		err := passkeys.CreateAuthenticator(ctx, in.Passkey)
		if err == nil {
			a.done(ctx, audit.PasskeyAdded, "", m.User)
		}
		return err
	}
	err := a.Add(ctx, a, Method{
		m.User, a.isNew(m.User), signinmethods.PasskeyID(in.Passkey.CredentialID), mailkind.PasskeyAdded, in.Account.Provider,
	}, write)
	if err != nil || in.Typed == "" || !m.Created {
		return err
	}
	named := typedAccount(in.Account.Provider, in.Typed)
	named.UserID = m.User.ID
	return a.tx.LinkAccount(ctx, named)
}

// refreshAccount updates the tokens of a known account, and the address that its provider vouches for. If there is only
// an ID token, the stored tokens, which may be in use, do not change.
func (a *Attempt) refreshAccount(ctx context.Context, in *SignIn, owner *store.User) error {
	accounts := a.tx.Accounts
	if accounts == nil || !in.OAuth {
		return nil
	}
	account := a.Kept()
	account.UserID = owner.ID
	keepsAddress := account.VerifiedEmail == "" && owner.EmailVerified.IsZero() && owner.Email != ""
	if keepsAddress || in.OnlyIDToken {
		switch kept, err := accounts.Account(ctx, account.Provider, account.ProviderAccountID); {
		case err == nil:
			if keepsAddress {
				account.VerifiedEmail = kept.VerifiedEmail
			}
			if in.OnlyIDToken {
				address, label := account.VerifiedEmail, account.Label
				account = kept.Clone()
				account.VerifiedEmail, account.Label = address, label
			}
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
	}
	if err := accounts.UpdateAccount(ctx, account); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// lostRace reports whether an attempt failed because a concurrent sign-in of the same user was faster, so that another
// attempt will succeed. That is so if the store reported a conflict, or if the rules refused the address and its user
// now has this account.
//
// On a store without transactions the user is created before the account. A user without any account and with an
// unverified address may be about to get this account, so lostRace waits for it.
func (a *Attempt) lostRace(ctx context.Context, in *SignIn, err error) bool {
	switch {
	case errors.Is(err, store.ErrConflict):
		return true
	case a.refused == nil || in.Passkey != nil || a.Store.Accounts == nil:
		return false
	}
	for n := range maxPauses {
		linked, err := a.Store.Linked(ctx, a.refused.ID)
		if err != nil || len(linked) > 0 {
			return err == nil && slices.ContainsFunc(linked, in.is)
		}
		if a.Store.Transactor != nil || !a.refused.EmailVerified.IsZero() || !pause(ctx, firstPause<<n) {
			return false
		}
	}
	return false
}

// pause waits for d. It returns false if the request was canceled.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
