package core

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// settle finds out whose user the identity is, and writes what follows from it.
func (w *writer) settle(ctx context.Context, id *identity, here visitor) (who member, err error) {
	var rule linkRule
	err = w.atomically(ctx, func(ctx context.Context) error {
		id.account.UserID = w.owner // a store may begin once more, and so may a sign-in
		facts, known, err := w.facts(ctx, id, here)
		if err != nil {
			return err
		}
		if rule = facts.rule(); rule == ruleRefuse {
			if facts.comes == byNewAccount && facts.presence == hereNobody {
				w.refused = known
			}
			return facts.refusal(id, known)
		}
		who, err = w.apply(ctx, rule, id, here, known)
		if err == nil && id.passkey != nil {
			err = w.attachPasskey(ctx, id, who)
		}
		return err
	})
	switch {
	case err != nil:
		return who, err
	case rule == ruleProve || rule == ruleProveAlone:
		return w.afterProof(ctx, id, here, who.user)
	case rule == ruleLinkHere:
		return who, w.afterLinking(ctx, id, here)
	}
	return who, nil
}

// apply does what a rule other than ruleRefuse says.
func (w *writer) apply(
	ctx context.Context, rule linkRule, id *identity, here visitor, known *User,
) (who member, err error) {
	switch rule {
	case ruleGoOn, ruleLetIn:
		if err = w.refreshAccount(ctx, id, known); err != nil {
			return who, err
		}
		if rule == ruleGoOn && !w.linker.sessions.facts { // else it is a proof, which a new session begins with
			return member{user: here.user, session: here.session, keeps: true}, nil
		}
		who.user = known
	case ruleLinkHere:
		who = member{user: here.user, session: here.session, keeps: true}
		return who, w.attach(ctx, id, who.user, true)
	case ruleWelcome, ruleMove:
		return w.newcomer(ctx, id, known)
	case ruleProve, ruleProveAlone:
		who.user, err = w.prove(ctx, id, here, known, rule == ruleProveAlone)
		return who, err
	default: // ruleEnter
		if who.user, err = w.enter(ctx, id, here, known); err != nil {
			return who, err
		}
	}
	who.session, err = w.createSession(ctx, who.user)
	return who, err
}

// enter lets the visitor in as the user who has the address.
func (w *writer) enter(ctx context.Context, id *identity, here visitor, known *User) (*User, error) {
	switch {
	case id.account.Type != TypeEmail:
		return known, w.attach(ctx, id, known, false)
	case w.proved:
		return known, nil
	}
	return w.prove(ctx, id, here, known, false)
}

// newcomer makes a new user. Where known is not nil, its address goes to the new user, who has proved it.
func (w *writer) newcomer(ctx context.Context, id *identity, known *User) (who member, err error) {
	if known != nil {
		if err := w.giveUpAddress(ctx, known); err != nil {
			return who, err
		}
	}
	fresh, err := w.fresh(id, known != nil)
	if err != nil {
		return who, err
	}
	w.made = fresh // also where the store fails and has the user all the same
	if who.user, err = present(w.tx.CreateUser(ctx, fresh)); err != nil {
		if errors.Is(err, ErrConflict) {
			w.made = nil
		}
		return who, err
	}
	w.made, who.created = who.user, true
	if known != nil && id.account.UserID == known.ID { // callbacks and events hear of the account's owner
		id.account.UserID = who.user.ID
	}
	w.announce(func() {
		w.events.createdUser(ctx, w.at, who.user)
		w.at.decided(ctx, AuditUserCreated, "", who.user.ID)
	})
	if id.account.Type != TypeEmail {
		if err = w.attach(ctx, id, who.user, false); err != nil {
			return who, err
		}
	}
	who.session, err = w.createSession(ctx, who.user)
	return who, err
}

