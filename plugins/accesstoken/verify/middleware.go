package verify

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

type contextKey struct{}

// FromContext returns the token of a request that [Verifier.Require] let through, or nil.
func FromContext(ctx context.Context) *Token {
	t, _ := ctx.Value(contextKey{}).(*Token)
	return t
}

// NewContext returns a context with a token, for tests of handlers.
func NewContext(ctx context.Context, t *Token) context.Context {
	return context.WithValue(ctx, contextKey{}, t)
}

// Require returns a middleware that lets requests through that have a valid token with all of the scopes, in the header
// "Authorization: Bearer <token>". Others get a challenge (RFC 6750 section 3): status 401 without a valid token, 403
// without a scope, and 400 for several or malformed headers. If a token cannot be checked, the status is 503.
func (v *Verifier) Require(scopes ...string) func(http.Handler) http.Handler {
	scopes = append([]string(nil), scopes...)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, refused := bearer(r.Header)
			if refused != nil {
				v.refuse(w, refused, scopes)
				return
			}
			t, err := v.Verify(r.Context(), text)
			switch {
			case err != nil:
				if v.options.Refused != nil {
					v.options.Refused(r.Context(), err)
				}
				v.refuse(w, refusalOf(err), scopes)
			case !t.Allows(scopes...):
				v.refuse(w, &refusal{http.StatusForbidden, "insufficient_scope", "The token lacks a scope."}, scopes)
			default:
				next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), t)))
			}
		})
	}
}

// bearer returns the token in the Authorization header (RFC 6750 section 2.1). Two headers are refused, because proxies
// and servers may disagree on the one that counts.
func bearer(h http.Header) (token string, refused *refusal) {
	lines := h["Authorization"]
	scheme, token, _ := strings.Cut(strings.Join(lines, ","), " ")
	switch {
	case len(lines) == 0, len(lines) == 1 && !strings.EqualFold(scheme, "Bearer"):
		return "", &refusal{status: http.StatusUnauthorized}
	case len(lines) > 1 || token == "" || strings.ContainsAny(token, " ,\t"):
		return "", &refusal{
			http.StatusBadRequest, "invalid_request", "The Authorization header is not a single bearer token.",
		}
	}
	return token, nil
}

// refusal is a response without a handler. code is empty if the request has no token.
type refusal struct {
	status       int
	code, detail string
}

// details are the sentences for clients.
var details = []struct {
	err  error
	text string
}{
	{ErrExpired, "The token has expired."},
	{ErrNotYetValid, "The token is not valid yet."},
	{ErrAudience, "The token is for another service."},
	{ErrIssuer, "The token is from another issuer."},
	{ErrRevoked, "The token was revoked."},
}

func refusalOf(err error) *refusal {
	if errors.Is(err, ErrUnavailable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &refusal{http.StatusServiceUnavailable, "unavailable", "The token cannot be checked at the moment."}
	}
	r := &refusal{http.StatusUnauthorized, "invalid_token", "The token is not valid."}
	for _, d := range details {
		if errors.Is(err, d.err) {
			r.detail = d.text
		}
	}
	return r
}

// refuse sends the challenge, and a problem document (RFC 9457).
func (v *Verifier) refuse(w http.ResponseWriter, r *refusal, scopes []string) {
	h := w.Header()
	if r.status == http.StatusServiceUnavailable {
		h.Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	} else {
		h.Set("WWW-Authenticate", v.challenge(r, scopes))
	}
	document := map[string]any{"type": "about:blank", "title": http.StatusText(r.status), "status": r.status}
	if r.code != "" {
		document["code"], document["detail"] = r.code, r.detail
	}
	body, err := json.Marshal(document)
	if err != nil { // texts and a number can always be encoded
		panic(err)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(r.status)
	_, _ = w.Write(body)
}

// challenge returns the header WWW-Authenticate (RFC 6750 section 3, RFC 9728 section 5.1).
func (v *Verifier) challenge(r *refusal, scopes []string) string {
	c := `Bearer realm="` + v.options.Audience + `"`
	if r.code != "" {
		c += `, error="` + r.code + `", error_description="` + r.detail + `"`
	}
	if len(scopes) > 0 && (r.code == "" || r.code == "insufficient_scope") {
		c += `, scope="` + strings.Join(scopes, " ") + `"`
	}
	if v.options.ResourceMetadata != "" {
		c += `, resource_metadata="` + v.options.ResourceMetadata + `"`
	}
	return c
}
