package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/random"
)

// Session is the signed-in user, and when the session ends (docs/protocol.md §7.10). Its JSON form is what GET session
// sends to the browser; the fields marked server-side are not part of it.
type Session struct {
	// User is the signed-in user as the session callback shows them: name, email and image by default. Its ID is there for
	// handlers, as UserID is, and is part of the JSON form only where the callback set it; the callback itself finds the
	// id in the Token's Subject or the stored User.
	User *User
	// Expires is when the session ends unless it is used before.
	Expires time.Time
	// Extra are further members that the session callback added.
	Extra Members

	// UserID is the id of the signed-in user. Server-side: the browser does not see it.
	UserID string
	// Token holds the claims under the jwt strategy; nil under the database strategy. Server-side.
	Token *Token

	// What follows are the facts of the session, server-side: they are known where a part of the configuration asks for
	// them, or Session.Revocation is on, and empty otherwise, as they are for a session that Auth.js began.

	// ID names the session for as long as it lasts, or until [Call.Reissue] gives it another with a proof. It is no
	// secret: it is derived from the token and signs nobody in.
	ID string
	// AuthTime is when the visitor last proved who they are, in whole seconds; zero: not known, which counts as long ago.
	AuthTime time.Time
	// Methods are how they proved it; empty: not known.
	Methods []Method
	// Actor is the id of the user who acts as this one; empty: nobody does.
	Actor string

	// data is that of Config.Data; nil without.
	data *sessionData
	// ownID is the User.ID that was filled in for the server's own use.
	ownID string
	// readAt is when the session was read, by the clock of its Auth; zero: the application made it.
	readAt time.Time
}

// asOf is the time at which the facts of a session are judged.
func (s *Session) asOf() time.Time {
	if s.readAt.IsZero() {
		return time.Now() //nolint:forbidigo // a session of the application's own, in a test for example
	}
	return s.readAt
}

// MarshalJSON writes user, expires and the further members.
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

// UnmarshalJSON reads the JSON form: what an Auth.js client or server sends.
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

// LogValue shows whose session it is, by id.
func (s Session) LogValue() slog.Value {
	return slog.GroupValue(slog.String("user_id", s.UserID), slog.Time("expires", s.Expires))
}

func sessionKey(kept string) [16]byte {
	const purpose = "latchkey session\x00"
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), purpose...), kept...))
	return [16]byte(sum[:16])
}

func idText(id [16]byte) string {
	var text [22]byte
	base64.RawURLEncoding.Encode(text[:], id[:])
	return string(text[:])
}

// publicID is the ID of a session: a hash of what the store has of its token, or of the claim sid.
func publicID(kept string) string { return idText(sessionKey(kept)) }

func idOf(text string) (id [16]byte, ok bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return [16]byte(append(raw, make([]byte, 16)...)), err == nil && len(raw) == 16
}

// Method is a way in which a visitor has proved who they are: an authentication method reference of RFC 8176 section 2
// where there is one for it. Those of a session say how it was begun, not what a provider asked of the visitor: "fed"
// is all that is known of a sign-in there.
type Method string

// The methods.
const (
	// MethodPassword is a password, or what else a CredentialsProvider checks.
	MethodPassword Method = "pwd"
	// MethodOTP is a one-time password.
	MethodOTP Method = "otp"
	// MethodHardwareKey and MethodSoftwareKey are passkeys: one that stays on its device, and one that is synced.
	MethodHardwareKey Method = "hwk"
	MethodSoftwareKey Method = "swk"
	// MethodUser is a user verified by their device, by fingerprint, face or PIN, on top of a passkey.
	MethodUser Method = "user"
	// MethodMultiple is more than one factor.
	MethodMultiple Method = "mca"
	// MethodFederated is a sign-in at a provider. It is ours, as RFC 8176 has no name for it.
	MethodFederated Method = "fed"
	// MethodMail is a link or code that was sent to a mailbox. It is ours, as RFC 8176 has no name for it.
	MethodMail Method = "mail"
)

// SessionOptions tell [Auth.NewSession] how the application authenticated the user.
type SessionOptions struct {
	// AuthTime is when the application authenticated the user: time.Now() if it has just checked a password or a code.
	// Default: the zero time, which counts as long ago for [Fresh] and for the actions of plugins that need a recent
	// sign-in. A time in the future counts as now.
	AuthTime time.Time
	// Methods are how it authenticated the user, such as [MethodPassword]. Default: none.
	Methods []Method
}

// NewSession creates a session for a user outside the sign-in flows, for example after a registration form, and returns
// the cookies to set. The application vouches for the user, and no [Gate] is asked. The session does not count as a
// recent sign-in unless options, at most one, say when the user was authenticated. Under the database strategy the user
// must be in the store. A nil user is an error.
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
	p.cookieOnly = true // what is asked for are cookies
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
		v.decidedOf(ctx, AuditSignIn, "", user.ID, sessionID)
	}
	return cookies, err
}

