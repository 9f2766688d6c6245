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

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/jwe"
)

// TokenOptions are the options of [NewTokenReader]. They must match the Config of the application that issues the
// tokens.
type TokenOptions struct {
	// Secrets are the secrets of the application, the newest first. The default is AUTH_SECRET, preceded by AUTH_SECRET_1,
	// _2 and _3.
	Secrets []Secret
	// Audience is the Config.Audience of the application.
	Audience string
	// CookieName is the full name of the session cookie, if Config.Cookies changes it. The default is
	// authjs.session-token, with the prefix that Secure selects.
	CookieName string
	// Secure says whether the cookie name has the prefix "__Secure-". It is ignored if CookieName is set. By default both
	// names are accepted, and the name with the prefix is tried first.
	Secure OptionalBool
	// Salt is the salt of the key derivation. The default is the name of the cookie, as in the application. For a token in
	// the Authorization header, the reader tries each possible cookie name.
	Salt string
	// Decode replaces the decryption, like JWTConfig.Decode. If it is nil, tokens are decrypted as in docs/protocol.md
	// §4.1.
	Decode func(ctx context.Context, p DecodeParams) (*Token, error)
	// Logger receives a debug line with the reason if a request has no valid token. The default is slog.Default().
	Logger *slog.Logger
	// Now is the clock. The default is time.Now. Getenv reads the environment in NewTokenReader. The default is os.Getenv.
	// Both are for tests.
	Now    func() time.Time
	Getenv func(string) string
}

// TokenReader reads the session tokens that an application issues under StrategyJWT. It is for a separate service that
// has the application's secret but no Auth (docs/protocol.md §4.5). Inside the application, use [Auth.Token]. Create
// one with [NewTokenReader]. It is safe for concurrent use.
type TokenReader struct {
	jwt     *sessionTokens
	cookies []*cookieSet // the possible session cookies, in the order in which they are tried
	logger  *slog.Logger
	// headerFirst means that a bearer token in the header replaces the cookie, as with Session.Bearer.
	headerFirst bool
}

// NewTokenReader returns a reader of session tokens. It returns an error if there are no Secrets or if CookieName is
// not a valid cookie name. The error names the option and the fix.
func NewTokenReader(o TokenOptions) (*TokenReader, error) {
	c := Config{Secrets: o.Secrets, Audience: o.Audience, Logger: o.Logger, Now: o.Now, Getenv: o.Getenv}
	c.InsecureNoLimits = true // a reader limits nothing
	defaults(&c)
	readSecrets(&c)
	if len(c.Secrets) == 0 {
		return nil, errorf(ErrMissingSecret, "TokenOptions.Secrets is empty: set it, or AUTH_SECRET in the environment, to "+
			"what the application has")
	}
	t := &TokenReader{logger: c.Logger, jwt: &sessionTokens{sealer: sealer{now: c.Now, rand: c.Rand}}}
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

// names returns the possible names of the session cookie.
func (o *TokenOptions) names() []string {
	plain := cookieFamily(o.Audience) + "session-token"
	switch {
	case o.CookieName != "":
		return []string{o.CookieName}
	case o.Secure == True:
		return []string{"__Secure-" + plain}
	case o.Secure == False:
		return []string{plain}
	}
	return []string{"__Secure-" + plain, plain}
}

// Token returns the claims of the session token in a request's header: of the session cookie, or else of
// "Authorization: Bearer". It returns nil without an error if there is no valid token; the log has the reason at level
// debug. An error means that the result is unknown, because Decode panicked.
//
// A reader does not apply the application's JWTConfig.Revoked, SessionConfig.AbsoluteMaxAge and
// SessionConfig.Revocation. If the application revokes sessions, compare ID and IssuedAt yourself.
func (t *TokenReader) Token(ctx context.Context, header http.Header) (*Token, error) {
	token, err := t.read(ctx, header)
	if errors.Is(err, ErrSessionToken) {
		return nil, err
	}
	if err != nil && t.logger.Enabled(ctx, slog.LevelDebug) {
		t.logger.LogAttrs(ctx, slog.LevelDebug, "auth: a request has no valid session token",
			slog.String("reason", bounded(err.Error())))
	}
	if token != nil && token.factValues != (tokenFacts{}) {
		token = token.forApplication()
	}
	return token, nil
}

// RawToken returns the token that [TokenReader.Token] would read, without checking it. It is empty if there is none.
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

// inHeader returns the token in the Authorization header. alone means that the cookies are ignored.
func (t *TokenReader) inHeader(header http.Header) (text string, alone bool, err error) {
	if t.headerFirst {
		if text, alone, err = bearerIn(header); alone {
			return text, alone, err
		}
	}
	text, err = bearer(header)
	return text, false, err
}

// read returns the claims, or the reason why there are none. It reads the Authorization header if the request has no
// session cookie. If headerFirst is set, a header with a bearer token is read instead of the cookies.
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

// open returns the claims of a token that is valid and not revoked.
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

// tokenReaders are the readers of an Auth for the possible origins of a request.
type tokenReaders struct{ https, http, unknown TokenReader }

// newTokenReaders returns the readers of an Auth. For an https origin, the cookie without the prefix is ignored,
// because sibling subdomains can set it over plain http. For an http origin both names count: a proxy may terminate TLS
// without telling the server. If the request has only a header, the origin is unknown.
func newTokenReaders(s *site, jwt *sessionTokens) tokenReaders {
	plain, secure := s.cookieSets[0], s.cookieSets[1]
	reader := func(cookies ...*cookieSet) TokenReader {
		if plain == secure { // UseSecureCookies is set
			cookies = cookies[:1]
		}
		return TokenReader{jwt: jwt, cookies: cookies, logger: s.log.logger, headerFirst: s.bearers}
	}
	return tokenReaders{https: reader(secure), http: reader(plain, secure), unknown: reader(secure, plain)}
}

// of returns the reader for a request.
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
	errNoToken    = errors.New("the request has neither a session cookie nor an Authorization header")
	errNoBearer   = errors.New("the Authorization header is not a single Bearer token, with one space before the token")
	errBadEscapes = errors.New("the Authorization header has invalid percent-encoding")
)

