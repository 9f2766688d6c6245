package core

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"
)

// member is the outcome of linking: who is signed in from now on.
type member struct {
	user    *User
	session *StoredSession // database strategy
	created bool
	// keeps is true when the session that the browser has goes on: somebody signed in linked another account.
	keeps bool
}

// visitor is who the request says is signed in already.
type visitor struct {
	user    *User
	session *StoredSession
	token   string // the session token presented, known to the store or not
	// outdated: the token is older than the proof of the user's address (jwt strategy).
	outdated bool
}

// linkAttempts is how often a sign-in looks again when somebody takes the address of its new user under its hands.
const linkAttempts = 4

// link finds or makes the user an identity belongs to, by the rules of linkrules.go, and their session.
func (x *exchange) link(ctx context.Context, id *identity) (member, error) {
	if x.store.Store == nil {
		return member{user: id.user}, nil
	}
	if id.account.Type == TypeCredentials {
		return x.linkCredentials(ctx, id)
	}
	now, err := x.whoIsHere(ctx)
	if err != nil {
		return member{}, errorf(AdapterError, "%w", err)
	}
	var who member
	var w *writer
	owner := id.account.UserID
	for range linkAttempts {
		w = &writer{exchange: x, store: x.store.Store, sessions: x.store.sessions, owner: owner}
		if who, err = w.settle(ctx, id, now); err == nil || !w.contested {
			break
		}
	}
	if err != nil {
		return member{}, asError(err, AdapterError)
	}
	if who.session != nil && !who.keeps {
		w.replaceSession(ctx, now, who.session)
	}
	return who, nil
}

// linkCredentials gives a user that the application vouches for a session; under the database strategy that user is in the store.
func (x *exchange) linkCredentials(ctx context.Context, id *identity) (member, error) {
	who := member{user: id.user}
	if x.session.Strategy != StrategyDatabase {
		return who, nil
	}
	w := &writer{exchange: x, store: x.store.Store, sessions: x.store.sessions}
	session, err := w.createSession(ctx, id.user)
	if err != nil {
		return who, errorf(AdapterError, "credentials of provider %q: the user that Authorize returns must be in the store: %w", id.account.Provider, err)
	}
	who.session = session
	w.replaceSession(ctx, visitor{token: x.sessionCookie().Value()}, session)
	return who, nil
}

// whoIsHere looks up who is signed in. A token that is none is nobody; a store that fails is an error.
func (x *exchange) whoIsHere(ctx context.Context) (visitor, error) {
	v := visitor{token: x.sessionCookie().Value()}
	if v.token == "" {
		return v, nil
	}
	var err error
	if x.session.Strategy == StrategyJWT {
		token, openErr := x.liveToken(ctx)
		if errors.Is(openErr, SessionTokenError) {
			return v, openErr
		}
		if openErr != nil || token.Subject == "" {
			return v, nil
		}
		v.user, err = guarded("Store.User", func() (*User, error) { return present(x.store.User(ctx, token.Subject)) })
		v.outdated = err == nil && token.before(v.user.EmailVerified)
	} else {
		v.session, v.user, err = x.storedSession(ctx, v.token)
	}
	if errors.Is(err, ErrNotFound) {
		return visitor{token: v.token}, nil
	}
	return v, err
}

// writer is the store as linking sees it: inside a transaction where the engine has them. Events wait for the commit.
type writer struct {
	*exchange
	store    Store
	sessions SessionStore
	waiting  []func()
	inTx     bool
	// owner is whom the flow took for the owner of the account, before a rule made it somebody else's.
	owner string
	// made is the user that this sign-in created, to be removed again when a later step fails without a transaction.
	made *User
	// contested: somebody else took the address between the look-up and the new user.
	contested bool
	// proved: this sign-in has written the proof of the address already.
	proved bool
}

func (w *writer) atomically(ctx context.Context, work func(context.Context) error) error {
	if w.exchange.store.tx == nil {
		_, err := guarded("store", func() (struct{}, error) { return struct{}{}, work(ctx) })
		if err != nil && w.made != nil && w.exchange.store.deleter != nil {
			// Left behind, the user would block the next attempt with OAuthAccountNotLinked.
			if undo := w.exchange.store.deleter.DeleteUser(context.WithoutCancel(ctx), w.made.ID); undo != nil {
				w.logError(ctx, errorf(AdapterError, "undo of a sign-in that failed: %w", undo), w.logAttrs()...)
			}
		}
		return err
	}
	w.inTx = true
	_, err := guarded("store transaction", func() (struct{}, error) {
		return struct{}{}, w.exchange.store.tx.InTransaction(ctx, func(ctx context.Context, tx Store) error {
			w.store, w.waiting, w.made, w.contested = tx, nil, nil, false // a store may begin once more
			w.sessions, _ = tx.(SessionStore)
			return work(ctx)
		})
	})
	w.inTx = false
	if err != nil {
		return err
	}
	for _, event := range w.waiting {
		event()
	}
	return nil
}

