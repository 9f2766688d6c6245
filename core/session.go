package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/sessionid"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/random"
)

// Session is the session of a signed-in user (docs/protocol.md §7.10). Its JSON form is the response of GET session.
// The fields marked server-side are not part of it.
type Session struct {
	// User is the signed-in user as the session callback returned it. By default it has name, email and image. User.ID is
	// always set for handlers, but the JSON form contains it only if the callback set it. Inside the callback it is empty:
	// read the ID from Token.Subject or from the stored User.
	User *User
	// Expires is when the session ends if it is not used before then.
	Expires time.Time
	// Extra are additional members that the session callback added.
	Extra Members

	// UserID is the ID of the signed-in user. Server-side: the browser does not receive it.
	UserID string
	// Token holds the claims under StrategyJWT. It is nil under StrategyDatabase. Server-side.
	Token *Token

	// The remaining fields are server-side. They are set only if a plugin asks for them or Session.Revocation is on. They
	// are empty for sessions that started before that, including sessions that Auth.js created.

	// ID identifies the session for its whole lifetime, until [ActionRequest.RenewSession] replaces it after a new
	// authentication. It is not a secret: it is derived from the token, and it cannot be used to sign in.
	ID string
	// AuthTime is when the user last authenticated, in whole seconds. The zero time means unknown and counts as long ago.
	AuthTime time.Time
	// Methods are the authentication methods that the user used. Empty means unknown.
	Methods []Method
	// Actor is the ID of the user who impersonates this one. It is empty without impersonation.
	Actor string

	// data is the application's data (Config.Data). It is nil if Config.Data is not set.
	data *loadedData
	// ownID is the User.ID that runCallback filled in for handlers. The JSON form leaves it out.
	ownID string
	// readAt is when the session was read, by Config.Now. It is zero if the application built the Session.
	readAt time.Time
}

// asOf returns the time to compare AuthTime with.
func (s *Session) asOf() time.Time {
	if s.readAt.IsZero() {
		return time.Now() //nolint:forbidigo // a Session that the application built, for example in a test
	}
	return s.readAt
}

// MarshalJSON returns user, expires and the members of Extra.
func (s Session) MarshalJSON() ([]byte, error) { return s.appendJSON(nil), nil }

func (s *Session) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if s.User != nil {
		id := s.User.ID
		if id == s.ownID {
			id = ""
		}
		dst = s.User.AppendJSON(exactjson.AppendName(dst, "user"), id)
	}
	if !s.Expires.IsZero() {
		dst = exactjson.AppendTime(exactjson.AppendName(dst, "expires"), s.Expires)
	}
	dst = exactjson.AppendMembers(dst, s.Extra, func(name string) bool {
		return name == "user" && s.User != nil || name == "expires" && !s.Expires.IsZero()
	})
	return append(dst, '}')
}