// fresh is the user to be made for an identity. moved: with the address of another user.
func (w *writer) fresh(id *identity, moved bool) (*User, error) {
	u := id.user.Clone()
	if id.account.Type == TypeEmail { // the flow may have found the old user: only the address goes over
		u = &User{ID: u.ID, Email: u.Email}
	} else {
		u.Stored = id.client != nil
	}
	if moved || id.user.Stored || id.passkey != nil { // the user of that id may be another person by now
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

// afterProof signs in the visitor who was the first to prove an address. It reads the accounts once more, now that
// other requests can read the proof: an account that another request linked in the meantime is in the list, and one
// that is linked from now on is taken back by afterLinking. One of the two comes second, whatever the store's
// transactions can see of each other.
func (w *writer) afterProof(ctx context.Context, id *identity, here visitor, proved *User) (who member, err error) {
	if err := w.endEarlier(ctx, proved.ID); err != nil {
		return who, err
	}
	linked, err := w.store.linked(ctx, proved)
	if err != nil {
		return who, err
	}
	rule := ruleEnter
	if w.ways(w.store, linked, proved) == otherWays {
		rule = ruleMove
	}
	w.proved = true
	err = w.atomically(ctx, func(ctx context.Context) (err error) {
		who, err = w.apply(ctx, rule, id, here, proved)
		return err
	})
	return who, err
}

// afterLinking takes back an account that was linked to a user while another visitor proved the user's address. See
// afterProof.
func (w *writer) afterLinking(ctx context.Context, id *identity, here visitor) error {
	accounts := w.store.accounts
	if accounts == nil || !here.user.EmailVerified.IsZero() {
		return nil
	}
	user, err := guarded("Store.User", func() (*User, error) { return present(w.store.User(ctx, here.user.ID)) })
	if err == nil && user.EmailVerified.IsZero() {
		return nil
	}
	undo := guard("Store.UnlinkAccount", func() error {
		return accounts.UnlinkAccount(context.WithoutCancel(ctx), id.account.Provider, id.account.ProviderAccountID)
	})
	if err = errors.Join(err, undo); err != nil {
		return err
	}
	w.at.decided(ctx, AuditAccountUnlinked, ReasonProved, here.user.ID)
	return linkFacts{comes: byNewAccount, presence: hereOutdated}.refusal(id, here.user)
}

// mostMethods is how many accounts, and how many passkeys, a user may have. Stores list them without pages, so that a
// user with any number of them would make every page that shows them slow. No honest user reaches it.
const mostMethods = 100

// errTooMany refuses another account or passkey of a user.
func errTooMany(id *identity, userID string) error {
	of, what := ErrOAuthAccountNotLinked, "linked accounts"
	if id.passkey != nil {
		of, what = ErrAccountNotLinked, "passkeys"
	}
	return NewError(of, &Refusal{
		Reason: ReasonNotLinked, UserID: userID,
		Err: fmt.Errorf("the user has %d %s, the most that a user may have: remove one first", mostMethods, what),
	})
}

// count counts the accounts of passkeys, or the others.
func count(linked []*Account, passkeys bool) (n int) {
	for _, a := range linked {
		if (a.Type == TypeWebAuthn) == passkeys {
			n++
		}
	}
	return n
}

// attach links the account of an identity to a user. here: the user is signed in. If every account of the user vouches
// for their address, the account that they add counts as vouched for too.
func (w *writer) attach(ctx context.Context, id *identity, u *User, here bool) error {
	account := id.keptAccount()
	if w.made != nil && w.made.ID == u.ID {
		return w.linkAccount(ctx, u, account, id.user)
	}
	linked, err := w.tx.linked(ctx, u)
	switch {
	case err != nil:
		return err
	case count(linked, id.passkey != nil) >= mostMethods:
		return errTooMany(id, u.ID)
	case here && u.EmailVerified.IsZero() && u.Email != "" && !SameMailbox(account.EmailProved, u.Email) &&
		w.ways(w.tx, linked, u) == vouchedWays:
		account.EmailProved = u.Email
	}
	return w.linkAccount(ctx, u, account, id.user)
}

// attachPasskey stores the passkey of a registration and, for a new user without an address, the account that finds it
// by what was typed.
func (w *writer) attachPasskey(ctx context.Context, id *identity, who member) error {
	id.passkey.UserID = who.user.ID
	passkeys := w.tx.passkeys
	if passkeys == nil {
		return errors.New("the Store that InTransaction hands over is no AuthenticatorStore")
	}
	if err := passkeys.CreateAuthenticator(ctx, id.passkey); err != nil {
		return err
	}
	w.announce(func() { w.at.decided(ctx, AuditPasskeyAdded, "", who.user.ID) })
	w.added(ctx, who.user, passkeyMethodID(id.passkey.CredentialID), LetterPasskeyAdded, id.account.Provider)
	if id.typed == "" || !who.created {
		return nil
	}
	named := typedAccount(id.account.Provider, id.typed)
	named.UserID = who.user.ID
	return w.tx.LinkAccount(ctx, named)
}

// refreshAccount brings the tokens of a known account up to date, and the address that its provider vouches for.
func (w *writer) refreshAccount(ctx context.Context, id *identity, owner *User) error {
	accounts := w.tx.accounts
	if accounts == nil || id.client == nil {
		return nil
	}
	account := id.keptAccount()
	account.UserID = owner.ID
	if account.EmailProved == "" && owner.EmailVerified.IsZero() && owner.Email != "" {
		switch kept, err := accounts.Account(ctx, account.Provider, account.ProviderAccountID); {
		case err == nil && kept != nil:
			account.EmailProved = kept.EmailProved
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
	if err := w.tx.LinkAccount(ctx, account); err != nil {
		return err
	}
	w.announce(func() {
		told := account.Clone()
		told.UserID = ""
		w.events.linkedAccount(ctx, w.at, u, told, profile)
		w.at.decided(ctx, AuditAccountLinked, "", u.ID)
	})
	if account.Type != TypeWebAuthn {
		w.added(ctx, u, accountMethodID(account), LetterAccountLinked, account.Provider)
	}
	return nil
}
