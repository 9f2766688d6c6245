package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/linking"
)

// linkOnce determines the user of the identity, and makes the resulting changes in one transaction.
func (w *writer) linkOnce(ctx context.Context, id *identity, signedIn sessionUser) (who member, err error) {
	var rule linking.Rule
	err = w.atomically(ctx, func(ctx context.Context) error {
		id.account.UserID = w.owner // reset: the store may run the transaction again, and so may linkWithRetry
		signedIn := w.withoutProvisional(id, signedIn)
		facts, known, err := w.facts(ctx, id, signedIn)
		if err != nil {
			return err
		}
		if rule = facts.Rule(); rule == linking.RuleRefuse {
			if facts.Means == linking.MeansNewAccount && facts.Current == linking.SessionNone {
				w.refused = known
			}
			return refusal(facts, id, known)
		}
		who, err = w.apply(ctx, rule, id, signedIn, known)
		if err == nil && id.passkey != nil {
			err = w.attachPasskey(ctx, id, who)
		}
		return err
	})
	switch {
	case err != nil:
		return who, err
	case who.upgraded:
		return who, w.plugins.provisional.upgraded(ctx, w.at, who.user.ID)
	case rule == linking.RuleVerify || rule == linking.RuleVerifyAndEndSessions:
		return w.signInVerified(ctx, id, signedIn, who.user)
	case rule == linking.RuleLink:
		return who, w.undoLinkIfVerified(ctx, id, signedIn)
	}
	return who, nil
}

// apply executes any rule except linking.RuleRefuse.
func (w *writer) apply(
	ctx context.Context, rule linking.Rule, id *identity, signedIn sessionUser, known *User,
) (who member, err error) {
	switch rule {
	case linking.RuleContinue, linking.RuleSignIn:
		if err = w.refreshAccount(ctx, id, known); err != nil {
			return who, err
		}
		// With facts, the sign-in is a re-authentication and gets a new session.
		if rule == linking.RuleContinue && !w.linker.sessions.facts {
			return member{user: signedIn.user, session: signedIn.session, keepsSession: true}, nil
		}
		who.user = known
	case linking.RuleLink:
		who = member{user: signedIn.user, session: signedIn.session, keepsSession: true}
		return who, w.attach(ctx, id, who.user, true)
	case linking.RuleCreateUser, linking.RuleMoveAddress:
		return w.createUser(ctx, id, known)
	case linking.RuleVerify, linking.RuleVerifyAndEndSessions:
		who.user, err = w.prove(ctx, id, signedIn, known, rule == linking.RuleVerifyAndEndSessions)
		return who, err
	default: // linking.RuleSignInByAddress
		if who.user, err = w.signInByAddress(ctx, id, signedIn, known); err != nil {
			return who, err
		}
	}
	who.session, err = w.createSession(ctx, who)
	return who, err
}

// signInByAddress signs in the user who has the address.
func (w *writer) signInByAddress(ctx context.Context, id *identity, signedIn sessionUser, known *User) (*User, error) {
	switch {
	case id.account.Type != TypeEmail:
		return known, w.attach(ctx, id, known, false)
	case w.verified:
		return known, nil
	}
	return w.prove(ctx, id, signedIn, known, false)
}

// createUser creates a user. If known is not nil, its address moves to the new user, and they have verified it.
func (w *writer) createUser(ctx context.Context, id *identity, known *User) (who member, err error) {
	if known != nil {
		if err := w.removeAddress(ctx, known); err != nil {
			return who, err
		}
	}
	newUser, err := w.newUser(id, known != nil)
	if err != nil {
		return who, err
	}
	if w.upgrades != "" {
		return w.upgradeUser(ctx, id, known, newUser)
	}
	announced := audit.Event{Name: audit.UserCreated, UserID: newUser.ID, Subject: newUser.Email}
	if !w.inTx {
		if err := w.announce(ctx, announced); err != nil {
			return who, err
		}
	}
	w.made = newUser // even if the store fails: it may have created the user anyway
	if who.user, err = w.tx.CreateUser(ctx, newUser); err != nil {
		if errors.Is(err, ErrConflict) {
			w.made = nil
		}
		return who, err
	}
	w.made, who.created = who.user, true
	if announced.UserID = who.user.ID; w.inTx { // the store may have chosen the ID
		if err := w.announce(ctx, announced); err != nil {
			return who, err
		}
	}
	w.afterCommit(func() {
		w.events.createdUser(ctx, w.at, who.user)
		w.at.decided(ctx, audit.UserCreated, "", who.user.ID)
	})
	return w.equipUser(ctx, id, known, who)
}