// UnmarshalJSON parses the JSON form that an Auth.js client or server sends.
func (s *Session) UnmarshalJSON(data []byte) error {
	*s = Session{}
	err := exactjson.Object(data, func(name string, raw []byte) error {
		switch text, isText := exactjson.Text(raw); {
		case name == "user" && len(raw) > 0 && raw[0] == '{':
			s.User = &User{}
			return s.User.UnmarshalJSON(raw)
		case name == "expires" && isText:
			at, err := time.Parse(time.RFC3339Nano, text)
			if err != nil {
				return fmt.Errorf("expires is no RFC 3339 time: %w", err)
			}
			s.Expires = at
		default:
			exactjson.Keep(&s.Extra, name, raw)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("core: session: %w", err)
	}
	return nil
}

// LogValue returns the user ID and the expiry, and no other field.
func (s Session) LogValue() slog.Value {
	return slog.GroupValue(slog.String("user_id", s.UserID), slog.Time("expires", s.Expires))
}

// publicID returns the ID of a session. stored is the token as the store contains it, or the claim sid.
func publicID(stored string) string { return sessionid.Of(stored).String() }

// Method is an authentication method: a value of RFC 8176 section 2 where it defines one. The methods of a session say
// how the user signed in here, not what a provider required of the user. For a sign-in with a provider the only method
// is [MethodFederated].
type Method string

// The authentication methods.
const (
	// MethodPassword is a password, or any other credentials that a CredentialsProvider checks.
	MethodPassword Method = "pwd"
	// MethodOTP is a one-time password.
	MethodOTP Method = "otp"
	// MethodHardwareKey is a passkey that stays on its device. MethodSoftwareKey is a synced passkey.
	MethodHardwareKey Method = "hwk"
	MethodSoftwareKey Method = "swk"
	// MethodUser is user verification by the device (fingerprint, face or PIN), in addition to a passkey.
	MethodUser Method = "user"
	// MethodMultiple is more than one factor.
	MethodMultiple Method = "mca"
	// MethodFederated is a sign-in with a provider. RFC 8176 does not define this value.
	MethodFederated Method = "fed"
	// MethodMail is a link or code that was sent by email. RFC 8176 does not define this value.
	MethodMail Method = "mail"
)

// SessionOptions tell [Auth.NewSession] how the application authenticated the user.
type SessionOptions struct {
	// AuthTime is when the application authenticated the user: time.Now() if it has just checked a password or a code. The
	// default is the zero time. It counts as long ago for [RecentSignIn] and for plugin actions that require a recent
	// sign-in. A time in the future counts as now.
	AuthTime time.Time
	// Methods are the authentication methods that the application used, such as [MethodPassword]. The default is none.
	Methods []Method
}

// NewSession creates a session for a user outside the sign-in flows, for example after a registration form, and returns
// the cookies to set. The application vouches for the user: [SignInGate] functions are not called. The session does not
// count as a recent sign-in unless options say when the user was authenticated. Pass at most one SessionOptions. Under
// StrategyDatabase the user must be in the store. If user is nil, NewSession returns an error.
func (a *Auth) NewSession(
	ctx context.Context, r *Request, user *User, options ...SessionOptions,
) ([]Cookie, error) {
	switch {
	case user == nil:
		return nil, errorf(ErrInvalidConfig, "NewSession: the user is nil: pass the user whose session it is")
	case len(options) > 1:
		return nil, errorf(ErrInvalidConfig, "NewSession: pass one SessionOptions at most")
	}
	a, err := a.resolve(ctx, r)
	if err != nil {
		return nil, err
	}
	v, err := a.site.arrive(r)
	if err != nil {
		return nil, err
	}
	p := a.sessions.present(&v)
	p.cookieOnly = true // the result is cookies, so a bearer token in the request does not count
	if err := p.settle(ctx); err != nil {
		return nil, err
	}
	account := &Account{Type: TypeCredentials, Provider: "application", ProviderAccountID: user.ID}
	id := &identity{user: user.Clone(), account: account, methods: []Method{}, authTime: new(time.Time)}
	if len(options) == 1 {
		id.methods = append(id.methods, options[0].Methods...)
		if at, now := options[0].AuthTime, a.sessions.now(); at.After(now) {
			*id.authTime = now
		} else if at.Unix() > 0 {
			*id.authTime = at
		}
	}
	who := member{user: id.user}
	if err := a.linker.beginStored(ctx, &p, id, &who); err != nil {
		return nil, err
	}
	cookies, sessionID, err := a.sessions.issue(ctx, &p, id, who)
	if err == nil {
		cookies = append(cookies, a.sessions.away.forget(ctx, &v)...)
		v.decidedOf(ctx, audit.SignIn, "", user.ID, sessionID)
	}
	return cookies, err
}

// issue creates the session of a sign-in and its cookies. No other function does (docs/protocol.md §7.6). Under
// StrategyDatabase account linking has already created the stored session. The returned session is the public ID. It is
// empty if the session has none.
func (s *sessions) issue(
	ctx context.Context, p *presented, id *identity, who member,
) (cookies []Cookie, session string, err error) {
	s.exchanges.signedIn(id.exchange, p.at.browser(), who.user.ID)
	defer func() {
		if err == nil {
			p.noteIssued(who)
		}
	}()
	if s.config.Strategy == StrategyDatabase {
		kept := s.rows.atRest(string(who.session.Token))
		session = publicID(kept)
		s.begun.note(id, kept)
		if s.data != nil {
			s.data.forget(who.user.ID)
		}
		if s.facts && !who.keeps {
			s.records.recordSignIn(ctx, p.at, id, who, session, sessionNote{Ends: who.session.Expires.Unix()})
		}
		cookies, err = p.set(string(who.session.Token), who.session.Expires)
		return cookies, session, err
	}
	trigger := TriggerSignIn
	if who.created {
		trigger = TriggerSignUp
	}
	created := s.jwt.begin(who.user)
	if err := s.addFacts(ctx, p, created, id, who); err != nil {
		return nil, "", err
	}
	if err := s.jwt.markUnverified(ctx, p.at, created, id.account.Type == TypeCredentials, who.user); err != nil {
		return nil, "", err
	}
	token, err := s.jwt.runCallback(ctx, p.at, JWTParams{
		Token: created, User: who.user, Account: id.account, Profile: id.profile, Trigger: trigger, NewUser: who.created,
	})
	if err != nil {
		return nil, "", err
	}
	if token == nil {
		return p.clear(), "", nil
	}
	if s.data != nil {
		token = s.data.begin(ctx, p.at, token)
	}
	value, err := s.jwt.encode(ctx, p.at.cookies, token)
	if err != nil {
		return nil, "", err
	}
	session = token.publicID()
	expires := s.now().Add(s.config.MaxAge)
	if s.facts && !who.keeps {
		s.endReplaced(ctx, p)
		if s.rows.store != nil || s.revoked != nil { // the session can be ended
			s.begun.note(id, session)
		}
		note := sessionNote{Ends: expires.Unix(), Epoch: token.epoch()}
		s.records.recordSignIn(ctx, p.at, id, who, session, note)
	}
	cookies, err = p.set(value, expires)
	return cookies, session, err
}

// noteIssued records that the response replaces the session of the request, or updates its token.
func (p *presented) noteIssued(who member) {
	switch {
	case who.session != nil && random.Same(p.value(), who.session.Token):
	case who.keeps:
		p.noteReplaced(tokenUpdated)
	default:
		p.noteReplaced(tokenReplaced)
	}
}

// takeBack deletes the stored part of a session that no response sends. It works even if the request was canceled.
func (s *sessions) takeBack(ctx context.Context, v *arrival, who member, session string) {
	ctx = context.WithoutCancel(ctx)
	if who.session == nil {
		s.records.remove(ctx, session)
		return
	}
	_, err := s.rows.delete(ctx, string(who.session.Token))
	if err != nil && !errors.Is(err, ErrNotFound) {
		v.log.failure(ctx, errorf(ErrStore, "delete a session whose cookie was not sent: %w", err), v.attrs()...)
	}
}

// addFacts adds the session ID, authentication time and methods to the first token of a session. If the sign-in only
// linked another account to the current user, the token keeps the values of the current session: linking is not an
// authentication.
func (s *sessions) addFacts(ctx context.Context, p *presented, token *Token, id *identity, who member) error {
	if !s.facts {
		return nil
	}
	if who.keeps {
		if before, err := p.live(ctx); err == nil {
			token.copyFacts(before)
			return nil
		}
	}
	return s.newFacts(ctx, token, id.authenticatedAt(s.now(), who.user.ID))
}

// newFacts adds new values of session ID, authentication time and methods to a token.
func (s *sessions) newFacts(ctx context.Context, t *Token, by authentication) error {
	var epoch int64
	if s.revoked != nil {
		var err error
		if epoch, err = s.revoked.Epoch(ctx, t.Subject); err != nil {
			return errorf(ErrStore, "read the revocation epoch of a user: %w", err)
		}
	}
	sid, err := uuid(s.jwt.rand)
	if err != nil {
		return err
	}
	return t.setFacts(s.now(), by, sid, epoch)
}

// endReplaced ends the session whose cookie the new session overwrites (StrategyJWT), so that a copy of the old cookie
// is no longer valid.
func (s *sessions) endReplaced(ctx context.Context, p *presented) {
	if p.value() == "" {
		return
	}
	if before, err := p.live(ctx); err == nil {
		if err := s.endToken(ctx, before); err != nil {
			p.at.log.failure(ctx, errorf(ErrStore, "end the session that a sign-in replaced: %w", err), p.at.attrs()...)
		}
	}
}

// goesOn continues a StrategyJWT session under a new ID. It ends the old ID, so that a copy of the old token is no
// longer valid. The session list still shows one session, with its original start.
func (s *sessions) goesOn(ctx context.Context, p *presented, old, after *Token, methods []Method, ends time.Time) {
	note := s.records.note(ctx, old.publicID())
	if err := s.endToken(ctx, old); err != nil {
		p.at.log.failure(ctx, errorf(ErrStore, "revoke the token that ActionRequest.RenewSession replaced: %w", err), p.at.attrs()...)
	}
	note.Ends, note.Methods, note.Epoch = ends.Unix(), methods, after.epoch()
	s.records.add(ctx, p.at, after.publicID(), after.Subject, note)
	s.begun.move(old.publicID(), after.publicID())
}

// endToken ends the session of a token, if StrategyJWT sessions can be ended.
func (s *sessions) endToken(ctx context.Context, t *Token) error {
	s.records.remove(ctx, t.publicID())
	if s.revoked == nil || s.jwt.hasEnded(t) {
		return nil // already in the log: repeated requests with the same cookie must not grow it
	}
	return s.revoked.EndSession(ctx, t.revocable())
}

// end ends the session of the request and calls Events.SignOut (docs/protocol.md §7.5). Under StrategyDatabase it
// deletes the session of every cookie value in the request. Otherwise the browser would continue with another session
// that a sibling subdomain planted, or with a leftover cookie. userID is the user of the session. It is empty if there
// was no session or if its user is unknown.
func (s *sessions) end(ctx context.Context, p *presented) (userID string, err error) {
	var event SignOutEvent
	var sessionID string
	p.noteReplaced(sessionOver)
	if s.config.Strategy == StrategyJWT {
		token, err := p.token(ctx)
		if err != nil && !errors.Is(err, ErrSessionToken) {
			return "", mistake(err) // no session was ended, but the cookie is cleared
		}
		if err != nil {
			return "", err
		}
		event.Token, userID, sessionID = token, token.Subject, token.publicID()
		if err := s.endToken(ctx, token); err != nil {
			return "", errorf(ErrStore, "%w", err)
		}
	} else {
		for _, value := range p.cookie().LookUps() {
			record, err := s.rows.delete(ctx, value)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return "", err
			}
			if event.Session == nil && record != nil {
				event.Session, sessionID = record, publicID(s.rows.atRest(value))
			}
		}
		if event.Session != nil {
			userID = event.Session.UserID
		}
	}
	s.exchanges.erase(p.at.browser(), userID)
	event.SessionID = sessionID
	if event.Token != nil || event.Session != nil {
		p.at.decidedOf(ctx, audit.SignOut, "", userID, sessionID)
	}
	if s.events.SignOut != nil {
		emit(ctx, p.at, "signOut", func() error { return s.events.SignOut(ctx, event) })
	}
	return userID, nil
}
