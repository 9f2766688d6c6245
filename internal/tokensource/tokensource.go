// Package tokensource finds session tokens in the cookies and the Authorization header of a request, and derives the
// names and secrets that an application and a service without an Auth share.
package tokensource

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/internal/ascii"
	"github.com/latchkey-go/latchkey/internal/cookie"
)

var (
	errTwoHeaders = errors.New("the request has more than one Authorization header")
	errBearerForm = errors.New("the Authorization header does not have the form Bearer <token>")
	errNoToken    = errors.New("the request has neither a session cookie nor an Authorization header")
	errNoBearer   = errors.New("the Authorization header is not a single Bearer token, with one space before the token")
	errBadEscapes = errors.New("the Authorization header has invalid percent-encoding")
)

// Bearer returns the token in the Authorization header (RFC 6750 section 2.1). A token may be percent-encoded, like the
// value of the session cookie. presented reports that the header has the scheme Bearer, valid or not. A header with
// another scheme is ignored, because a proxy may require its own password. Two headers are an error, because proxies
// and routers may disagree on the one that counts. err says why a presented header has no token.
func Bearer(h http.Header) (token string, presented bool, err error) {
	switch lines := h["Authorization"]; len(lines) {
	case 0:
		return "", false, nil
	case 1:
		return BearerLine(lines[0])
	default:
		return "", true, errTwoHeaders
	}
}

// BearerLine is [Bearer] for the value of one Authorization header.
func BearerLine(line string) (token string, presented bool, err error) {
	const scheme = "Bearer" // case-insensitive (RFC 9110 section 11.1)
	line = strings.TrimLeft(line, " \t")
	end := min(len(scheme), len(line))
	rest := line[end:]
	if !strings.EqualFold(line[:end], scheme) || bearerBytes.Lead(rest) > 0 {
		return "", false, nil
	}
	rest = strings.TrimLeft(rest, " ")
	if rest == "" || len(rest) > cookie.MaxHeaderBytes || bearerBytes.Lead(rest) < len(rest) {
		return "", true, errBearerForm
	}
	if token, err = url.PathUnescape(rest); err != nil {
		return "", true, errBearerForm
	}
	return token, true, nil
}

// Find returns the first bearer token that matches, of all Authorization headers. It is empty if there is none.
func Find(h http.Header, matches func(token string) bool) string {
	for _, line := range h["Authorization"] {
		if token, _, err := BearerLine(line); err == nil && token != "" && matches(token) {
			return token
		}
	}
	return ""
}

// bearerBytes are the bytes of a token: token68 (RFC 9110 section 11.2) and the percent sign.
var bearerBytes = ascii.SetOf(func(c byte) bool { return ascii.IsAlnum(c) || strings.IndexByte("-._~+/=%", c) >= 0 })

// Single returns the percent-decoded token of an Authorization header. A missing header, two headers, another scheme
// and invalid percent-encoding are errors.
func Single(h http.Header) (string, error) {
	values := h["Authorization"]
	if len(values) == 0 {
		return "", errNoToken
	}
	value, ok := strings.CutPrefix(values[0], "Bearer ")
	if !ok || value == "" || len(values) != 1 {
		return "", errNoBearer
	}
	token, err := url.PathUnescape(value)
	if err != nil {
		return "", errBadEscapes
	}
	return token, nil
}

// Sources are the places of a request that may contain a session token.
type Sources[T any] struct {
	// Cookies are the possible session cookies, in the order in which they are tried.
	Cookies []Cookie[T]
	// HeaderFirst means that a bearer token in the header replaces the cookies. Otherwise the header is read if the
	// request has no session cookie.
	HeaderFirst bool
}

// Cookie is a possible session cookie.
type Cookie[T any] struct {
	Name string
	// Open returns the content of a valid token for this cookie.
	Open func(ctx context.Context, token string) (T, error)
}

// header returns the token in the Authorization header. alone means that the cookies are ignored.
func (s *Sources[T]) header(h http.Header) (token string, alone bool, err error) {
	if s.HeaderFirst {
		if token, alone, err = Bearer(h); alone {
			return token, alone, err
		}
	}
	token, err = Single(h)
	return token, false, err
}

// Raw returns the token that Read would open. It is empty if there is none.
func (s *Sources[T]) Raw(h http.Header) string {
	token, alone, _ := s.header(h)
	if alone {
		return token
	}
	jar := cookie.Parse(h["Cookie"])
	for _, c := range s.Cookies {
		if value := cookie.Join(jar, c.Name).Value(); value != "" {
			return value
		}
	}
	return token
}

// Read returns the content of the first valid token, or the reason why there is none. If final returns true for an
// error, the search ends.
func (s *Sources[T]) Read(ctx context.Context, h http.Header, final func(error) bool) (none T, err error) {
	token, alone, noToken := s.header(h)
	jar := cookie.Parse(h["Cookie"])
	if alone {
		jar = cookie.Jar{}
	}
	var first error
	for _, c := range s.Cookies {
		joined := cookie.Join(jar, c.Name)
		for value := range joined.Values() {
			content, err := c.Open(ctx, value)
			if err == nil || final(err) {
				return content, err
			}
			if first == nil {
				first = fmt.Errorf("the cookie %s: %w", c.Name, err)
			}
		}
	}
	if first != nil || token == "" {
		return none, cmp.Or(first, noToken)
	}
	for _, c := range s.Cookies {
		content, err := c.Open(ctx, token)
		if err == nil || final(err) {
			return content, err
		}
		if first == nil {
			first = fmt.Errorf("the Authorization header: %w", err)
		}
	}
	return none, first
}

// BindSecret derives the secret of an audience from a shared secret, so that data encrypted, signed or hashed for one
// audience is invalid for another. Without an audience the secret is unchanged, as in Auth.js.
func BindSecret(audience, secret string) string {
	if audience == "" {
		return secret
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("latchkey audience\x00" + audience))
	return hex.EncodeToString(mac.Sum(nil))
}

// CookieFamily returns the start of an Auth's cookie names, without the security prefix. It depends on the audience, so
// that several Auths on one host do not overwrite each other's cookies.
func CookieFamily(audience string) string {
	if audience == "" {
		return "authjs."
	}
	sum := sha256.Sum256([]byte(audience))
	return "authjs." + hex.EncodeToString(sum[:4]) + "."
}

// Secrets returns the secrets in the environment, the newest first: AUTH_SECRET_3, _2, _1 and AUTH_SECRET. Variables
// that are not set are left out.
func Secrets[S ~string](getenv func(string) string) (secrets []S) {
	for _, name := range []string{"AUTH_SECRET_3", "AUTH_SECRET_2", "AUTH_SECRET_1", "AUTH_SECRET"} {
		if s := getenv(name); s != "" {
			secrets = append(secrets, S(s))
		}
	}
	return secrets
}
