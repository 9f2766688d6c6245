package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// TokenOptions are the options of [NewTokenReader]. They say what the Config of the application says that issues the
// tokens.
type TokenOptions struct {
	// Secrets are those of the application, the newest first; empty: AUTH_SECRET, with AUTH_SECRET_1, _2 and _3 in front
	// of it.
	Secrets []Secret
	// Audience is the application's Config.Audience.
	Audience string
	// CookieName is the name of the session cookie, with its prefix, where Config.Cookies gives it another one; empty:
	// authjs.session-token.
	CookieName string
	// Secure says whether the name has the prefix "__Secure-", where CookieName is empty. Auto: either name will do, and
	// the one with the prefix goes first.
	Secure Toggle
	// Salt is what keys are derived with beside the secrets; empty: the name of the cookie, as applications have it. A
	// token in a header has no cookie: it may have been sealed with each of the names.
	Salt string
	// Decode replaces the decryption, as JWTConfig.Decode does; nil: that of docs/protocol.md §4.1.
	Decode func(ctx context.Context, p DecodeParams) (*Token, error)
	// Logger gets a line at level debug that says why a request has no token; nil: slog.Default.
	Logger *slog.Logger
	// Now is the clock, nil: time.Now. Getenv reads the environment in NewTokenReader, nil: os.Getenv. Both are for tests.
	Now    func() time.Time
	Getenv func(string) string
}

// TokenReader reads the session tokens that an application issues under the jwt strategy, for a service beside it that
// has its secret and no Auth (docs/protocol.md §4.5). [Auth.Token] does the same within the application. Make it once,
// with [NewTokenReader]; it is safe for concurrent use.
type TokenReader struct {
	jwt     *jwtSessions
	cookies []*cookieSet // whose session tokens are read; the one that comes first goes first
	logger  *slog.Logger
	// headerFirst: where the header speaks of a bearer token no cookie counts, as Session.Bearer has it.
	headerFirst bool
}

// NewTokenReader returns a reader of session tokens. Its errors name an option and the fix: there are no Secrets, or
// CookieName is no name of a cookie.
func NewTokenReader(o TokenOptions) (*TokenReader, error) {
	c := Config{Secrets: o.Secrets, Audience: o.Audience, Logger: o.Logger, Now: o.Now, Getenv: o.Getenv}
	c.InsecureNoLimits = true // it limits nothing
	defaults(&c)
	readSecrets(&c)
	if len(c.Secrets) == 0 {
		return nil, errorf(ErrMissingSecret, "TokenOptions.Secrets is empty: set it, or AUTH_SECRET in the environment, to "+
			"what the application has")
	}
	t := &TokenReader{logger: c.Logger, jwt: &jwtSessions{sealer: sealer{now: c.Now, rand: c.Rand}}}
	for _, secret := range c.Secrets {
		t.jwt.secrets = append(t.jwt.secrets, boundTo(c.Audience, string(secret)))
	}
	if o.Decode != nil {
		t.jwt.config.Decode = func(ctx context.Context, p DecodeParams) (*Token, error) {
			p.Salt = or(o.Salt, p.Salt)
			return o.Decode(ctx, p)
		}
	}
	for _, name := range o.names() {
		spec := cookieSpec{attributes: Cookie{Name: name, Path: "/", Secure: true}}
		if err := cookie.Cookie(spec.attributes).Validate(); err != nil {
			return nil, errorf(ErrInvalidConfig, "TokenOptions.CookieName: %w", err)
		}
		var err error
		if spec.keys, err = jwe.NewKeyring(t.jwt.secrets, or(o.Salt, name)); err != nil {
			return nil, errorf(ErrInvalidConfig, "TokenOptions.Secrets: %w", err)
		}
		t.cookies = append(t.cookies, &cookieSet{session: spec})
	}
	return t, nil
}

// names are the names that the session cookie may have.
func (o *TokenOptions) names() []string {
	plain := cookieFamily(o.Audience) + "session-token"
	switch {
	case o.CookieName != "":
		return []string{o.CookieName}
	case o.Secure == On:
		return []string{"__Secure-" + plain}
	case o.Secure == Off:
		return []string{plain}
	}
	return []string{"__Secure-" + plain, plain}
}

