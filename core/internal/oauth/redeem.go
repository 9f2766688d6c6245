package oauth

import "context"

// Redeem exchanges the code for tokens (RFC 6749 section 4.1.3); verifier is "" when no challenge was sent. The code
// goes out once, in the configured style of client authentication: a second attempt in another style would show the
// secret twice.
func (c *Client) Redeem(ctx context.Context, at Endpoints, code Code, verifier, redirectURI string) (*Tokens, error) {
	if code.value == "" {
		return nil, c.config.errorf(": %w", ErrNoCode)
	}
	g := grant{redirectURI: redirectURI, verified: verifier != ""}
	return c.tokenEndpoint(at).ask(ctx, g, code.value, verifier)
}

// Refresh exchanges a refresh token for tokens (RFC 6749 section 6). The error of a provider that no longer accepts it
// is [ErrInvalidGrant].
func (c *Client) Refresh(ctx context.Context, at Endpoints, refreshToken string) (*Tokens, error) {
	return c.tokenEndpoint(at).ask(ctx, grant{refresh: true}, refreshToken, "")
}

func (c *Client) tokenEndpoint(at Endpoints) tokenEndpoint {
	return tokenEndpoint{&c.config, at, &c.form}
}
