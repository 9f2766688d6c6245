package accesstoken

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
)

// Claims describes a token to issue. Audience is required, and UserID or ClientID.
type Claims struct {
	// UserID is the user that the token is for (sub). If it is empty, the token is for the client itself: sub is ClientID.
	UserID string
	// Audience is the ID of one of Options.Audiences (aud).
	Audience string
	// ClientID is the application or program that requested the token (client_id). The default is the issuer: this
	// application.
	ClientID string
	// Scopes are the operations that the token allows (scope). Each must be one of the audience's. If it is empty, the
	// token has no scope.
	Scopes []string
	// SessionID is the public ID of the session (sid), as in [core.Session]. It may be empty.
	SessionID string
	// AuthTime is the time of the authentication (auth_time), Methods its methods (amr), and ACR its level (acr). They
	// may be zero.
	AuthTime time.Time
	Methods  []amr.Method
	ACR      string
	// Actor is the ID of the user who impersonates this one (act, RFC 8693 section 4.1). It may be empty.
	Actor string
	// TTL is the lifetime, if it is shorter than Options.TTL. The default is Options.TTL.
	TTL time.Duration
}

// SessionClaims returns the claims of a token for the user of a session. The caller sets Audience and Scopes.
func SessionClaims(s *core.Session) Claims {
	return Claims{
		UserID: s.UserID, SessionID: s.ID, AuthTime: s.AuthTime, Methods: slices.Clone(s.Methods), ACR: s.ACR, Actor: s.Actor,
	}
}

// The errors of [Tokens.Issue].
var (
	// ErrAudience means that the audience is not one of Options.Audiences.
	ErrAudience = errors.New("accesstoken: the audience is not one of Options.Audiences")
	// ErrScope means that the audience does not allow one of the scopes.
	ErrScope = errors.New("accesstoken: a scope is not one of the audience's")

	errNoSubject = errors.New("accesstoken: set UserID or ClientID of the claims")
	errNotReady  = errors.New("accesstoken: the plugin is not attached to an Auth: add it to Config.Plugins")
)

// payload is the claims set (RFC 9068 section 2.2).
type payload struct {
	Issuer    string       `json:"iss"`
	Subject   string       `json:"sub"`
	Audience  string       `json:"aud"`
	ClientID  string       `json:"client_id"`
	Scope     string       `json:"scope,omitempty"`
	SessionID string       `json:"sid,omitempty"`
	AuthTime  int64        `json:"auth_time,omitempty"`
	Methods   []amr.Method `json:"amr,omitempty"`
	ACR       string       `json:"acr,omitempty"`
	Actor     *actor       `json:"act,omitempty"`
	IssuedAt  int64        `json:"iat"`
	Expires   int64        `json:"exp"`
	ID        string       `json:"jti"`
}

type actor struct {
	Subject string `json:"sub"`
}

// Issue signs a token. It does not check whether the user exists or may have the scopes: the caller must. It returns
// [ErrAudience] or [ErrScope] for claims that Options do not allow. Any other error means that the keys could not be
// read, or that Options.Signer failed. Call Issue after [core.New] has returned.
func (t *Tokens) Issue(ctx context.Context, c Claims) (token core.Secret, expires time.Time, err error) {
	if t.host == nil {
		return "", time.Time{}, errNotReady
	}
	audience := t.audience(c.Audience)
	switch {
	case audience == nil:
		return "", time.Time{}, ErrAudience
	case slices.ContainsFunc(c.Scopes, func(s string) bool { return !slices.Contains(audience.Scopes, s) }):
		return "", time.Time{}, ErrScope
	case c.UserID == "" && c.ClientID == "":
		return "", time.Time{}, errNoSubject
	}
	id, err := t.host.NewToken()
	if err != nil {
		return "", time.Time{}, fmt.Errorf("accesstoken: %w", err)
	}
	set, err := t.keys.get(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	ttl, now := t.options.TTL, t.host.Now().Truncate(time.Second)
	if c.TTL > 0 {
		ttl = min(ttl, c.TTL)
	}
	expires = now.Add(ttl).Truncate(time.Second)
	p := payload{
		Issuer: t.options.Issuer, Subject: c.UserID, Audience: c.Audience, ClientID: c.ClientID,
		Scope: strings.Join(c.Scopes, " "), SessionID: c.SessionID, Methods: c.Methods, ACR: c.ACR,
		IssuedAt: now.Unix(), Expires: expires.Unix(), ID: id[:22], // 128 bits
	}
	if p.ClientID == "" {
		p.ClientID = t.options.Issuer
	}
	if p.Subject == "" {
		p.Subject = p.ClientID
	}
	if !c.AuthTime.IsZero() {
		p.AuthTime = c.AuthTime.Unix()
	}
	if c.Actor != "" {
		p.Actor = &actor{c.Actor}
	}
	text, err := set.current(now).sign(t.host.Rand, p)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("accesstoken: %w", err)
	}
	return core.Secret(text), expires, nil
}

// AudienceScopes returns the scopes of an audience. ok is false if it is not one of Options.Audiences.
func (t *Tokens) AudienceScopes(id string) (scopes []string, ok bool) {
	if audience := t.audience(id); audience != nil {
		return slices.Clone(audience.Scopes), true
	}
	return nil, false
}

// IssueToApp is [Tokens.Issue] for plugins/tokens: it signs a token for an app that acts for the user of a session.
// app is the claim client_id. The lifetime is ttl or Options.TTL, whichever is shorter.
func (t *Tokens) IssueToApp(
	ctx context.Context, app string, s *core.Session, audience string, scopes []string, ttl time.Duration,
) (token core.Secret, expires time.Time, err error) {
	claims := SessionClaims(s)
	claims.ClientID, claims.Audience, claims.Scopes, claims.TTL = app, audience, scopes, ttl
	return t.Issue(ctx, claims)
}

// audience returns the audience with an ID, or nil.
func (t *Tokens) audience(id string) *Audience {
	i := slices.IndexFunc(t.options.Audiences, func(a Audience) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return &t.options.Audiences[i]
}
