package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Introspection asks the issuer whether a token is still valid (RFC 7662). Each verification then costs a request, so
// that a sign-out or a revoked session counts immediately.
type Introspection struct {
	// URL is the introspection endpoint, such as "https://app.example/auth/access-token/introspect".
	URL string
	// Secret is the secret of Options.Audience at the issuer.
	Secret string
}

// introspect returns ErrRevoked if the token is not active. It is called for tokens that are valid otherwise.
func (v *Verifier) introspect(ctx context.Context, token string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	body := strings.NewReader(form.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.options.Introspection.URL, body)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth(url.QueryEscape(v.options.Audience), url.QueryEscape(v.options.Introspection.Secret))
	_, document, err := v.send(r, maxToken)
	if err != nil {
		return fmt.Errorf("%w: introspection: %w", ErrUnavailable, err)
	}
	members, err := object(document)
	var active *bool
	if err != nil || json.Unmarshal(members["active"], &active) != nil || active == nil {
		return fmt.Errorf("%w: introspection: the response is malformed", ErrUnavailable)
	}
	if !*active {
		return ErrRevoked
	}
	return nil
}
