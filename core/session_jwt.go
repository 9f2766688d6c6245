package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	sessiontoken "github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/sessiondata"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
)

// current implements [requestSession].
func (p *jwtSession) current(ctx context.Context) (*validSession, error) {
	token, err := p.Valid(ctx)
	switch {
	case errors.Is(err, ErrSessionToken):
		return nil, err
	case err != nil:
		return nil, nil //nolint:nilerr // an unreadable session counts as signed out
	}
	at, methods := sessiontoken.Authentication[amr.Method](token)
	return p.withActor(ctx, p, &validSession{
		user:     &User{ID: token.Subject, Name: token.Name, Email: token.Email, Image: token.Picture},
		authTime: at, methods: methods, token: token,
		cookieEnds: p.jwt.CookieExpiry(sessionstate.IsShort(token), p.jwt.Ends(token, token.IssuedAt)),
	})
}

// read implements [requestSession]. A token that cannot be decrypted, has expired or was revoked ends the session,
// because no later request could use it. A later failure is the application's. Then the cookie stays, because a later
// request may succeed.
func (p *jwtSession) read(ctx context.Context, why sessionRead) (*Session, []Cookie, error) {
	token, err := p.Valid(ctx)
	if errors.Is(err, ErrSessionToken) {
		return nil, nil, err
	}
	if err != nil {
		p.at.log.failure(ctx, errormarks.Typed(err, autherr.JWTSession), p.at.attrs()...)
		p.at.sessionEnded(ctx, err)
		return nil, p.clearEnded(), nil
	}
	outdated, err := p.jwt.EndedByVerification(ctx, token, p.at.storeFailed(ctx))
	switch {
	case err != nil:
		return nil, nil, err
	case outdated:
		attrs := append(p.at.attrs(), slog.String("user_id", token.Subject))
		p.at.log.info(ctx, "a session has ended: its user's email address was verified after it started", attrs...)
		p.at.decidedOf(ctx, audit.SessionEnded, audit.ReasonProved, token.Subject, sessiontoken.SessionID(token))
		return nil, p.clearEnded(), nil
	}
	by, err := p.checkActor(ctx, &p.tokenCarrier, sessiontoken.Actor(token), token.Subject)
	if err != nil {
		return nil, nil, err
	}
	session, cookies, err := p.resume(ctx, token, by, why)
	if err != nil {
		return nil, nil, &Error{Type: autherr.JWTSession, Cause: errormarks.ByServer(err)}
	}
	return session, cookies, nil
}

// resume builds the session of a valid token: it runs the callbacks, and renews the token if necessary. by is the
// session of the user who impersonates its user, or nil.
func (p *jwtSession) resume(
	ctx context.Context, before *Token, by *Session, why sessionRead,
) (*Session, []Cookie, error) {
	next, err := p.continueToken(ctx, before, why)
	if err != nil {
		return nil, nil, err
	}
	if next.token == nil {
		p.at.decidedOf(ctx, audit.SessionEnded, audit.ReasonRevoked, before.Subject, sessiontoken.SessionID(before))
		return nil, p.clearEnded(), nil
	}
	session, err := p.sessionCallback(ctx, SessionParams{
		Session: p.sessionOf(ctx, &next, by), Token: next.token, Update: why.update, Trigger: why.trigger,
	})
	if err != nil {
		return nil, nil, err
	}
	cookies, err := p.reissue(ctx, before, &next, why)
	if err != nil {
		return nil, nil, err
	}
	p.notifyRead(ctx, p.at, session, next.token)
	return session, cookies, nil
}

// nextToken is the next token of a session.
type nextToken struct {
	token   *Token // nil: the jwt callback ended the session
	data    *sessiondata.Loaded
	renew   bool      // the token must be written again
	expires time.Time // of the session
}

// continueToken runs the jwt callback, loads the application's data, and decides whether the token must be renewed.
func (p *jwtSession) continueToken(ctx context.Context, before *Token, why sessionRead) (next nextToken, err error) {
	params := JWTParams{Token: before, Trigger: why.trigger, Update: why.update}
	if next.token, err = p.runCallback(ctx, params); err != nil || next.token == nil {
		return next, err
	}
	if p.data != nil {
		next.token, next.data, next.renew = p.carryData(ctx, p.at, before, next.token)
	}
	now := p.now()
	next.renew = next.renew || why.updates() || why.asked && p.FromHeader || p.jwt.NeedsRenewal(before, now) ||
		p.OldForm() || p.callbacks.JWT != nil && !sessionstate.SameClaims(before, next.token)
	if sessiontoken.Actor(before) != (actor{}) {
		next.renew = false
	}
	used := before.IssuedAt // the lifetime of the browser's cookie starts here
	if next.renew {
		used = now
	}
	next.expires = p.jwt.Ends(next.token, used)
	return next, nil
}

