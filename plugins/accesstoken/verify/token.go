package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Token is the content of a verified token (RFC 9068 section 2.2). Fields without a claim are zero.
type Token struct {
	// Issuer and Subject are the claims iss and sub. Subject is the ID of the user, or ClientID if the token is for a
	// program without a user.
	Issuer, Subject string
	// ClientID is the program that requested the token (client_id). ID identifies the token (jti).
	ClientID, ID string
	// Audience is the claim aud. One entry is Options.Audience.
	Audience []string
	// Scopes are the operations that the token allows (scope). See [Token.Allows].
	Scopes []string
	// SessionID identifies the user's session at the issuer (sid).
	SessionID string
	// AuthTime is the time of the authentication (auth_time), Methods its methods (amr), and ACR its level (acr).
	AuthTime time.Time
	Methods  []string
	ACR      string
	// Actor is the ID of the user who impersonates Subject (act). Note it in logs in addition to Subject.
	Actor string
	// IssuedAt and Expires are the claims iat and exp.
	IssuedAt, Expires time.Time
	// Claims are all claims as JSON.
	Claims map[string]json.RawMessage

	notBefore time.Time
}

// Allows reports whether the token has all of the scopes.
func (t *Token) Allows(scopes ...string) bool {
	return !slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(t.Scopes, s) })
}

// parseClaims reads the claims. A claim of the wrong type is an error.
func parseClaims(payload []byte) (*Token, error) {
	claims, err := object(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: the claims are not a JSON object", ErrMalformed)
	}
	t, scope, act := &Token{Claims: claims}, "", struct {
		Subject string `json:"sub"`
	}{}
	for name, into := range map[string]any{
		"iss": &t.Issuer, "sub": &t.Subject, "client_id": &t.ClientID, "jti": &t.ID, "aud": (*audience)(&t.Audience),
		"scope": &scope, "sid": &t.SessionID, "amr": &t.Methods, "acr": &t.ACR, "act": &act,
		"exp": (*date)(&t.Expires), "iat": (*date)(&t.IssuedAt), "nbf": (*date)(&t.notBefore),
		"auth_time": (*date)(&t.AuthTime),
	} {
		if raw, ok := claims[name]; ok && json.Unmarshal(raw, into) != nil {
			return nil, fmt.Errorf("%w: the claim %s has a wrong type", ErrMalformed, name)
		}
	}
	for name, empty := range map[string]bool{
		"sub": t.Subject == "", "client_id": t.ClientID == "", "jti": t.ID == "", "exp": t.Expires.IsZero(),
		"iat": t.IssuedAt.IsZero(),
	} {
		if empty {
			return nil, fmt.Errorf("%w: the claim %s is missing", ErrMalformed, name)
		}
	}
	t.Scopes, t.Actor = strings.Fields(scope), act.Subject
	return t, nil
}

// check compares the claims with the options.
func (t *Token) check(o *Options) error {
	now := o.Now()
	switch {
	case t.Issuer != o.Issuer:
		return ErrIssuer
	case !slices.Contains(t.Audience, o.Audience):
		return ErrAudience
	case !now.Before(t.Expires.Add(o.ClockSkew)):
		return ErrExpired
	case t.IssuedAt.After(now.Add(o.ClockSkew)), t.notBefore.After(now.Add(o.ClockSkew)):
		return ErrNotYetValid
	}
	return nil
}

// audience is a string, or a list of strings (RFC 7519 section 4.1.3).
type audience []string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *audience) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(a))
}

// date is a NumericDate (RFC 7519 section 2), rounded down to the second.
type date time.Time

// UnmarshalJSON implements [json.Unmarshaler].
func (d *date) UnmarshalJSON(raw []byte) error {
	var seconds float64
	if err := json.Unmarshal(raw, &seconds); err != nil {
		return err
	}
	if seconds < 1 || seconds > 1<<40 {
		return ErrMalformed
	}
	*d = date(time.Unix(int64(seconds), 0))
	return nil
}
