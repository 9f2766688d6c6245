package core

import (
	"cmp"
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/accounts"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/profiletext"
)

// linker finds or creates the user of an identity, by the rules in internal/linking.
type linker struct {
	*accounts.Linker
	store    stores
	sessions *sessions
	events   *Events
	plugins  *plugins
}

// link finds or creates the user of an identity (docs/protocol.md §14). Without gates, the transaction also creates a
// stored session. If the application has authenticated or created the user, no account is linked. Under the database
// strategy the user must then be in the store.
func (l *linker) link(ctx context.Context, r requestSession, id *identity) (member, error) {
	c := r.carrier()
	if l.store.Store == nil || id.account.Type == TypeCredentials || id.newPasskey != nil {
		return member{user: id.user, created: id.signUp != nil}, nil
	}
	current, methods, err := l.current(ctx, r)
	if err != nil {
		return member{}, errorf(ErrStore, "%w", err)
	}
	e := &linkEffects{linker: l, at: c.at, id: id}
	in := e.signIn()
	switch {
	case id.started == flowstate.SwitchesUser: // ignore the current user; the new session replaces the current one
	case l.plugins.provisional.has(methods):
		l.upgrade(in, id, current.User.ID)
	default:
		in.Current = current
	}
	m, err := l.Link(ctx, in, e)
	if err == nil && m.Upgraded {
		err = l.plugins.provisional.upgraded(ctx, c.at, m.User.ID)
	}
	if err != nil {
		return member{}, errormarks.As(err, ErrStore)
	}
	who := member{m.User, m.Session, m.Created, m.KeepsSession, m.Upgraded}
	if who.session != nil && !who.keepsSession {
		l.sessions.endReplaced(ctx, c, id, who.session)
	}
	return who, nil
}

// signIn returns the identity without the user of the request's session.
func (e *linkEffects) signIn() *accounts.SignIn {
	l, id, in := e.linker, e.id, &e.in
	*in = accounts.SignIn{
		User: id.user, Account: id.account, OAuth: id.byOAuth(), OnlyIDToken: id.onlyIDToken,
		SameSession: id.started == flowstate.SameSession,
	}
	if id.oauth != nil {
		in.Given, in.ByAddress = id.oauth.given, id.oauth.client.AllowDangerousEmailAccountLinking
		in.Verifies = in.ByAddress && id.verifiedAddress() != ""
	}
	if id.passkey != nil {
		in.Passkey, in.Typed = id.passkey.Authenticator, id.passkey.typed
	}
	if l.StoredSessions && len(l.plugins.gates) == 0 && !id.byApp { // gates must pass first; an app gets no session
		in.NewSession = func(
			ctx context.Context, sessions store.SessionStore, m accounts.Member,
		) (*store.Session, error) {
			by := id.authenticatedAt(l.Now(), member{user: m.User, created: m.Created})
			return l.sessions.rows.Create(ctx, sessions, m.User.ID, by.short, by.facts())
		}
	}
	return in
}

// upgrade makes the sign-in upgrade a provisional user instead of creating a user.
func (l *linker) upgrade(in *accounts.SignIn, id *identity, userID string) {
	p := l.plugins.provisional
	if id.provisional != userID || !p.upgrades() {
		return
	}
	in.Upgrades = userID
	in.Upgrade = func(ctx context.Context, tx Store, user *User) (*User, error) {
		upgraded, err := guarded("ProvisionalUsers.Upgrade", func() (*User, error) {
			return p.Upgrade(ctx, tx, userID, user)
		})
		if errors.Is(err, ErrNotFound) {
			id.provisional = ""
		}
		return upgraded, err
	}
}