// Token returns the claims of the session token in a request's header: that of the cookie, else "Authorization:
// Bearer". nil without an error means that there is none that is good, and the log says at level debug why. An error
// means that this could not be found out: Decode panicked. A reader knows neither JWTConfig.Revoked nor
// SessionConfig.AbsoluteMaxAge of the application, nor what its SessionConfig.Revocation has ended: compare ID and
// IssuedAt yourself where it takes sessions back.
func (t *TokenReader) Token(ctx context.Context, header http.Header) (*Token, error) {
	token, err := t.read(ctx, header)
	if errors.Is(err, ErrSessionToken) {
		return nil, err
	}
	if err != nil && t.logger.Enabled(ctx, slog.LevelDebug) {
		t.logger.LogAttrs(ctx, slog.LevelDebug, "auth: a request has no session token that is good",
			slog.String("reason", bounded(err.Error())))
	}
	if token != nil && token.kept != (tokenFacts{}) {
		token = token.shown()
	}
	return token, nil
}

// RawToken returns the text of the token that [TokenReader.Token] would read, unchecked: "" for none.
func (t *TokenReader) RawToken(header http.Header) string {
	text, alone, _ := t.inHeader(header)
	if alone {
		return text
	}
	jar := cookie.Parse(header["Cookie"])
	for _, set := range t.cookies {
		if value := cookie.Join(jar, set.session.name()).Value(); value != "" {
			return value
		}
	}
	return text
}

// inHeader returns the token of the Authorization header; alone: no cookie counts beside it.
func (t *TokenReader) inHeader(header http.Header) (text string, alone bool, err error) {
	if t.headerFirst {
		if text, alone, err = bearerIn(header); alone {
			return text, alone, err
		}
	}
	text, err = bearer(header)
	return text, false, err
}

// read returns the claims, or why there are none. A header is looked at where no session cookie came, or before it, as
// headerFirst says.
func (t *TokenReader) read(ctx context.Context, header http.Header) (token *Token, err error) {
	text, alone, noText := t.inHeader(header)
	jar, why := cookie.Parse(header["Cookie"]), error(nil)
	if alone {
		jar = cookie.Jar{}
	}
	for _, set := range t.cookies {
		joined := cookie.Join(jar, set.session.name())
		for value := range joined.Values() {
			if token, err = t.open(ctx, set, value); err == nil || errors.Is(err, ErrSessionToken) {
				return token, err
			}
			if why == nil {
				why = fmt.Errorf("the cookie %s: %w", set.session.name(), err)
			}
		}
	}
	if why != nil {
		return nil, why
	}
	if text == "" {
		return nil, noText
	}
	for _, set := range t.cookies {
		if token, err = t.open(ctx, set, text); err == nil || errors.Is(err, ErrSessionToken) {
			return token, err
		}
		if why == nil {
			why = fmt.Errorf("the Authorization header: %w", err)
		}
	}
	return nil, why
}

// open returns the claims of a token that is genuine and still good.
func (t *TokenReader) open(ctx context.Context, set *cookieSet, value string) (*Token, error) {
	token, err := t.jwt.decode(ctx, set, value)
	if err == nil {
		err = t.jwt.check(ctx, token)
	}
	if err != nil {
		return nil, err
	}
	return token, nil
}

// tokenReaders are the readers of an Auth, by what is known of a request's origin.
type tokenReaders struct{ https, http, unknown TokenReader }

// newTokenReaders makes the readers of an Auth. On an https origin the cookie without prefix is not looked at:
// neighbours on plain http can set it. Where the origin is http the visitor's may be https, in front of a server that
// ends TLS and does not say so; where a header is all there is, nothing is known.
func newTokenReaders(s *site, jwt *jwtSessions) tokenReaders {
	plain, secure := s.cookieSets[0], s.cookieSets[1]
	reader := func(cookies ...*cookieSet) TokenReader {
		if plain == secure { // UseSecureCookies decides
			cookies = cookies[:1]
		}
		return TokenReader{jwt: jwt, cookies: cookies, logger: s.log.logger, headerFirst: s.bearers}
	}
	return tokenReaders{https: reader(secure), http: reader(plain, secure), unknown: reader(secure, plain)}
}

