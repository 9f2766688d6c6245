package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/internal/ascii"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// ErrInvalidGrant means that the provider no longer accepts a code or a refresh token.
var ErrInvalidGrant = errors.New("core: the provider refuses the refresh token (invalid_grant)")

// Refusal is an error response of a token endpoint (RFC 6749 section 5.2).
type Refusal struct {
	Status int
	// Code is the error code as the service returned it. Description is the text for developers, without secrets. Both are
	// truncated when they are printed.
	Code, Description string

	revoked bool // the refresh token, or the code, is no longer accepted
}

// refusalOf reads the error of a response.
func (t *tokenRequest) refusalOf(request *http.Request, answer *upstream.Response) *Refusal {
	r := &Refusal{Status: answer.Status}
	body, err := exactjson.DecodeObjectTolerant(answer.Body, oidc.Trusted)
	if err != nil {
		return r
	}
	r.Code, r.Description = errorOf(body)
	secrets := secretsIn(request)
	r.Code, r.Description = redact(r.Code, secrets), redact(r.Description, secrets)
	if t.refresh && answer.Status < 500 && answer.Status != http.StatusTooManyRequests {
		r.revoked = revokedCodes[normalCode(r.Code)] || t.RefreshTokenRevoked != nil && t.RefreshTokenRevoked(body)
	}
	if !t.refresh && answer.Status < 500 {
		r.revoked = usedCodes[normalCode(r.Code)]
	}
	return r
}

// errorOf returns error code and description of an error response. Services that do not follow RFC 6749 use other
// names, or an object with both.
func errorOf(body map[string]any) (code, description string) {
	within, _ := body["error"].(map[string]any)
	for _, v := range []any{
		body["error"], within["code"], within["type"], body["status"], body["code"], body["errcode"], body["error_code"],
	} {
		if code = textOf(v); code != "" {
			break
		}
	}
	for _, v := range []any{body["error_description"], within["message"], body["message"], body["errmsg"]} {
		if description, _ = v.(string); description != "" {
			break
		}
	}
	return code, description
}

// textOf returns a text or a number as text.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// revokedCodes are the services' error codes for a refresh token that is expired, revoked or used, and for a user who
// must sign in again. With each of them the same request can never succeed.
var revokedCodes = map[string]bool{
	// RFC 6749 section 5.2 (Google, Salesforce and most others), RFC 6750 section 3.1
	"invalid_grant": true, "invalid_token": true,
	// OpenID Connect Core section 3.1.2.6
	"interaction_required": true, "login_required": true, "consent_required": true,
	// GitHub, HubSpot
	"bad_refresh_token": true,
	// Slack
	"invalid_refresh_token": true, "token_revoked": true, "token_expired": true, "account_inactive": true,
	// Salesforce
	"inactive_user": true, "inactive_org": true,
	// Zoho
	"invalid_code": true,
	// WeChat
	"40030": true, "42002": true,
	// several
	"refresh_token_expired": true, "refresh_token_revoked": true, "refresh_token_reused": true,
	"refresh_token_invalid": true, "refresh_token_invalidated": true, "expired_refresh_token": true,
	"revoked_refresh_token": true, "expired_token": true, "revoked_token": true,
}

// usedCodes are the services' error codes for an authorization code that is expired or was used before.
var usedCodes = map[string]bool{
	"bad_verification_code": true,                                                  // GitHub
	"invalid_code":          true, "code_already_used": true, "code_expired": true, // Slack, Zoho
	"40029": true, "40163": true, // WeChat
}

// normalCode returns an error code in the form of the keys of revokedCodes.
func normalCode(code string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(code))
}

// isCode reports whether a text is an error code, and not a sentence or another value.
func isCode(text string) bool {
	rest := strings.TrimFunc(text, func(r rune) bool { return isTokenChar(r) && !strings.ContainsRune("~+/=%", r) })
	return text != "" && len(text) <= longestWord && rest == ""
}

// Error returns the status, code and description, truncated.
func (r *Refusal) Error() string {
	text := fmt.Sprintf("status %d, error %.100q", r.Status, r.Code)
	if r.Description != "" {
		text += fmt.Sprintf(": %.300q", r.Description)
	}
	return text
}

// Is reports whether target is [ErrInvalidGrant] and the refusal means it.
func (r *Refusal) Is(target error) bool {
	return target == ErrInvalidGrant && (r.Code == "invalid_grant" || r.revoked)
}

const (
	leastSecret = 4  // minimum length in bytes of a secret that is replaced
	longestWord = 40 // bytes: longer runs of token characters may be tokens; a GUID has 36
)

// redact replaces secrets in a text of the service: the given ones, plain and form-encoded, and all sequences of
// characters that are long enough to be a token.
func redact(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= leastSecret {
			text = strings.ReplaceAll(text, secret, "[hidden]")
			text = strings.ReplaceAll(text, url.QueryEscape(secret), "[hidden]")
		}
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !isTokenChar(r) })
	for _, word := range words {
		if len(word) > longestWord {
			text = strings.ReplaceAll(text, word, "[hidden]")
		}
	}
	return text
}

// isTokenChar reports whether a character can be part of a token: base64 in both alphabets, and dots.
func isTokenChar(r rune) bool {
	return r < utf8.RuneSelf && (ascii.IsAlnum(byte(r&0x7f)) || strings.ContainsRune("-_.~+/=%", r))
}

// OfClient reports whether the endpoint rejects the client itself, regardless of the request. GitHub has its own error
// code for that.
func (r *Refusal) OfClient() bool {
	switch r.Code {
	case "invalid_client", "unauthorized_client", "incorrect_client_credentials":
		return true
	}
	return false
}

// clientHint returns the names of the fields to check if a token endpoint rejects this client. It is empty for other
// errors.
func (t *tokenRequest) clientHint(r *Refusal) string {
	if !r.OfClient() {
		return ""
	}
	fields := fmt.Sprintf("ClientID and ClientSecret (%s, %s)", t.Variable("ID"), t.Variable("SECRET"))
	switch t.ClientAuth {
	case PrivateKeyJWT:
		fields = fmt.Sprintf("ClientID (%s) and ClientKey (%s)", t.Variable("ID"), t.Variable("PRIVATE_KEY"))
	case ClientAuthNone:
		fields = fmt.Sprintf("ClientID (%s), and whether the client is registered as a public one", t.Variable("ID"))
	}
	const format = ": the provider does not take this client: check %s, and ClientAuth, which is %s"
	return fmt.Sprintf(format, fields, t.ClientAuth)
}
