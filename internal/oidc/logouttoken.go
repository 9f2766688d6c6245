package oidc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// logoutEvent marks a logout token (OpenID Connect Back-Channel Logout section 2.4).
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// Logout is the content of a verified logout token. It ends the session SessionID, or all sessions of Subject; one of
// them is set.
type Logout struct {
	Subject, SessionID string
	// ID is the token's ID (jti), which is valid once.
	ID string
	// Expires is when the token expires.
	Expires time.Time
}

// LogoutToken is a parsed logout token that passed all checks that need no key. Its signature is not verified: until
// then, its content is only used to select the issuer.
type LogoutToken struct {
	token  compact
	claims map[string]any
	said   Logout
}

// The lifetime of a logout token without exp, which the drafts before the final specification did not have; the allowed
// clock difference of its provider; and the maximum lifetime of any token, because its ID must be stored that long.
const (
	logoutAge    = 5 * time.Minute
	logoutAhead  = 5 * time.Minute
	maxLogoutAge = 24 * time.Hour
)

// ReadLogoutToken parses a logout token for a client and checks it (OpenID Connect Back-Channel Logout section 2.6),
// except for the issuer and the signature. It sends no requests, because attackers can post such tokens.
func (d *Discovery) ReadLogoutToken(raw, clientID string) (*LogoutToken, error) {
	token, err := readTyped(raw, "logout+jwt", "JWT")
	if err != nil {
		return nil, err
	}
	claims, err := exactjson.DecodeObjectTolerant(token.payload, Trusted)
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	t := &LogoutToken{token: token, claims: claims}
	if iss, _ := claims["iss"].(string); iss == "" {
		return nil, errors.New("iss is not a string")
	}
	if err := (&Expect{ClientID: clientID}).checkAudience(claims); err != nil {
		return nil, err
	}
	if events, _ := claims["events"].(map[string]any); !isObject(events[logoutEvent]) {
		return nil, errors.New("events has no " + logoutEvent)
	}
	if claims["nonce"] != nil {
		return nil, errors.New("it has a nonce: it may be an ID token")
	}
	for name, into := range map[string]*string{"sub": &t.said.Subject, "sid": &t.said.SessionID, "jti": &t.said.ID} {
		if v := claims[name]; v != nil {
			if !isIdentifier(v) {
				return nil, errors.New(name + " is not a string of 1 to 255 characters")
			}
			*into, _ = v.(string)
		}
	}
	switch {
	case t.said.ID == "":
		return nil, errors.New("it has no jti")
	case t.said.Subject == "" && t.said.SessionID == "":
		return nil, errors.New("it has neither sub nor sid")
	}
	return t, t.checkTimes(d.now())
}

// checkTimes sets the expiry of the token: exp if present, and at most a day.
func (t *LogoutToken) checkTimes(now time.Time) error {
	iat, ok := seconds(t.claims["iat"])
	if !ok || iat > now.Add(logoutAhead).Unix() {
		return errors.New("iat is in the future, or no number")
	}
	iat = max(iat, 0) // avoids overflow of time.Time
	until := time.Unix(iat, 0).Add(logoutAge)
	if v := t.claims["exp"]; v != nil {
		exp, ok := seconds(v)
		if !ok {
			return errors.New("exp is not a number")
		}
		until = time.Unix(min(max(exp, 0), iat+int64(maxLogoutAge/time.Second)), 0)
	}
	t.said.Expires = until.Add(leeway * time.Second)
	if !now.Before(t.said.Expires) {
		return errors.New("it has expired (exp, or else five minutes after iat)")
	}
	if v := t.claims["nbf"]; v != nil {
		if nbf, ok := seconds(v); !ok || nbf > now.Unix()+leeway {
			return errors.New("it is not valid yet, or nbf is not a number")
		}
	}
	return nil
}

// ID returns the token's ID (jti).
func (t *LogoutToken) ID() string { return t.said.ID }

// Tenant returns the tenant (tid) named in a token of an issuer with several tenants. The token's issuer must be that
// tenant's.
func (t *LogoutToken) Tenant(m *Metadata) (string, error) {
	name, err := tenantIn(t.claims)
	if err == nil && t.claims["iss"] != any(m.IssuerOf(name)) {
		err = errors.New("iss is not the issuer of the tenant")
	}
	return name, err
}

// VerifyLogoutToken verifies issuer and signature. It uses Metadata, ClientSecret and Algs of e. The caller must check
// whether the token was used before.
func (d *Discovery) VerifyLogoutToken(ctx context.Context, t *LogoutToken, e Expect) (*Logout, error) {
	if err := e.checkIssuer(t.claims); err != nil {
		return nil, err
	}
	if err := d.verifyCompact(ctx, &t.token, e, e.algs()); err != nil {
		return nil, err
	}
	said := t.said
	return &said, nil
}

func isObject(v any) bool { _, ok := v.(map[string]any); return ok }