// runCallback runs the jwt callback on a copy of the token. Without a callback it returns the token. A callback that
// returns nil ends the session; that is logged here. Protect changes the token that the callback returns.
func (p *jwtSession) runCallback(ctx context.Context, params JWTParams) (*Token, error) {
	if p.callbacks.JWT == nil {
		return params.Token, nil
	}
	before := params.Token
	params.Token, params.User, params.Account = sessiontoken.ShowFacts(before), params.User.Clone(), params.Account.Clone()
	token, err := guarded("jwt callback", func() (*Token, error) { return p.callbacks.JWT(ctx, params) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("Callbacks.JWT: %w", err)
	case token == nil:
		attrs := append(p.at.attrs(), slog.String("user_id", before.Subject))
		p.at.log.info(ctx, "the jwt callback ended a session: it returned no token", attrs...)
		return nil, nil
	}
	return token, p.jwt.Protect(before, token)
}

// sessionOf returns the session with a token's claims, and records that it was used.
func (p *jwtSession) sessionOf(ctx context.Context, next *nextToken, by *Session) *Session {
	t := next.token
	session := &Session{
		User:    &User{Name: t.Name, Email: t.Email, Image: t.Picture, Null: t.Null},
		Expires: next.expires, UserID: t.Subject, Token: t, data: next.data,
	}
	if p.facts {
		session.ID, session.readAt = sessiontoken.SessionID(t), p.now()
		session.AuthTime, session.Methods = sessiontoken.Authentication[amr.Method](t)
		session.ACR = sessiontoken.ACR(t)
	}
	return p.used(ctx, session, by)
}

// reissue returns the cookies of a renewed token. It sets none if the session has been replaced or revoked in the
// meantime, or if the token is too large for the router: the browser's cookie stays valid then.
func (p *jwtSession) reissue(
	ctx context.Context, before *Token, next *nextToken, why sessionRead,
) (cookies []Cookie, err error) {
	if !next.renew || why.again || !p.MayRenew(why.updates()) || p.jwt.HasEnded(before) {
		return nil, nil
	}
	value, err := p.jwt.SealSession(ctx, p.at.cookies, p.jwt.Next(before, next.token))
	if err != nil {
		return nil, err
	}
	cookies, err = p.set(value, p.jwt.CookieExpiry(sessionstate.IsShort(next.token), next.expires))
	var small *sessioncookies.LimitError
	if errors.As(err, &small) {
		p.at.log.failure(ctx, errormarks.As(err, ErrSessionToken), p.at.attrs()...)
		cookies, err = nil, nil
	}
	switch {
	case err == nil && why.updates():
		p.NoteReplaced(sessioncookies.Updated)
	case err == nil:
		p.NoteReplaced(sessioncookies.Renewed)
	}
	return cookies, err
}

// start implements [requestSession].
func (p *jwtSession) start(
	ctx context.Context, id *identity, who member,
) (cookies []Cookie, sessionID string, err error) {
	token, err := p.firstToken(ctx, id, who)
	if err != nil {
		return nil, "", err
	}
	if token == nil {
		return p.clear(), "", nil
	}
	value, err := p.jwt.SealSession(ctx, p.at.cookies, token)
	if err != nil {
		return nil, "", err
	}
	sessionID = sessiontoken.SessionID(token)
	expires := p.now().Add(p.jwt.Of(sessionstate.IsShort(token)))
	if id.actor != (actor{}) {
		expires = p.jwt.Ends(token, p.now())
	}
	if p.facts && !who.keepsSession {
		if id.actor == (actor{}) && id.endsReplaced() && !p.keepsReplaced(ctx, &p.tokenCarrier, who.user.ID) {
			p.endReplaced(ctx)
		}
		if p.rows.Store != nil || p.revoked != nil { // the session can be ended
			p.providerSessions.Add(id.account.Provider, id.sid(), sessionID)
		}
		note := sessionrecord.Note{Ends: expires.Unix(), Epoch: sessiontoken.Epoch(token)}
		p.recordSignIn(ctx, p.at, id, who, sessionID, note)
	}
	cookies, err = p.set(value, p.jwt.CookieExpiry(sessionstate.IsShort(token), expires))
	return cookies, sessionID, err
}

// firstToken returns the claims for a new session. They are nil if the jwt callback ended the session.
func (p *jwtSession) firstToken(ctx context.Context, id *identity, who member) (*Token, error) {
	start := &sessionstate.Start{
		User: who.user, Facts: id.authenticatedAt(p.now(), who).facts(), Short: id.short,
		ByApplication: id.account.Type == TypeCredentials, Continues: who.keepsSession,
		Failed: p.at.storeFailed(ctx),
	}
	if who.keepsSession {
		start.Before, _ = p.Claims(ctx)
	}
	token, err := p.jwt.First(ctx, start)
	if err != nil {
		return nil, errormarks.As(err, ErrAuth)
	}
	params := JWTParams{
		Token: token, User: who.user, Account: id.account, Profile: id.profile, Trigger: TriggerSignIn, NewUser: who.created,
	}
	if who.created {
		params.Trigger = TriggerSignUp
	}
	token, err = p.runCallback(ctx, params)
	if err == nil && token != nil && p.data != nil {
		p.data.Forget(token.Subject)
		token, _, _ = p.carryData(ctx, p.at, &Token{}, token)
	}
	return token, err
}

// endReplaced ends the session whose cookie the new session overwrites, so that a copy of the old cookie is no longer
// valid.
func (p *jwtSession) endReplaced(ctx context.Context) {
	before, err := p.Claims(ctx)
	if err != nil {
		return
	}
	if err := p.endToken(ctx, before); err != nil {
		p.at.log.failure(ctx, errorf(ErrStore, "end the session that a sign-in replaced: %w", err), p.at.attrs()...)
	}
}

// endToken ends the session of a token, if StrategyJWT sessions can be ended.
func (p *jwtSession) endToken(ctx context.Context, t *Token) error {
	p.records.Remove(ctx, sessiontoken.SessionID(t))
	return p.jwt.End(ctx, t)
}

// renew implements [requestSession].
func (p *jwtSession) renew(ctx context.Context, again *reauthentication) ([]Cookie, error) {
	before, err := p.active(ctx)
	if err != nil {
		return nil, err
	}
	after := before.Clone()
	again.moved.Write(after)
	recent := again.now && p.facts
	if recent {
		by := authentication{time: p.now(), methods: again.methods, acr: cmp.Or(again.acr, sessiontoken.ACR(before))}
		if err := p.jwt.SetFacts(ctx, after, by.facts()); err != nil {
			return nil, errormarks.As(err, ErrAuth)
		}
		if _, err := p.active(ctx); err != nil { // the session may have ended before SetFacts read the epoch
			return nil, err
		}
	}
	value, err := p.jwt.SealSession(ctx, p.at.cookies, after)
	if err != nil {
		return nil, err
	}
	expires := p.jwt.Ends(after, p.now())
	if !p.MayRenew(true) || p.jwt.HasEnded(before) {
		return nil, errEndedMeanwhile
	}
	cookies, err := p.set(value, p.jwt.CookieExpiry(sessionstate.IsShort(after), expires))
	if err != nil {
		return nil, err
	}
	p.NoteReplaced(sessioncookies.Updated)
	if recent {
		p.continueAs(ctx, before, after, again.methods, expires)
	}
	return cookies, nil
}

// active returns the claims of the session if it is still active. If it has ended, the error matches ErrNotFound.
func (p *jwtSession) active(ctx context.Context) (*Token, error) {
	token, err := p.Valid(ctx)
	if err != nil && !errors.Is(err, ErrSessionToken) {
		return nil, errEndedMeanwhile
	}
	return token, err
}

// continueAs continues the session under a new ID. It ends the old ID, so that a copy of the old token is no longer
// valid. The session list still shows one session, with its original start.
func (p *jwtSession) continueAs(ctx context.Context, old, after *Token, methods []amr.Method, ends time.Time) {
	note := p.records.Read(ctx, sessiontoken.SessionID(old))
	if err := p.endToken(ctx, old); err != nil {
		p.at.log.failure(ctx, errorf(ErrStore, "revoke the token that ActionRequest.RenewSession replaced: %w", err),
			p.at.attrs()...)
	}
	note.Ends, note.Methods, note.Epoch = ends.Unix(), audit.Texts(methods), sessiontoken.Epoch(after)
	p.addRecord(ctx, p.at, sessiontoken.SessionID(after), after.Subject, note)
	p.providerSessions.Move(sessiontoken.SessionID(old), sessiontoken.SessionID(after))
}

// end implements [requestSession].
func (p *jwtSession) end(ctx context.Context) (event SignOutEvent, err error) {
	token, err := p.Claims(ctx)
	switch {
	case err != nil && !errors.Is(err, ErrSessionToken):
		return event, errormarks.ByClient(err) // no session was ended, but the cookie is cleared
	case err != nil:
		return event, err
	}
	if err := p.endToken(ctx, token); err != nil {
		return event, errorf(ErrStore, "%w", err)
	}
	return SignOutEvent{Token: token, SessionID: sessiontoken.SessionID(token)}, nil
}
