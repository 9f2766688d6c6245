package verify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options configures [New]. Issuer and Audience are required.
type Options struct {
	// Issuer is the expected claim iss, such as "https://app.example".
	Issuer string
	// Audience is the expected claim aud: the ID of this service at the issuer, such as "https://orders.example".
	Audience string
	// JWKSURL is the address of the public keys. The default is Issuer followed by /.well-known/jwks.json. It must be an
	// https URL; for a loopback host it may be http. Redirects are not followed.
	JWKSURL string
	// Keys returns the JWKS (RFC 7517 section 5), instead of a request to JWKSURL. It is called at most once at a time.
	Keys func(ctx context.Context) ([]byte, error)
	// Introspection asks the issuer for each token whether it was revoked. If it is nil, a token is valid until it
	// expires.
	Introspection *Introspection
	// ResourceMetadata is the URL of the protected resource metadata (RFC 9728), for the challenge. It may be empty.
	ResourceMetadata string
	// ClockSkew is the accepted difference between the clocks. The default is 30 seconds, the maximum 5 minutes.
	ClockSkew time.Duration
	// HTTPClient sends the requests to the issuer. The default is [http.DefaultClient] with a timeout of 5 seconds.
	HTTPClient *http.Client
	// Refused is called by [Verifier.Require] with each error of [Verifier.Verify], for example to log it, because the
	// response does not contain the details. It may be nil.
	Refused func(ctx context.Context, err error)
	// Now is the clock. The default is [time.Now].
	Now func() time.Time
}

// The reasons why a token is not accepted. The errors of [Verifier.Verify] match one of them.
var (
	// ErrMalformed means that the text is not a signed access token (RFC 9068).
	ErrMalformed = errors.New("verify: the token is not an access token")
	// ErrAlgorithm means that the token is signed with an algorithm other than EdDSA and ES256, or not at all.
	ErrAlgorithm = errors.New("verify: the token is not signed with EdDSA or ES256")
	// ErrUnknownKey means that the issuer does not publish the key that the token names.
	ErrUnknownKey = errors.New("verify: the issuer does not publish the key of the token")
	// ErrSignature means that the signature is wrong.
	ErrSignature = errors.New("verify: the signature of the token is wrong")
	// ErrIssuer means that the token was issued by another issuer, and ErrAudience that it is for another service.
	ErrIssuer   = errors.New("verify: the token is from another issuer")
	ErrAudience = errors.New("verify: the token is for another audience")
	// ErrExpired means that the token has expired, and ErrNotYetValid that it was issued in the future.
	ErrExpired     = errors.New("verify: the token has expired")
	ErrNotYetValid = errors.New("verify: the token is not valid yet")
	// ErrRevoked means that the issuer has revoked the token, or its session (Options.Introspection).
	ErrRevoked = errors.New("verify: the token was revoked")

	// ErrUnavailable means that the token could not be checked, because the issuer does not respond as expected.
	ErrUnavailable = errors.New("verify: the issuer is not available")
)

const (
	defaultSkew = 30 * time.Second
	maxSkew     = 5 * time.Minute
	// maxToken is the maximum length of a token in bytes.
	maxToken = 8 << 10
	// requestTimeout limits a request to the issuer.
	requestTimeout = 5 * time.Second
)

// Verifier verifies tokens. Create it with [New]. It is safe for concurrent use.
type Verifier struct {
	options Options
	keys    *keyCache
}

// New returns a Verifier, or an error that names the invalid option. It sends no request.
func New(o Options) (*Verifier, error) {
	if o.Issuer == "" || o.Audience == "" {
		return nil, errors.New("verify: Options.Issuer and Options.Audience must be set")
	}
	if o.ClockSkew < 0 || o.ClockSkew > maxSkew {
		return nil, fmt.Errorf("verify: Options.ClockSkew is %v: use 0 to %v", o.ClockSkew, maxSkew)
	}
	if o.ClockSkew == 0 {
		o.ClockSkew = defaultSkew
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.JWKSURL == "" {
		o.JWKSURL = strings.TrimSuffix(o.Issuer, "/") + "/.well-known/jwks.json"
	}
	if o.Keys == nil && !isSecure(o.JWKSURL) {
		return nil, fmt.Errorf("verify: Options.JWKSURL is %q: use an https URL", o.JWKSURL)
	}
	for name, text := range map[string]string{"Audience": o.Audience, "ResourceMetadata": o.ResourceMetadata} {
		if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			return nil, fmt.Errorf("verify: Options.%s is %q: use printable ASCII characters without quotation marks", name,
				text)
		}
	}
	client := http.Client{Timeout: requestTimeout}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.HTTPClient = &client
	if i := o.Introspection; i != nil {
		own := *i
		if o.Introspection = &own; !isSecure(i.URL) || i.Secret == "" {
			return nil, fmt.Errorf("verify: Options.Introspection has the URL %q: use an https URL, and set Secret", i.URL)
		}
	}
	v := &Verifier{options: o}
	v.keys = &keyCache{now: o.Now, fetch: v.fetchKeys}
	return v, nil
}

// isSecure reports whether an address is an https URL, or an http URL of a loopback host.
func isSecure(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || u.Scheme == "http" &&
		(host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "127.0.0.1" || host == "::1")
}

// Verify verifies a token and returns its content. The error says why the token is not accepted, and never contains a
// part of it. An error that matches [ErrUnavailable], or the error of ctx, says nothing about the token.
func (v *Verifier) Verify(ctx context.Context, token string) (*Token, error) {
	s, err := parseSigned(token)
	if err != nil {
		return nil, err
	}
	key, err := v.keys.find(ctx, s.kid)
	switch {
	case err != nil:
		return nil, err
	case key.alg != s.alg:
		return nil, fmt.Errorf("%w: its key is for another algorithm", ErrAlgorithm)
	case !key.verifies(s):
		return nil, ErrSignature
	}
	t, err := parseClaims(s.payload)
	if err != nil {
		return nil, err
	}
	if err := t.check(&v.options); err != nil {
		return nil, err
	}
	if v.options.Introspection != nil {
		if err := v.introspect(ctx, token); err != nil {
			return nil, err
		}
	}
	return t, nil
}
