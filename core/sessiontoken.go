package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// clockSkew is how far a token's times may be off (WIRE 4).
const clockSkew = 15 * time.Second

// sealClaims seals claims with iat, exp and a fresh jti.
func (a *Auth) sealClaims(keys *jwe.Keyring, t *Token, maxAge time.Duration) (string, error) {
	payload, err := a.issuedClaims(t, maxAge)
	if err != nil {
		return "", err
	}
	return keys.Seal(a.rand, payload)
}

// sealUnnamed is sealClaims without a name of the key, which is most of a short token.
func (a *Auth) sealUnnamed(keys *jwe.Keyring, t *Token, maxAge time.Duration) (string, error) {
	payload, err := a.issuedClaims(t, maxAge)
	if err != nil {
		return "", err
	}
	return keys.SealUnnamed(a.rand, payload)
}

func (a *Auth) issuedClaims(t *Token, maxAge time.Duration) ([]byte, error) {
	now := a.now()
	id, err := a.uuid()
	if err != nil {
		return nil, err
	}
	issued := Token{IssuedAt: now, Expires: now.Add(maxAge), ID: id}
	payload := t.appendClaims(append(make([]byte, 0, 512), '{'))
	return append(issued.appendTimes(payload), '}'), nil
}

// openClaims opens a sealed value and checks its times.
func (a *Auth) openClaims(keys *jwe.Keyring, sealed string) (*Token, error) {
	payload, err := keys.Open(sealed)
	if err != nil {
		return nil, err
	}
	t := &Token{}
	if err := t.UnmarshalJSON(payload); err != nil {
		return nil, err
	}
	return t, a.checkTimes(t)
}

var errNoSession = errors.New("the session cookie has no value, or its first chunk is missing")

var errExpired = mistake(errors.New("token has expired"))

func (a *Auth) checkTimes(t *Token) error {
	now := a.now()
	if !t.Expires.IsZero() && !t.Expires.After(now.Add(-clockSkew)) {
		return errExpired
	}
	if raw, ok := t.Extra["nbf"]; ok {
		if n, ok := exactjson.Floor(raw); !ok || time.Unix(n, 0).After(now.Add(clockSkew)) {
			return errors.New("token is not valid yet (nbf)")
		}
	}
	return nil
}

// encodeSession makes the session token for the cookie.
func (x *exchange) encodeSession(ctx context.Context, t *Token) (string, error) {
	if x.jwt.Encode == nil {
		return x.sealClaims(x.cookies.session.keys, t, x.jwt.MaxAge)
	}
	return guarded("JWT.Encode", func() (string, error) {
		return x.jwt.Encode(ctx, EncodeParams{Token: t.clone(), Secrets: x.secretList(), Salt: x.cookies.session.name(), MaxAge: x.jwt.MaxAge})
	})
}

// decodeSession reads a session token. An error says why it is none, unless it is a *Error of type SessionTokenError: then nobody
// knows.
func (x *exchange) decodeSession(ctx context.Context, value string) (*Token, error) {
	if x.jwt.Decode == nil {
		return x.openClaims(x.cookies.session.keys, value)
	}
	t, err := guarded("JWT.Decode", func() (*Token, error) {
		return x.jwt.Decode(ctx, DecodeParams{Token: value, Secrets: x.secretList(), Salt: x.cookies.session.name()})
	})
	var panicked *panicError
	switch {
	case errors.As(err, &panicked):
		return nil, &Error{Type: SessionTokenError, Cause: err}
	case err == nil && t == nil:
		err = errors.New("JWT.Decode returned no token")
	}
	return t, err
}

// presentedToken returns the claims of the first genuine reading of the session cookie.
func (x *exchange) presentedToken(ctx context.Context) (token *Token, err error) {
	if x.sessionCookie().Value() == "" {
		return nil, errNoSession
	}
	for value := range x.sessionCookie().Values() {
		t, openErr := x.decodeSession(ctx, value)
		if openErr == nil {
			return t, nil
		}
		if err == nil || errors.Is(openErr, SessionTokenError) {
			err = openErr
		}
	}
	return nil, err
}

