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
}

// link finds or makes the user an identity belongs to (WIRE 8, linking rules), and their session.
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
	w := &writer{exchange: x, store: x.store.Store, sessions: x.store.sessions}
	work := w.linkAny
	if id.account.Type == TypeEmail {
		work = w.linkEmail
	}
	var who member
	err = w.atomically(ctx, func(ctx context.Context) (err error) {
		who, err = work(ctx, id, now)
		return err
	})
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
	// made is the user that this sign-in created, to be removed again when a later step fails without a transaction.
	made *User
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
			w.store, w.waiting = tx, nil
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

// linkEmail signs in the owner of a proved address.
func (w *writer) linkEmail(ctx context.Context, id *identity, now visitor) (member, error) {
	who := member{}
	known, err := w.userByEmail(ctx, w.store, id.user.Email)
	switch {
	case err == nil:
		if now.session != nil && now.user.ID != known.ID {
			if _, err := w.sessions.DeleteSession(ctx, w.atRest(now.token)); err != nil && !errors.Is(err, ErrNotFound) {
				return who, err
			}
		}
		if known.EmailVerified.IsZero() {
			if err := w.dropUnproved(ctx, known); err != nil {
				return who, err
			}
		}
		proved := known.clone()
		proved.EmailVerified = w.now()
		if who.user, err = present(w.store.UpdateUser(ctx, proved)); err != nil {
			return who, err
		}
		w.announce(func() { w.updatedUser(ctx, who.user) })
	case errors.Is(err, ErrNotFound):
		fresh := id.user.clone()
		fresh.EmailVerified = w.now()
		if who.user, err = w.createUser(ctx, fresh); err != nil {
			return who, err
		}
		who.created = true
		w.announce(func() { w.createdUser(ctx, who.user) })
	default:
		return who, err
	}
	who.session, err = w.createSession(ctx, who.user)
	return who, err
}

// dropUnproved ends what others may have attached to an address before its owner proved it: an account made at a provider
// under somebody else's address would otherwise go on opening their user (account pre-hijacking).
func (w *writer) dropUnproved(ctx context.Context, u *User) error {
	deleter, ok := w.store.(Deleter)
	if !ok {
		return nil
	}
	accounts, err := deleter.Accounts(ctx, u.ID)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		if err := deleter.UnlinkAccount(ctx, account.Provider, account.ProviderAccountID); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	if lister, ok := w.store.(SessionLister); ok && len(accounts) > 0 {
		_, err = lister.DeleteSessions(ctx, u.ID)
	}
	return err
}

// notLinked refuses an account that is, or may be, somebody else's.
func notLinked(id *identity, reason string) error {
	if id.account.Type == TypeWebAuthn {
		return errorf(AccountNotLinked, "%s", reason)
	}
	return errorf(OAuthAccountNotLinked, "%s", reason)
}

// linkAny signs in the owner of an account, links it to who is signed in, or makes a new user. A new passkey is stored with it.
func (w *writer) linkAny(ctx context.Context, id *identity, now visitor) (member, error) {
	who, err := w.linkByAccount(ctx, id, now)
	if err != nil || id.passkey == nil {
		return who, err
	}
	id.passkey.UserID = who.user.ID
	passkeys, ok := w.store.(AuthenticatorStore)
	if !ok {
		return who, errors.New("the Store that InTransaction hands over is no AuthenticatorStore")
	}
	return who, passkeys.CreateAuthenticator(ctx, id.passkey)
}

func (w *writer) linkByAccount(ctx context.Context, id *identity, now visitor) (member, error) {
	owner, err := w.userByAccount(ctx, w.store, id.account)
	switch {
	case err == nil && id.passkey != nil:
		return member{}, notLinked(id, "a passkey with this credential id is registered already")
	case err == nil:
		return w.returning(ctx, id, now, owner)
	case !errors.Is(err, ErrNotFound):
		return member{}, err
	}
	account := w.storedAccount(id)
	if now.user != nil {
		who := member{user: now.user, session: now.session, keeps: true}
		return who, w.linkAccount(ctx, who.user, account, id.user)
	}
	who := member{}
	switch known, err := w.userByEmail(ctx, w.store, id.user.Email); {
	case err == nil:
		if id.client == nil || !id.client.AllowDangerousEmailAccountLinking || !id.client.mayLink(id.profile) {
			return who, notLinked(id, "another account already has this e-mail address: sign in with it first, then link this one")
		}
		who.user = known
	case errors.Is(err, ErrNotFound):
		fresh := id.user.clone()
		fresh.EmailVerified, fresh.stored = time.Time{}, id.client != nil
		if id.client == nil { // whoever was to be registered may be a stranger of that name by now
			if fresh.ID, err = w.uuid(); err != nil {
				return who, err
			}
		}
		if who.user, err = w.createUser(ctx, fresh); err != nil {
			return who, err
		}
		who.created = true
		w.announce(func() { w.createdUser(ctx, who.user) })
	default:
		return who, err
	}
	if err := w.linkAccount(ctx, who.user, account, id.user); err != nil {
		return who, err
	}
	who.session, err = w.createSession(ctx, who.user)
	return who, err
}

// returning signs in the owner of a known account. Their tokens are brought up to date.
func (w *writer) returning(ctx context.Context, id *identity, now visitor, owner *User) (member, error) {
	if now.user != nil && now.user.ID != owner.ID {
		return member{}, notLinked(id, "the account is already associated with another user")
	}
	if updater, ok := w.store.(AccountUpdater); ok && id.client != nil {
		account := w.storedAccount(id)
		account.UserID = owner.ID
		if err := updater.UpdateAccount(ctx, account); err != nil && !errors.Is(err, ErrNotFound) {
			return member{}, err
		}
	}
	if now.user != nil {
		return member{user: now.user, session: now.session, keeps: true}, nil
	}
	session, err := w.createSession(ctx, owner)
	return member{user: owner, session: session}, err
}

// mayLink tells whether a profile's e-mail may decide whose user it is: a claim email_verified that is there counts only as a
// real true.
func (o *oauthClient) mayLink(p Profile) bool {
	if o.EmailProved != nil {
		return o.EmailProved(p)
	}
	v, there := p["email_verified"]
	return !there || v == true
}

func (w *writer) createUser(ctx context.Context, u *User) (*User, error) {
	made, err := present(w.store.CreateUser(ctx, u))
	w.made = made
	return made, err
}

func (w *writer) linkAccount(ctx context.Context, u *User, account *Account, profile *User) error {
	account.UserID = u.ID
	if err := w.store.LinkAccount(ctx, account); err != nil {
		return err
	}
	w.announce(func() {
		told := account.clone()
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
	return kept
}

// keeps is what the provider's account function chooses of a token answer.
func (o *oauthClient) keeps(tokens *TokenSet) *Account {
	choose := o.Account
	if choose == nil {
		choose = defaultAccount
	}
	if chosen := choose(tokens); chosen != nil {
		return chosen.clone()
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