// issue makes the session of a sign-in and its cookies: the only place that does (docs/protocol.md §7.6). Under the
// database strategy linking has made the record. session is its public ID, empty
// where it has none.
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
			s.records.begun(ctx, p.at, id, who, session, sessionNote{Ends: who.session.Expires.Unix()})
		}
		cookies, err = p.set(string(who.session.Token), who.session.Expires)
		return cookies, session, err
	}
	trigger := TriggerSignIn
	if who.created {
		trigger = TriggerSignUp
	}
	begun := s.jwt.begin(who.user)
	if err := s.vouch(ctx, p, begun, id, who); err != nil {
		return nil, "", err
	}
	if err := s.jwt.mark(ctx, p.at, begun, id.account.Type == TypeCredentials, who.user); err != nil {
		return nil, "", err
	}
	token, err := s.jwt.shape(ctx, p.at, JWTParams{
		Token: begun, User: who.user, Account: id.account, Profile: id.profile, Trigger: trigger, NewUser: who.created,
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
		s.supersede(ctx, p)
		if s.rows.store != nil || s.ended != nil { // it can be ended
			s.begun.note(id, session)
		}
		note := sessionNote{Ends: expires.Unix(), Epoch: token.epoch()}
		s.records.begun(ctx, p.at, id, who, session, note)
	}
	cookies, err = p.set(value, expires)
	return cookies, session, err
}

// noteIssued notes that a new session replaces the one of the request, or that a new token updates it.
func (p *presented) noteIssued(who member) {
	switch {
	case who.session != nil && random.Same(p.value(), who.session.Token):
	case who.keeps:
		p.noteReplaced(tokenUpdated)
	default:
		p.noteReplaced(tokenReplaced)
	}
}

// takeBack removes what is stored of a session that nobody gets, also where the request is over.
func (s *sessions) takeBack(ctx context.Context, v *arrival, who member, session string) {
	ctx = context.WithoutCancel(ctx)
	if who.session == nil {
		s.records.remove(ctx, session)
		return
	}
	_, err := s.rows.delete(ctx, string(who.session.Token))
	if err != nil && !errors.Is(err, ErrNotFound) {
		v.log.failure(ctx, errorf(ErrStore, "remove a session that nobody gets: %w", err), v.attrs()...)
	}
}

// vouch puts the facts of a session into its first token. A session that goes on, because its user linked another
// account, keeps those that it has: linking proves nothing.
func (s *sessions) vouch(ctx context.Context, p *presented, begun *Token, id *identity, who member) error {
	if !s.facts {
		return nil
	}
	if who.keeps {
		if before, err := p.live(ctx); err == nil {
			begun.keepFacts(before)
			return nil
		}
	}
	return s.newFacts(ctx, begun, id.authenticatedAt(s.now(), who.user.ID))
}

// newFacts writes the facts of a session that begins into its token.
func (s *sessions) newFacts(ctx context.Context, t *Token, by authentication) error {
	var epoch int64
	if s.ended != nil {
		var err error
		if epoch, err = s.ended.epochOf(ctx, t.Subject); err != nil {
			return errorf(ErrStore, "look up the epoch of a user (Session.Revocation): %w", err)
		}
	}
	sid, err := uuid(s.jwt.rand)
	if err != nil {
		return err
	}
	return t.setFacts(s.now(), by, sid, epoch)
}

// supersede ends the session of the jwt strategy whose cookie a new one overwrites: a copy of the old cookie is good no
// longer.
func (s *sessions) supersede(ctx context.Context, p *presented) {
	if p.value() == "" {
		return
	}
	if before, err := p.live(ctx); err == nil {
		if err := s.endToken(ctx, before); err != nil {
			p.at.log.failure(ctx, errorf(ErrStore, "end the session that a sign-in replaced: %w", err), p.at.attrs()...)
		}
	}
}

// goesOn has a session of the jwt strategy go on under another ID: a copy of the token of before is good no longer, and
// the list shows one session, which began when it did.
func (s *sessions) goesOn(ctx context.Context, p *presented, old, after *Token, methods []Method, ends time.Time) {
	note := s.records.note(ctx, old.publicID())
	if err := s.endToken(ctx, old); err != nil {
		p.at.log.failure(ctx, errorf(ErrStore, "end the token that Call.Reissue replaced: %w", err), p.at.attrs()...)
	}
	note.Ends, note.Methods, note.Epoch = ends.Unix(), methods, after.epoch()
	s.records.add(ctx, p.at, after.publicID(), after.Subject, note)
	s.begun.move(old.publicID(), after.publicID())
}

// endToken ends the session of a token, where sessions of the jwt strategy can be ended.
func (s *sessions) endToken(ctx context.Context, t *Token) error {
	s.records.remove(ctx, t.publicID())
	if s.ended == nil || s.ended.hasEnded(t.Subject, t.revocable(), t.epoch()) {
		return nil // a copy of the cookie that is sent again and again does not fill the log
	}
	return s.ended.endSession(ctx, t.revocable())
}

// end ends the session that a request presents and tells the application (docs/protocol.md §7.5). In a store every
// session of the request ends: the browser would go on with another that a neighbouring subdomain set, or that it kept.
// userID is whose session it was; empty: nobody's, as far as is known.
func (s *sessions) end(ctx context.Context, p *presented) (userID string, err error) {
	var event SignOutEvent
	var sessionID string
	p.noteReplaced(sessionOver)
	if s.config.Strategy == StrategyJWT {
		token, err := p.token(ctx)
		if err != nil && !errors.Is(err, ErrSessionToken) {
			return "", mistake(err) // nothing was signed out, and the cookie goes all the same
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
		p.at.decidedOf(ctx, AuditSignOut, "", userID, sessionID)
	}
	if s.events.SignOut != nil {
		emit(ctx, p.at, "signOut", func() error { return s.events.SignOut(ctx, event) })
	}
	return userID, nil
}