// of is the reader for a request.
func (t *tokenReaders) of(s *site, r *Request) (*TokenReader, error) {
	if len(r.Hosts) == 0 && !s.pinned {
		return &t.unknown, nil
	}
	v, err := s.arrive(r)
	switch {
	case err != nil:
		return nil, err
	case v.at.Scheme == "https":
		return &t.https, nil
	}
	return &t.http, nil
}

var (
	errNoToken    = errors.New("it has neither a session cookie nor an Authorization header")
	errNoBearer   = errors.New("the Authorization header is not one Bearer token, with one blank in front of the token")
	errBadEscapes = errors.New("the Authorization header has broken percent-encoding")
)

// bearer returns the token of an Authorization header, percent-decoded. Two headers, another scheme or broken encoding
// are an error, as is no header.
func bearer(h http.Header) (string, error) {
	values := h["Authorization"]
	if len(values) == 0 {
		return "", errNoToken
	}
	value, ok := strings.CutPrefix(values[0], "Bearer ")
	if !ok || value == "" || len(values) != 1 {
		return "", errNoBearer
	}
	token, err := url.PathUnescape(value)
	if err != nil {
		return "", errBadEscapes
	}
	return token, nil
}

// Token returns the claims that a request carries, in the session cookie or else as "Authorization: Bearer". nil
// without an error means that nobody is signed in: no token came, or one that cannot be read, has expired or was
// revoked; the log says at level debug which. An error means that this could not be found out, and is never to be taken
// for "not signed in": JWT.Revoked failed, or the request is not for a host of ours. It runs no callback but
// JWT.Revoked and renews nothing. It queries the store only for sessions that Session.Revocation has ended, outside of
// the request, and for the user of a session that began before a plugin verified the user's address.
//
// A Request with nothing but its Header will do, where the application has no more: both names of the session cookie
// count then. [NewTokenReader] is for services that have the secret and no Auth.
func (a *Auth) Token(ctx context.Context, r *Request) (*Token, error) {
	a, err := a.resolve(ctx, r)
	if err != nil {
		return nil, err
	}
	reader, err := a.tokens.of(a.site, r)
	if err != nil {
		return nil, err
	}
	if v := VisitOf(ctx, a); v != nil {
		v.dependsOnSession()
	}
	token, err := reader.Token(ctx, r.Header)
	if err != nil || token == nil || !a.sessions.jwt.endsWithProof(token) {
		return token, err
	}
	outdated, err := a.sessions.jwt.outdated(ctx, token)
	switch {
	case err != nil && a.sessions.ended != nil && a.sessions.ended.strict:
		return nil, errorf(ErrSessionToken, "look up whether the address of the user was verified: %w", err)
	case err != nil:
		a.log.failure(ctx, errorf(ErrStore, "look up whether the address of the user was verified: %w", err))
	case outdated:
		return nil, nil
	}
	return token, nil
}

// RawToken returns the text of the token that a request carries, unchecked: "" for none. An error means that it is not
// known which cookie would carry it: the request is not for a host of ours, or the function of [PerRequest] failed.
func (a *Auth) RawToken(ctx context.Context, r *Request) (string, error) {
	a, err := a.resolve(ctx, r)
	if err != nil {
		return "", err
	}
	reader, err := a.tokens.of(a.site, r)
	if err != nil {
		return "", err
	}
	if v := VisitOf(ctx, a); v != nil {
		v.dependsOnSession()
	}
	return reader.RawToken(r.Header), nil
}

// SealToken makes a session token as Auth.js does, for tests and tools: salt is the session cookie's name.
func (a *Auth) SealToken(t *Token, salt string, maxAge time.Duration) (string, error) {
	if err := configured(a, "SealToken"); err != nil {
		return "", err
	}
	keys, err := jwe.NewKeyring(a.site.secrets, salt)
	if err != nil {
		return "", fmt.Errorf("core: token: %w", err)
	}
	return a.sessions.jwt.seal(keys, t, maxAge)
}

// OpenToken reads what SealToken makes.
func (a *Auth) OpenToken(sealed, salt string) (*Token, error) {
	if err := configured(a, "OpenToken"); err != nil {
		return nil, err
	}
	keys, err := jwe.NewKeyring(a.site.secrets, salt)
	if err != nil {
		return nil, fmt.Errorf("core: token: %w", err)
	}
	return a.sessions.jwt.open(keys, sealed)
}