// upgradeUser makes a provisional user the user that createUser would create.
func (w *writer) upgradeUser(ctx context.Context, id *identity, known, newUser *User) (who member, err error) {
	if err := w.announce(ctx, audit.Event{Name: audit.GuestUpgraded, UserID: w.upgrades}); err != nil {
		return who, err
	}
	who.user, err = guarded("ProvisionalUsers.Upgrade", func() (*User, error) {
		return w.plugins.provisional.Upgrade(ctx, w.tx.given, w.upgrades, newUser)
	})
	if errors.Is(err, ErrNotFound) { // the session is from before the upgrade: the next attempt creates a user
		id.provisional, err = "", ErrConflict
	}
	if err != nil {
		return who, err
	}
	w.made, who.created, who.upgraded = who.user, true, true
	w.afterCommit(func() {
		w.events.updatedUser(ctx, w.at, who.user)
		w.at.decided(ctx, audit.GuestUpgraded, "", who.user.ID)
	})
	return w.equipUser(ctx, id, known, who)
}

// equipUser links the account to a new user, and creates the session.
func (w *writer) equipUser(ctx context.Context, id *identity, known *User, who member) (member, error) {
	if known != nil && id.account.UserID == known.ID { // callbacks and events see the account's new owner
		id.account.UserID = who.user.ID
	}
	if id.account.Type != TypeEmail {
		if err := w.attach(ctx, id, who.user, false); err != nil {
			return who, err
		}
	}
	session, err := w.createSession(ctx, who)
	who.session = session
	return who, err
}

// removeAddress removes the address of a user who never verified it.
func (w *writer) removeAddress(ctx context.Context, known *User) error {
	left := known.Clone()
	left.Email, left.EmailVerified, left.Null = "", time.Time{}, left.Null|store.NullEmail
	if err := w.announce(ctx, audit.Event{Name: audit.EmailChanged, UserID: left.ID}); err != nil {
		return err
	}
	left, err := w.tx.UpdateUser(ctx, left)
	if err != nil {
		return err
	}
	w.afterCommit(func() {
		w.events.updatedUser(ctx, w.at, left)
		w.at.decided(ctx, audit.EmailChanged, audit.ReasonProved, left.ID)
	})
	return nil
}

// newUser returns the user to create for an identity. moved reports that the address belonged to another user.
func (w *writer) newUser(id *identity, moved bool) (*User, error) {
	u := id.user.Clone()
	if id.account.Type == TypeEmail { // the flow may have found the previous user: take only the address
		u = &User{ID: u.ID, Email: u.Email}
	} else {
		u.Stored = id.byOAuth()
	}
	if moved || id.user.Stored || id.passkey != nil { // another user may have this ID by now
		var err error
		if u.ID, err = uuid(w.rand); err != nil {
			return nil, err
		}
	}
	if u.EmailVerified = (time.Time{}); moved || id.account.Type == TypeEmail {
		u.EmailVerified = w.now()
	}
	return u, nil
}

// signInVerified signs in a user who was the first to verify the address. It reads the accounts again, after other
// requests can see the verification. If another request has linked an account in the meantime, the account is in the
// list. If one links an account from now on, undoLinkIfVerified in that request removes it. One of the two always runs
// second, whatever isolation level the store's transactions have.
func (w *writer) signInVerified(
	ctx context.Context, id *identity, signedIn sessionUser, proved *User,
) (who member, err error) {
	if err := w.endEarlierSessions(ctx, proved.ID); err != nil {
		return who, err
	}
	linked, err := w.store.linked(ctx, proved)
	if err != nil {
		return who, err
	}
	rule := linking.RuleSignInByAddress
	if w.otherMethods(w.store, linked, proved) == linking.UnvouchedMethods {
		rule = linking.RuleMoveAddress
	}
	w.verified = true
	err = w.atomically(ctx, func(ctx context.Context) (err error) {
		who, err = w.apply(ctx, rule, id, signedIn, proved)
		return err
	})
	return who, err
}