// bearer returns the percent-decoded token of an Authorization header. A missing header, two headers, another scheme
// and invalid percent-encoding are errors.
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

// Token returns the claims of the session token in a request: of the session cookie, or else of "Authorization:
// Bearer". It returns nil without an error if the user is not signed in: the request has no token, or the token cannot
// be decrypted, has expired or was revoked. The log has the reason at level debug. An error means that the result is
// unknown; do not treat it as "not signed in". This is so if JWT.Revoked fails or if the request is for an unknown
// host.
//
// Token calls no callback except JWT.Revoked, and it renews nothing. It reads the store in two cases: in the
// background, for the revocation list of Session.Revocation, and for the user of a session that started before a plugin
// verified the user's email address.
//
// A Request with only its Header is sufficient. Then both names of the session cookie count. For a service without an
// Auth, use [NewTokenReader].
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
	if err != nil || token == nil || !a.sessions.jwt.canEndOnVerification(token) {
		return token, err
	}
	outdated, err := a.sessions.jwt.outdated(ctx, token)
	switch {
	case err != nil && a.sessions.revoked != nil && a.sessions.revoked.Strict:
		return nil, errorf(ErrSessionToken, "look up whether the address of the user was verified: %w", err)
	case err != nil:
		a.log.failure(ctx, errorf(ErrStore, "look up whether the address of the user was verified: %w", err))
	case outdated:
		return nil, nil
	}
	return token, nil
}

// RawToken returns the session token in a request, without checking it. It is empty if there is none. An error means
// that the name of the session cookie is unknown: the request is for an unknown host, or the function of [PerRequest]
// failed.
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

// EncodeToken encrypts a session token in the format of Auth.js, for tests and tools. salt is the name of the session
// cookie.
func (a *Auth) EncodeToken(t *Token, salt string, maxAge time.Duration) (string, error) {
	if err := configured(a, "EncodeToken"); err != nil {
		return "", err
	}
	keys, err := jwe.NewKeyring(a.site.secrets, salt)
	if err != nil {
		return "", fmt.Errorf("core: token: %w", err)
	}
	return a.sessions.jwt.seal(keys, t, maxAge)
}

// DecodeToken decrypts a token of EncodeToken.
func (a *Auth) DecodeToken(sealed, salt string) (*Token, error) {
	if err := configured(a, "DecodeToken"); err != nil {
		return nil, err
	}
	keys, err := jwe.NewKeyring(a.site.secrets, salt)
	if err != nil {
		return nil, fmt.Errorf("core: token: %w", err)
	}
	return a.sessions.jwt.open(keys, sealed)
}
