package oidc

import (
	"crypto"
	"crypto/sha256"
	_ "crypto/sha512" // registers SHA-384 and SHA-512 with crypto.Hash
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/random"
)

// leeway is the allowed clock difference in seconds.
const leeway = 30

// check compares the claims with the expected values.
func (e *Expect) check(claims map[string]any, alg string, now time.Time) error {
	if err := e.checkIssuer(claims); err != nil {
		return err
	}
	if err := e.checkAudience(claims); err != nil {
		return err
	}
	if !isIdentifier(claims["sub"]) {
		return errors.New("sub is not a string of 1 to 255 characters")
	}
	if err := e.checkTimes(claims, now.Unix()); err != nil {
		return err
	}
	if err := e.checkEarlier(claims); err != nil {
		return err
	}
	// Section 3.1.3.7 step 11: the nonce counts if one was sent. A federating provider such as Cognito may add its own.
	if nonce, _ := claims["nonce"].(string); (e.Nonce != "" || e.AppClientIDs != nil) && !e.acceptsNonce(nonce) {
		return errors.New("nonce is not the one sent")
	}
	// A logout token has all required claims except the nonce, and not every issuer sets its typ.
	events, _ := claims["events"].(map[string]any)
	if _, there := events[logoutEvent]; there {
		return errors.New("it is a logout token")
	}
	return e.checkAccessToken(claims, alg)
}

// acceptsNonce compares the nonce of a token with the one sent.
func (e *Expect) acceptsNonce(nonce string) bool {
	if e.AppClientIDs == nil {
		return random.Same(nonce, e.Nonce)
	}
	hash := sha256.Sum256([]byte(e.Nonce))
	return e.Nonce != "" && (random.Same(nonce, e.Nonce) || random.Same(nonce, hex.EncodeToString(hash[:])))
}

// isClient reports whether an audience or azp is this client, or one of the app's client IDs.
func (e *Expect) isClient(v any) bool {
	id, ok := v.(string)
	if e.AppClientIDs != nil {
		return ok && slices.Contains(e.AppClientIDs, id)
	}
	return ok && id == e.ClientID
}

// checkIssuer rejects a token of another issuer. The error names the issuer found.
func (e *Expect) checkIssuer(claims map[string]any) error {
	if iss := claims["iss"]; iss != any(e.Metadata.Issuer) {
		return fmt.Errorf("iss is %s, not the issuer %q", quote(iss), e.Metadata.Issuer)
	}
	return nil
}

// quote returns a value of another party for an error message. A string is quoted and truncated to 200 characters.
func quote(v any) string {
	switch v := v.(type) {
	case nil:
		return "missing"
	case string:
		return fmt.Sprintf("%.200q", v)
	}
	return "no text"
}

// isIdentifier reports whether a claim is a valid identifier: a string of 1 to 255 bytes without control characters and
// without U+FFFD, which replaces malformed text, so that two different malformed texts would become equal.
func isIdentifier(v any) bool {
	text, ok := v.(string)
	return ok && text != "" && len(text) <= 255 && exactjson.IsClean(text)
}

// checkEarlier compares a refreshed ID token with that of the sign-in.
func (e *Expect) checkEarlier(claims map[string]any) error {
	if e.Earlier == nil {
		return nil
	}
	if sub := e.Earlier["sub"]; sub == nil || sub != claims["sub"] {
		return errors.New("sub is another than at the sign-in")
	}
	if iss := e.Earlier["iss"]; iss != nil && iss != claims["iss"] {
		return errors.New("iss is another than at the sign-in")
	}
	if claims["nonce"] != nil {
		e.Nonce, _ = e.Earlier["nonce"].(string)
	}
	return nil
}

// checkAudience checks aud and azp (OpenID Connect Core section 3.1.3.7, steps 3 to 5). A token for several audiences
// must name this client in azp: without it, another recipient of the token could have requested it.
func (e *Expect) checkAudience(claims map[string]any) error {
	several := false
	switch aud := claims["aud"].(type) {
	case string:
		if !e.isClient(aud) {
			return errors.New("aud is not this client")
		}
	case []any:
		several = len(aud) > 1
		if !slices.ContainsFunc(aud, e.isClient) {
			return errors.New("aud has not this client")
		}
	default:
		return errors.New("aud is missing")
	}
	switch azp := claims["azp"]; {
	case azp == nil && several:
		return errors.New("aud has several members, and azp is missing: it must name this client")
	case azp != nil && !e.isClient(azp):
		return errors.New("azp is not this client (OpenID Connect Core section 3.1.3.7)")
	}
	return nil
}

// checkTimes compares times in whole seconds, because a time.Time of an extreme claim would overflow.
func (e *Expect) checkTimes(claims map[string]any, now int64) error {
	exp, ok := seconds(claims["exp"])
	if !ok || exp <= now-leeway {
		return errors.New("it has expired, or exp is not a number")
	}
	// If a provider's clock is fast, iat is in the future. That is accepted (OpenID Connect Core section 3.1.3.7 leaves
	// the range to the client), because exp limits the lifetime.
	iat, ok := seconds(claims["iat"])
	if !ok {
		return errors.New("iat is not a number")
	}
	if v := claims["nbf"]; v != nil {
		if nbf, ok := seconds(v); !ok || nbf > now+leeway {
			return errors.New("it is not valid yet, or nbf is not a number")
		}
	}
	if e.MaxAge > 0 {
		at, ok := seconds(claims["auth_time"])
		if !ok || at > max(now, iat)+leeway || at < now-leeway-int64(e.MaxAge/time.Second) {
			return errors.New("auth_time is longer ago than max_age, or no number")
		}
	}
	return nil
}

// checkAccessToken compares at_hash with the access token (OpenID Connect Core section 3.1.3.6).
func (e *Expect) checkAccessToken(claims map[string]any, alg string) error {
	want := claims["at_hash"]
	if want == nil || e.AppClientIDs != nil {
		return nil
	}
	h := hashOf(alg).New()
	h.Write([]byte(e.AccessToken))
	sum := h.Sum(nil)
	if want != base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2]) {
		return errors.New("at_hash is not that of the access token")
	}
	return nil
}

// hashOf returns the hash function of a signature algorithm (RFC 7518 section 3.1).
func hashOf(alg string) crypto.Hash {
	switch alg {
	case "RS384", "PS384", "ES384":
		return crypto.SHA384
	case "RS512", "PS512", "ES512", "EdDSA": // Ed25519 hashes with SHA-512 (RFC 8032 section 5.1)
		return crypto.SHA512
	}
	return crypto.SHA256
}

// seconds reads a NumericDate.
func seconds(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	return exactjson.Floor([]byte(n))
}

// Trusted reports whether a member of a provider's document identifies the user or is a secret. Such a member must be
// well-formed; malformed strings elsewhere are repaired ([exactjson.Tolerant]).
func Trusted(name string) bool {
	switch name {
	case "iss", "sub", "aud", "azp", "exp", "iat", "nbf", "jti", "nonce", "sid", "at_hash", "auth_time", "acr", "amr",
		"events", "id", "tid", "oid", "hd", "xms_edov", "email", "email_verified",
		"access_token", "refresh_token", "id_token", "token_type",
		"issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "end_session_endpoint":
		return true
	}
	return false
}