// undoLinkIfVerified unlinks an account that was just linked, if another person verified the user's address in the
// meantime. See signInVerified.
func (w *writer) undoLinkIfVerified(ctx context.Context, id *identity, signedIn sessionUser) error {
	accounts := w.store.accounts
	if accounts == nil || !signedIn.user.EmailVerified.IsZero() {
		return nil
	}
	user, err := w.store.User(ctx, signedIn.user.ID)
	if err == nil && user.EmailVerified.IsZero() {
		return nil
	}
	undo := accounts.UnlinkAccount(context.WithoutCancel(ctx), id.account.Provider, id.account.ProviderAccountID)
	if err = errors.Join(err, undo); err != nil {
		return err
	}
	w.at.decided(ctx, audit.AccountUnlinked, audit.ReasonProved, signedIn.user.ID)
	return refusal(linking.Facts{Means: linking.MeansNewAccount, Current: linking.SessionOutdated}, id, signedIn.user)
}

// errTooMany returns the error for one more account or passkey than a user may have.
func errTooMany(id *identity, userID string) error {
	of, what := ErrOAuthAccountNotLinked, "linked accounts"
	if id.passkey != nil {
		of, what = ErrAccountNotLinked, "passkeys"
	}
	return NewError(of, &audit.Denial{
		Reason: audit.ReasonNotLinked, UserID: userID,
		Err: fmt.Errorf("the user has %d %s, which is the maximum: remove one first", mostMethods, what),
	})
}

// count returns the number of passkey accounts, or the number of other accounts.
func count(linked []*Account, passkeys bool) (n int) {
	for _, a := range linked {
		if (a.Type == TypeWebAuthn) == passkeys {
			n++
		}
	}
	return n
}

// attach links the account of an identity to a user. signedIn reports that the user is signed in. If the provider of
// every existing account vouches for the user's address, the added account also counts as vouched for.
func (w *writer) attach(ctx context.Context, id *identity, u *User, signedIn bool) error {
	account := id.storedAccount()
	if w.made != nil && w.made.ID == u.ID {
		return w.linkAccount(ctx, u, account, id.user)
	}
	linked, err := w.tx.linked(ctx, u)
	switch {
	case err != nil:
		return err
	case count(linked, id.passkey != nil) >= mostMethods:
		return errTooMany(id, u.ID)
	case signedIn && u.EmailVerified.IsZero() && u.Email != "" && !SameMailbox(account.VerifiedEmail, u.Email) &&
		w.otherMethods(w.tx, linked, u) == linking.VouchedMethods:
		account.VerifiedEmail = u.Email
	}
	return w.linkAccount(ctx, u, account, id.user)
}

// attachPasskey stores the passkey of a registration. For a new user without an email address it also stores the
// account that finds the user by the text they typed.
func (w *writer) attachPasskey(ctx context.Context, id *identity, who member) error {
	id.passkey.UserID = who.user.ID
	passkeys := w.tx.passkeys
	if passkeys == nil {
		return errors.New("the Store that InTransaction passes does not implement AuthenticatorStore")
	}
	method := passkeyMethodID(id.passkey.CredentialID)
	write := func(ctx context.Context) error {
		err := passkeys.CreateAuthenticator(ctx, id.passkey.Authenticator)
		if err == nil {
			w.afterCommit(func() {
				w.at.decided(ctx, audit.PasskeyAdded, "", who.user.ID)
				w.trackPasskey(context.WithoutCancel(ctx), id.passkey) // the context of a transaction ends with it
			})
		}
		return err
	}
	if err := w.add(ctx, who.user, method, mailkind.PasskeyAdded, id.account.Provider, write); err != nil {
		return err
	}
	if id.typed() == "" || !who.created {
		return nil
	}
	named := typedAccount(id.account.Provider, id.typed())
	named.UserID = who.user.ID
	return w.tx.LinkAccount(ctx, named)
}