func (w *writer) announce(event func()) {
	if w.inTx {
		w.waiting = append(w.waiting, event)
		return
	}
	event()
}

// settle finds out whose user the identity is, by the rules of linkrules.go, and writes what follows from it.
func (w *writer) settle(ctx context.Context, id *identity, now visitor) (who member, err error) {
	var rule linkRule
	err = w.atomically(ctx, func(ctx context.Context) error {
		id.account.UserID = w.owner // a store may begin once more, and so may a sign-in
		facts, known, err := w.facts(ctx, id, now)
		if err != nil {
			return err
		}
		if rule = facts.rule(); rule == ruleRefuse {
			return facts.refusal(id)
		}
		who, err = w.apply(ctx, rule, id, now, known)
		if err == nil && id.passkey != nil {
			err = w.attachPasskey(ctx, id, who)
		}
		return err
	})
	switch {
	case err != nil:
		return who, err
	case rule == ruleProve || rule == ruleProveAlone:
		return w.afterProof(ctx, id, now, who.user)
	case rule == ruleLinkHere:
		return who, w.afterLinking(ctx, id, now)
	}
	return who, nil
}

// apply does what a rule other than ruleRefuse says.
func (w *writer) apply(ctx context.Context, rule linkRule, id *identity, now visitor, known *User) (who member, err error) {
	switch rule {
	case ruleGoOn, ruleLetIn:
		if err = w.refreshAccount(ctx, id, known); err != nil {
			return who, err
		}
		if rule == ruleGoOn {
			return member{user: now.user, session: now.session, keeps: true}, nil
		}
		who.user = known
	case ruleLinkHere:
		who = member{user: now.user, session: now.session, keeps: true}
		return who, w.attach(ctx, id, who.user, true)
	case ruleWelcome, ruleMove:
		return w.newcomer(ctx, id, known)
	case ruleProve, ruleProveAlone:
		who.user, err = w.prove(ctx, id, now, known, rule == ruleProveAlone)
		return who, err
	default: // ruleEnter
		if who.user = known; id.account.Type != TypeEmail {
			if err = w.attach(ctx, id, known, false); err != nil {
				return who, err
			}
		} else if !w.proved {
			if who.user, err = w.prove(ctx, id, now, known, false); err != nil {
				return who, err
			}
		}
	}
	who.session, err = w.createSession(ctx, who.user)
	return who, err
}

// newcomer makes a new user, who takes the address of known, if there is known, and has proved it then.
func (w *writer) newcomer(ctx context.Context, id *identity, known *User) (who member, err error) {
	if known != nil {
		left := known.Clone()
		left.Email, left.EmailVerified, left.Null = "", time.Time{}, left.Null|NullEmail
		if left, err = present(w.store.UpdateUser(ctx, left)); err != nil {
			return who, err
		}
		w.announce(func() { w.updatedUser(ctx, left) })
	}
	fresh := id.user.Clone()
	if id.account.Type == TypeEmail { // nothing of the user whom the flow may have found beside the address
		fresh = &User{ID: fresh.ID, Email: fresh.Email}
	} else {
		fresh.Stored = id.client != nil
	}
	if known != nil || id.user.Stored || id.passkey != nil { // who was to be registered or signed in may be a stranger of that id by now
		if fresh.ID, err = w.uuid(); err != nil {
			return who, err
		}
	}
	if fresh.EmailVerified = (time.Time{}); known != nil || id.account.Type == TypeEmail {
		fresh.EmailVerified = w.now()
	}
	if who.user, err = present(w.store.CreateUser(ctx, fresh)); err != nil {
		w.contested = errors.Is(err, ErrConflict)
		return who, err
	}
	w.made, who.created = who.user, true
	if known != nil && id.account.UserID == known.ID { // callbacks and events hear of the account's owner
		id.account.UserID = who.user.ID
	}
	w.announce(func() { w.createdUser(ctx, who.user) })
	if id.account.Type != TypeEmail {
		if err = w.attach(ctx, id, who.user, false); err != nil {
			return who, err
		}
	}
	who.session, err = w.createSession(ctx, who.user)
	return who, err
}