func (a *Auth) secretList() []Secret {
	out := make([]Secret, len(a.secrets))
	for i, s := range a.secrets {
		out[i] = Secret(s)
	}
	return out
}

// EncodeToken makes a session token as the reference does, for tests and tools: salt is the session cookie's name.
func (a *Auth) EncodeToken(t *Token, salt string, maxAge time.Duration) (string, error) {
	keys, err := jwe.NewKeyring(a.secrets, salt)
	if err != nil {
		return "", fmt.Errorf("core: token: %w", err)
	}
	return a.sealClaims(keys, t, maxAge)
}

// DecodeToken reads what EncodeToken makes.
func (a *Auth) DecodeToken(sealed, salt string) (*Token, error) {
	keys, err := jwe.NewKeyring(a.secrets, salt)
	if err != nil {
		return nil, fmt.Errorf("core: token: %w", err)
	}
	return a.openClaims(keys, sealed)
}

// emailUnproved is the claim of a session token whose user had not proved their e-mail address when it was issued. Once they have, such
// a token links nothing: until then anybody could have made a user of that address. In a token that the application's word alone has
// opened (credentials, NewSession) it is when that was, in Unix seconds: such a session ends with a later proof.
const emailUnproved = "email_unproved"

func (t *Token) issuedUnproved() bool {
	_, there := t.Extra[emailUnproved]
	return there
}

// endsWithProof tells whether the session of a token may have ended by a proof: then each read costs a look-up.
func (x *exchange) endsWithProof(t *Token) bool {
	raw, there := t.Extra[emailUnproved]
	if !there || x.store.Store == nil || !x.provesAddresses() {
		return false
	}
	_, ok := exactjson.Int64(raw)
	return ok
}

// outdated tells whether a token was issued before the address of its user was proved. Only a token that can be costs a look-up.
func (x *exchange) outdated(ctx context.Context, t *Token) (bool, error) {
	if !t.issuedUnproved() {
		return false, nil
	}
	user, err := guarded("Store.User", func() (*User, error) { return present(x.store.User(ctx, t.Subject)) })
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && t.before(user.EmailVerified), err
}

// before tells whether the token is marked, and older than the proof of its user's address; the zero time: there is none.
func (t *Token) before(proof time.Time) bool {
	raw, there := t.Extra[emailUnproved]
	if !there || proof.IsZero() {
		return false
	}
	begun, ok := exactjson.Int64(raw)
	return !ok || proof.Unix() >= begun
}

// markUnproved puts the claim emailUnproved into a new token where it matters: tokens outlive the proof, which a provider configured
// here can bring about. A session that the application's word alone opens is marked even where there is no such provider yet: its
// tokens may live to see one.
func (x *exchange) markUnproved(ctx context.Context, t *Token, id *identity, u *User) error {
	word := id.account.Type == TypeCredentials
	if x.store.Store == nil || !word && !x.provesAddresses() {
		return nil
	}
	if word && x.provesAddresses() { // what the application says of the user need not be what the store knows
		stored, err := guarded("Store.User", func() (*User, error) { return present(x.store.User(ctx, u.ID)) })
		switch {
		case errors.Is(err, ErrNotFound): // nobody whom a proof could make somebody else's
			return nil
		case err != nil: // no reason to refuse a password: the mark asks for another sign-in before a link, at worst
			x.logError(ctx, errorf(AdapterError, "look up who signed in: %w", err), x.logAttrs()...)
			stored = &User{}
		}
		u = stored
	}
	switch {
	case !u.EmailVerified.IsZero():
		return nil
	case word:
		return t.Extra.Set(emailUnproved, x.now().Unix())
	}
	return t.Extra.Set(emailUnproved, true)
}

// provesAddresses tells whether a sign-in here can be the first proof of an address.
func (a *Auth) provesAddresses() bool {
	return slices.ContainsFunc(a.providers, func(p *provider) bool {
		return p.email != nil || p.oauth != nil && p.oauth.AllowDangerousEmailAccountLinking
	})
}

// opensByAccount tells whether an account, that of a passkey included, can open a user here.
func (a *Auth) opensByAccount() bool {
	return slices.ContainsFunc(a.providers, func(p *provider) bool { return p.oauth != nil || p.webauthn != nil })
}