// trackPasskey calls PasskeyTracker.Added. A panic is logged, because the passkey is stored.
func (w *writer) trackPasskey(ctx context.Context, made *passkeyResult) {
	t := w.plugins.passkeys
	if t == nil || t.Added == nil {
		return
	}
	err := guard("PasskeyTracker.Added", func() error {
		t.Added(ctx, NewPasskey{
			UserID: made.UserID, CredentialID: made.CredentialID, AAGUID: made.aaguid, UserHandle: made.handle,
		})
		return nil
	})
	if err != nil {
		w.at.log.failure(ctx, asError(err, ErrAuth), w.at.attrs()...)
	}
}

// refreshAccount updates the tokens of a known account, and the address that its provider vouches for. If there is only
// an ID token, the stored tokens, which may be in use, do not change.
func (w *writer) refreshAccount(ctx context.Context, id *identity, owner *User) error {
	accounts := w.tx.accounts
	if accounts == nil || !id.byOAuth() {
		return nil
	}
	account := id.storedAccount()
	account.UserID = owner.ID
	keepsAddress := account.VerifiedEmail == "" && owner.EmailVerified.IsZero() && owner.Email != ""
	if keepsAddress || id.onlyIDToken {
		switch kept, err := accounts.Account(ctx, account.Provider, account.ProviderAccountID); {
		case err == nil && kept != nil:
			if keepsAddress {
				account.VerifiedEmail = kept.VerifiedEmail
			}
			if id.onlyIDToken {
				address, label := account.VerifiedEmail, account.Label
				account = kept.Clone()
				account.VerifiedEmail, account.Label = address, label
			}
		case !errors.Is(err, ErrNotFound):
			return err
		}
	}
	if err := accounts.UpdateAccount(ctx, account); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

func (w *writer) linkAccount(ctx context.Context, u *User, account *Account, profile *User) error {
	account.UserID = u.ID
	write := func(ctx context.Context) error {
		if err := w.tx.LinkAccount(ctx, account); err != nil {
			return err
		}
		w.afterCommit(func() {
			told := account.Clone()
			told.UserID = ""
			w.events.linkedAccount(ctx, w.at, u, told, profile)
			w.at.decided(ctx, audit.AccountLinked, "", u.ID)
		})
		return nil
	}
	if account.Type == TypeWebAuthn {
		return write(ctx)
	}
	return w.add(ctx, u, accountMethodID(account), mailkind.AccountLinked, account.Provider, write)
}

func (e *Events) linkedAccount(ctx context.Context, v *arrival, u *User, account *Account, profile *User) {
	if e.LinkAccount != nil {
		emit(ctx, v, "linkAccount", func() error {
			return e.LinkAccount(ctx, LinkAccountEvent{User: u.Clone(), Account: account.Clone(), Profile: profile.Clone()})
		})
	}
}

// link finds or creates the user of an identity, and creates their session (docs/protocol.md §14).
func (l *linker) link(ctx context.Context, r requestSession, id *identity) (member, error) {
	if l.store.Store == nil {
		return member{user: id.user, created: id.signUp != nil}, nil
	}
	if id.account.Type == TypeCredentials || id.newPasskey != nil {
		return l.linkCredentials(ctx, r.carrier(), id)
	}
	signedIn, err := l.sessionUserOf(ctx, r)
	if err != nil {
		return member{}, errorf(ErrStore, "%w", err)
	}
	if id.started == flowstate.SwitchesUser { // ignore the current user; the new session replaces the current one
		signedIn = sessionUser{token: signedIn.token}
	}
	at := r.carrier().at
	who, err := l.linkWithRetry(ctx, at, id, signedIn)
	if err != nil {
		return member{}, asError(err, ErrStore)
	}
	if who.session != nil && !who.keepsSession {
		if id.endsReplaced() && !l.sessions.keepsReplaced(ctx, r.carrier(), who.user.ID) {
			l.sessions.endReplacedRow(ctx, at, signedIn.token, who.session)
		}
		l.sessions.endOldest(ctx, at, who.session)
	}
	return who, nil
}

// linkWithRetry finds or creates the user of an identity. Two concurrent sign-ins of the same user, in two tabs or on
// two devices, both succeed: if the other one was faster, linkWithRetry starts a new transaction and reads what it has
// written.
func (l *linker) linkWithRetry(
	ctx context.Context, v *arrival, id *identity, signedIn sessionUser,
) (who member, err error) {
	owner := id.account.UserID
	for n := 1; ; n++ {
		w := l.writer(v, owner)
		w.byApp = id.byApp
		w.authentication = func(who member) authentication { return id.authenticatedAt(l.now(), who) }
		who, err = w.linkOnce(ctx, id, signedIn)
		if err == nil || n == linkAttempts || !w.lostRace(ctx, id, err) {
			return who, err
		}
	}
}

// createSession creates the session of a user after the gates have passed, under the database strategy. Without gates,
// linking has already created it.
func (l *linker) createSession(ctx context.Context, c *tokenCarrier, id *identity, who *member) error {
	if !l.gated || who.keepsSession {
		return nil
	}
	return l.sessions.createStored(ctx, c, id, who)
}

// linkCredentials creates the session of a user whom the application has authenticated or has just created. Under the
// database strategy the user must be in the store.
func (l *linker) linkCredentials(ctx context.Context, c *tokenCarrier, id *identity) (member, error) {
	who := member{user: id.user, created: id.signUp != nil}
	if l.gated {
		return who, nil
	}
	return who, l.sessions.createStored(ctx, c, id, &who)
}

// sessionUserOf reads the user of the request's session. An unreadable token means that no user is signed in. A failure
// of the store is an error.
func (l *linker) sessionUserOf(ctx context.Context, r requestSession) (sessionUser, error) {
	none := sessionUser{token: r.carrier().Value()}
	current, err := r.current(ctx)
	if err != nil || current == nil || current.user.ID == "" {
		return none, err
	}
	v := sessionUser{
		token: none.token, user: current.user, session: current.record, authTime: current.authTime,
		methods: current.methods,
	}
	if current.token == nil {
		return v, nil
	}
	v.user, err = l.sessions.jwt.User(ctx, current.token.Subject)
	switch {
	case errors.Is(err, ErrNotFound):
		return none, nil
	case err != nil:
		return v, err
	}
	v.outdated = sessionstate.IssuedBefore(current.token, v.user.EmailVerified)
	return v, nil
}

// lostRace reports whether an attempt failed because a concurrent sign-in of the same user was faster, so that another
// attempt will succeed. That is so if the store reported a conflict, or if the rules refused the address and its user
// now has this account.
//
// On a store without transactions the user is created before the account. A user without any account and with an
// unverified address may be about to get this account, so lostRace waits for it.
func (w *writer) lostRace(ctx context.Context, id *identity, err error) bool {
	switch {
	case errors.Is(err, ErrConflict):
		return true
	case w.refused == nil || id.passkey != nil || w.store.accounts == nil:
		return false
	}
	for n := range linkPauses {
		linked, err := w.store.linked(ctx, w.refused)
		if err != nil || len(linked) > 0 {
			return err == nil && slices.ContainsFunc(linked, id.isAccount)
		}
		if w.store.tx != nil || !w.refused.EmailVerified.IsZero() || !pause(ctx, linkPause<<n) {
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

// withoutProvisional returns the session user that the rules of linking see, which is never a provisional user. It sets
// the user to upgrade.
func (w *writer) withoutProvisional(id *identity, signedIn sessionUser) sessionUser {
	w.upgrades = ""
	if signedIn.user == nil || !w.plugins.provisional.has(signedIn.methods) {
		return signedIn
	}
	if id.provisional == signedIn.user.ID && w.plugins.provisional.upgrades() {
		w.upgrades = id.provisional
	}
	return sessionUser{token: signedIn.token}
}
