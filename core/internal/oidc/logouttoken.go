package oidc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// logoutEvent marks a logout token (OpenID Connect Back-Channel Logout section 2.4).
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// Logout is what a logout token says: whose sessions end, all of Subject or the one called SessionID; one of them is set.
type Logout struct {
	Subject, SessionID string
	// ID is the token's own (jti), which is good once.
	ID string
	// Expires is when nobody accepts it any more.
	Expires time.Time
}

// VerifyLogoutToken checks a logout token (OpenID Connect Back-Channel Logout section 2.6). Of Expect it uses Metadata, ClientID,
// ClientSecret and Algs. Whether the token was seen before the caller knows.
func (d *Discovery) VerifyLogoutToken(ctx context.Context, raw string, e Expect) (*Logout, error) {
	token, err := readTyped(raw, "logout+jwt", "application/logout+jwt", "JWT")
	if err != nil {
		return nil, err
	}
	if err := d.verifyCompact(ctx, &token, e, e.algs()); err != nil {
		return nil, err
	}
	claims, err := exactjson.DecodeObject(token.payload)
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	if claims["iss"] != any(e.Metadata.Issuer) {
		return nil, errors.New("iss is not the issuer")
	}
	if err := e.checkAudience(claims); err != nil {
		return nil, err
	}
	if err := e.checkTimes(claims, d.now().Unix()); err != nil {
		return nil, err
	}
	if events, _ := claims["events"].(map[string]any); !isObject(events[logoutEvent]) {
		return nil, errors.New("events has no " + logoutEvent)
	}
	if _, there := claims["nonce"]; there {
		return nil, errors.New("it has a nonce: it may be an ID token")
	}
	out := &Logout{}
	for name, into := range map[string]*string{"sub": &out.Subject, "sid": &out.SessionID, "jti": &out.ID} {
		if v, there := claims[name]; there {
			text, ok := v.(string)
			if !ok || text == "" || len(text) > 255 {
				return nil, errors.New(name + " is no text of 1 to 255 characters")
			}
			*into = text
		}
	}
	switch {
	case out.ID == "":
		return nil, errors.New("it has no jti")
	case out.Subject == "" && out.SessionID == "":
		return nil, errors.New("it has neither sub nor sid")
	}
	exp, _ := seconds(claims["exp"])
	out.Expires = time.Unix(min(exp, d.now().Unix()+24*3600)+leeway, 0)
	return out, nil
}

func isObject(v any) bool { _, ok := v.(map[string]any); return ok }