// attach links the account of an identity to a user. here: by somebody who is signed in as that user. Where everything else that opens
// the user vouches for their address, what they add themselves stands for the same person.
func (w *writer) attach(ctx context.Context, id *identity, u *User, here bool) error {
	account := w.storedAccount(id)
	if here && u.EmailVerified.IsZero() && u.Email != "" && account.EmailProved != u.Email {
		found, err := w.waysInto(ctx, w.store, u)
		if err != nil {
			return err
		}
		if found == vouchedWays {
			account.EmailProved = u.Email
		}
	}
	return w.linkAccount(ctx, u, account, id.user)
}

// attachPasskey stores the passkey of a registration, with the name that finds it again where the user has no address.
func (w *writer) attachPasskey(ctx context.Context, id *identity, who member) error {
	id.passkey.UserID = who.user.ID
	passkeys, ok := w.store.(AuthenticatorStore)
	if !ok {
		return errors.New("the Store that InTransaction hands over is no AuthenticatorStore")
	}
	if err := passkeys.CreateAuthenticator(ctx, id.passkey); err != nil || id.typed == "" || !who.created {
		return err
	}
	named := typedAccount(id.account.Provider, id.typed)
	named.UserID = who.user.ID
	return w.store.LinkAccount(ctx, named)
}

// refreshAccount brings the tokens of a known account up to date, and the address that its provider vouches for.
func (w *writer) refreshAccount(ctx context.Context, id *identity, owner *User) error {
	accounts, ok := w.store.(AccountStore)
	if !ok || id.client == nil {
		return nil
	}
	account := w.storedAccount(id)
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
	if err := w.store.LinkAccount(ctx, account); err != nil {
		return err
	}
	w.announce(func() {
		told := account.Clone()
		told.UserID = ""
		w.linkedAccount(ctx, u, told, profile)
	})
	return nil
}

// createSession stores a session of the database strategy with a fresh token; under the jwt strategy there is nothing to store.
func (w *writer) createSession(ctx context.Context, u *User) (*StoredSession, error) {
	if w.session.Strategy == StrategyJWT {
		return nil, nil
	}
	token, err := w.sessionTokenValue()
	if err != nil {
		return nil, err
	}
	token = w.stampSession(token)
	session := &StoredSession{Token: Secret(token), UserID: u.ID, Expires: w.until(token)}
	kept := *session
	kept.Token = Secret(w.atRest(token))
	return session, w.sessions.CreateSession(ctx, &kept)
}

func (x *exchange) sessionTokenValue() (string, error) {
	if x.session.GenerateToken == nil {
		return x.uuid()
	}
	token, err := guarded("Session.GenerateToken", x.session.GenerateToken)
	if err == nil && len(token) < 1 {
		err = errors.New("Session.GenerateToken returned an empty token")
	}
	return token, err
}

// replaceSession removes the record behind the cookie that a new session overwrites, so that it cannot be used from elsewhere.
func (w *writer) replaceSession(ctx context.Context, now visitor, session *StoredSession) {
	if now.token == "" || w.session.Strategy == StrategyJWT || subtle.ConstantTimeCompare([]byte(now.token), []byte(session.Token)) == 1 {
		return
	}
	_, err := guarded("Store.DeleteSession", func() (*StoredSession, error) {
		return w.exchange.store.sessions.DeleteSession(ctx, w.atRest(now.token))
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		w.logError(ctx, errorf(AdapterError, "remove the session that a sign-in replaced: %w", err), w.logAttrs()...)
	}
}

// storedAccount is the account as it is kept: what the provider's account function chose of the tokens.
func (w *writer) storedAccount(id *identity) *Account {
	kept := &Account{}
	if id.client != nil {
		kept = id.client.keeps(id.tokens)
	}
	kept.Type, kept.Provider, kept.ProviderAccountID = id.account.Type, id.account.Provider, id.account.ProviderAccountID
	kept.EmailProved = id.vouchedAddress()
	return kept
}

// keeps is what the provider's account function chooses of a token answer.
func (o *oauthClient) keeps(tokens *TokenSet) *Account {
	choose := o.Account
	if choose == nil {
		choose = defaultAccount
	}
	if chosen := choose(tokens); chosen != nil {
		return chosen.Clone()
	}
	return &Account{}
}

// defaultAccount keeps the standard members of a token answer.
func defaultAccount(t *TokenSet) *Account {
	return &Account{
		AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, IDToken: t.IDToken, ExpiresAt: t.ExpiresAt,
		Scope: t.Scope, TokenType: t.TokenType, SessionState: t.Extra["session_state"],
	}
}
