package token

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/panics"
	"github.com/latchkey-go/latchkey/internal/tokensource"
)

// Options are the options of [NewReader]. They must match the core.Config of the application that issues the tokens.
type Options struct {
	// Secrets are the secrets of the application, the newest first. The default is AUTH_SECRET, preceded by AUTH_SECRET_1,
	// _2 and _3.
	Secrets []store.Secret
	// Audience is the Config.Audience of the application.
	Audience string
	// CookieName is the full name of the session cookie, if Config.Cookies changes it. The default is
	// authjs.session-token, with the prefix that Secure selects.
	CookieName string
	// Secure says whether the cookie name has the prefix "__Secure-". It is ignored if CookieName is set. If it is nil,
	// both names are accepted, and the name with the prefix is tried first.
	Secure *bool
	// Salt is the salt of the key derivation. The default is the name of the cookie, as in the application. For a token in
	// the Authorization header, the reader tries each possible cookie name.
	Salt string
	// Decode replaces the decryption, like JWTConfig.Decode. If it is nil, tokens are decrypted as in docs/protocol.md
	// §4.1.
	Decode func(ctx context.Context, p DecodeParams) (*Token, error)
	// Logger receives a debug line with the reason if a request has no valid token. The default is slog.Default().
	Logger *slog.Logger
	// Now is the clock. The default is time.Now. Getenv reads the environment in NewReader. The default is os.Getenv. Both
	// are for tests.
	Now    func() time.Time
	Getenv func(string) string
}

// DecodeParams contains a token to decode.
type DecodeParams struct {
	Token   string
	Secrets []store.Secret
	Salt    string
}

// Format writes the salt, without the token and the secrets.
func (p DecodeParams) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprint(f, "token encrypted for ", p.Salt)
}

// LogValue returns the salt.
func (p DecodeParams) LogValue() slog.Value { return slog.GroupValue(slog.String("salt", p.Salt)) }

// Reader reads the session tokens that an application issues under core.StrategyJWT. It is for a separate service that
// has the application's secret but no Auth (docs/protocol.md §4.5). Inside the application, use Auth.Token. Create one
// with [NewReader]. It is safe for concurrent use.
type Reader struct {
	sources tokensource.Sources[*Token]
	logger  *slog.Logger
}

// ErrMissingSecret is returned by NewReader if there are no Secrets.
var ErrMissingSecret = errors.New(
	"token: Options.Secrets is empty: set it, or AUTH_SECRET in the environment, to what " +
		"the application has",
)

// NewReader returns a reader of session tokens. It returns [ErrMissingSecret] if there are no Secrets, and an error if
// CookieName is not a valid cookie name. The error names the option and the fix.
func NewReader(o Options) (*Reader, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of Options.Now
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if len(o.Secrets) == 0 {
		o.Secrets = tokensource.Secrets[store.Secret](o.Getenv)
	}
	if len(o.Secrets) == 0 {
		return nil, ErrMissingSecret
	}
	secrets := make([]string, len(o.Secrets))
	for i, secret := range o.Secrets {
		secrets[i] = tokensource.BindSecret(o.Audience, string(secret))
	}
	r := &Reader{logger: o.Logger}
	for _, name := range o.names() {
		if err := (cookie.Cookie{Name: name, Path: "/", Secure: true}).Validate(); err != nil {
			return nil, fmt.Errorf("token: Options.CookieName: %w", err)
		}
		open, err := o.opener(secrets, name)
		if err != nil {
			return nil, fmt.Errorf("token: Options.Secrets: %w", err)
		}
		r.sources.Cookies = append(r.sources.Cookies, tokensource.Cookie[*Token]{Name: name, Open: open})
	}
	return r, nil
}

// names returns the possible names of the session cookie.
func (o *Options) names() []string {
	plain := tokensource.CookieFamily(o.Audience) + "session-token"
	switch {
	case o.CookieName != "":
		return []string{o.CookieName}
	case o.Secure == nil:
		return []string{"__Secure-" + plain, plain}
	case *o.Secure:
		return []string{"__Secure-" + plain}
	}
	return []string{plain}
}

// opener returns the function that decrypts the tokens of one cookie.
func (o *Options) opener(
	secrets []string, name string,
) (func(ctx context.Context, value string) (*Token, error), error) {
	salt, now, decode := o.Salt, o.Now, o.Decode
	if salt == "" {
		salt = name
	}
	keys, err := jwe.NewKeyring(secrets, salt)
	if err != nil || decode == nil {
		return func(_ context.Context, value string) (*Token, error) {
			claims, err := keys.OpenAgain(value)
			if err != nil {
				return nil, err
			}
			return Parse(claims, now(), false)
		}, err
	}
	p := DecodeParams{Salt: salt}
	for _, secret := range secrets {
		p.Secrets = append(p.Secrets, store.Secret(secret))
	}
	return func(ctx context.Context, value string) (*Token, error) {
		p := p
		p.Token = value
		return guardedDecode(ctx, decode, p)
	}, nil
}

func guardedDecode(
	ctx context.Context, decode func(context.Context, DecodeParams) (*Token, error), p DecodeParams,
) (*Token, error) {
	return panics.Call("Options.Decode", func() (*Token, error) {
		t, err := decode(ctx, p)
		if err == nil && t == nil {
			err = errors.New("Options.Decode returned no token")
		}
		return t, err
	})
}

// Token returns the claims of the session token in a request's header: of the session cookie, or else of
// "Authorization: Bearer". It returns nil without an error if there is no valid token; the log has the reason at level
// debug. An error means that the result is unknown, because Decode panicked.
//
// A reader does not apply the application's JWTConfig.Revoked, SessionConfig.AbsoluteMaxAge and
// SessionConfig.Revocation. If the application revokes sessions, compare ID and IssuedAt yourself.
func (r *Reader) Token(ctx context.Context, header http.Header) (*Token, error) {
	panicked := func(err error) bool {
		_, yes := errors.AsType[*panics.Error](err)
		return yes
	}
	t, err := r.sources.Read(ctx, header, panicked)
	switch {
	case err == nil:
		return t, nil
	case panicked(err):
		return nil, err
	}
	if r.logger.Enabled(ctx, slog.LevelDebug) {
		r.logger.LogAttrs(ctx, slog.LevelDebug, "auth: a request has no valid session token",
			slog.String("reason", panics.Bounded(err.Error())))
	}
	return nil, nil
}

// RawToken returns the token that [Reader.Token] would read, without checking it. It is empty if there is none.
func (r *Reader) RawToken(header http.Header) string { return r.sources.Raw(header) }