// current reads the user of the request's session, and how they authenticated. An unreadable token means that no user
// is signed in. A failure of the store is an error.
func (l *linker) current(ctx context.Context, r requestSession) (accounts.Current, []amr.Method, error) {
	token := r.carrier().Value()
	current, err := r.current(ctx)
	if err != nil || current == nil || current.user.ID == "" {
		return accounts.Current{}, nil, err
	}
	now := accounts.Current{User: current.user, Session: current.record, AuthTime: current.authTime}
	if current.token == nil {
		now.AtRest = l.sessions.rows.AtRest(token)
		return now, current.methods, nil
	}
	now.User, err = l.sessions.jwt.Users.User(ctx, current.token.Subject)
	switch {
	case errors.Is(err, ErrNotFound):
		return accounts.Current{}, nil, nil
	case err != nil:
		return accounts.Current{}, nil, err
	}
	now.Outdated = sessionstate.IssuedBefore(current.token, now.User.EmailVerified)
	return now, current.methods, nil
}

// linkEffects are the consequences of linking in a request. id is nil for a verification without a sign-in.
type linkEffects struct {
	*linker
	at *arrival
	id *identity
	in accounts.SignIn
}

// Kept implements [accounts.Effects]. The tokens are those that the provider's Account function selects.
func (e *linkEffects) Kept() *Account {
	id, kept := e.id, &Account{}
	if id.oauth != nil {
		kept = id.oauth.client.accountFor(id.oauth.tokens)
	}
	kept.Type, kept.Provider, kept.ProviderAccountID = id.account.Type, id.account.Provider, id.account.ProviderAccountID
	kept.VerifiedEmail, kept.Label = id.verifiedAddress(), id.label()
	return kept
}

// label returns the email address or the user name in the profile. The account page shows it.
func (id *identity) label() string {
	if id.oauth == nil {
		return ""
	}
	return profiletext.Label(
		cmp.Or(id.oauth.given, id.profile.First("preferred_username", "login", "username", "nickname")),
	)
}

// Announce implements [accounts.Effects].
func (e *linkEffects) Announce(ctx context.Context, records store.RecordStore, event audit.Event) error {
	return e.at.announce(ctx, records, event)
}

// Done implements [accounts.Effects]: it calls the events and notes the change.
func (e *linkEffects) Done(ctx context.Context, c accounts.Change) {
	if c.Err != nil {
		e.at.log.failure(ctx, errorf(ErrStore, "undo of a sign-in that failed: %w", c.Err), e.at.attrs()...)
		return
	}
	switch c.Event.Name {
	case audit.UserCreated:
		e.events.createdUser(ctx, e.at, c.User)
	case audit.GuestUpgraded, audit.EmailChanged, audit.EmailProved:
		e.events.updatedUser(ctx, e.at, c.User)
	case audit.AccountLinked:
		e.events.linkedAccount(ctx, e.at, c.User, c.Account, e.id.user)
	}
	c.Event.Outcome = audit.OK
	e.at.note(ctx, c.Event)
	if c.Event.Name == audit.PasskeyAdded {
		e.plugins.trackPasskey(ctx, e.at, e.id.passkey)
	}
}

// trackPasskey calls PasskeyTracker.Added. A panic is logged, because the passkey is stored.
func (ps *plugins) trackPasskey(ctx context.Context, v *arrival, made *passkeyResult) {
	t := ps.passkeys
	if t == nil || t.Added == nil {
		return
	}
	ctx = context.WithoutCancel(ctx) // the context of a transaction ends with it
	err := guard("PasskeyTracker.Added", func() error {
		t.Added(ctx, NewPasskey{
			UserID: made.UserID, CredentialID: made.CredentialID, AAGUID: made.aaguid, UserHandle: made.handle,
		})
		return nil
	})
	if err != nil {
		v.log.failure(ctx, errormarks.As(err, ErrAuth), v.attrs()...)
	}
}

func (e *Events) linkedAccount(ctx context.Context, v *arrival, u *User, account *Account, profile *User) {
	if e.LinkAccount != nil {
		emit(ctx, v, "linkAccount", e.LinkAccount, LinkAccountEvent{
			User: u.Clone(), Account: account.Clone(), Profile: profile.Clone(),
		})
	}
}
