// Package csrf decides whether a page of this site sent a request. The token and its cookie have the format of Auth.js:
// the cookie has the token, a bar, and a hash of the token with the secret (double submit).
package csrf

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/random"
)

const (
	// TokenLen is the length of a token, in hex digits.
	TokenLen = 64
	// maxCookies is the maximum number of cookies with the CSRF cookie's name that are examined.
	maxCookies = 4
)

// Guard checks requests. It is safe for concurrent use.
type Guard struct {
	// SameOrigin also accepts headers that browsers set and pages cannot, instead of the token. Skip requires no token;
	// requests that another site has sent, according to the browser, are refused in any case.
	SameOrigin, Skip bool
	// Secrets sign tokens, the newest first.
	Secrets []string
	// Rand is the source of randomness for tokens.
	Rand io.Reader
}

// Request contains the parts of a request that the check needs.
type Request struct {
	Jar     cookie.Jar
	Cookie  string // the name of the CSRF cookie
	Method  string
	Header  http.Header
	Origin  string // the public origin of the request
	Sent    string // the token in the body
	Trusted bool   // the Origin header is that of a trusted other origin
	Unread  string // why the body has no fields; empty if it was read
}

// Verdict is the result of the check.
type Verdict struct {
	// Token is the token for forms in the response. It is empty if the policy needs none.
	Token string
	// Fresh is the value of a new CSRF cookie. It is empty if the request has a valid one.
	Fresh string
	// Verified reports whether the request is a POST with the proof that the policy requires.
	Verified bool
	// SentFrom is the origin of the request according to the browser.
	SentFrom Sender
	// Refusal is the reason, for the log, why a POST is not verified. It contains no input of the client.
	Refusal string
}

// Check returns the CSRF token of a request, from its cookie or a new one, and whether a page of this site sent the
// request. An error means that the source of randomness failed.
func (g *Guard) Check(r Request) (Verdict, error) {
	result := Verdict{SentFrom: senderOf(r.Header, r.Origin)}
	if r.Trusted {
		result.SentFrom = ThisSite
	}
	if g.Skip {
		if result.Verified = result.SentFrom != AnotherSite; !result.Verified {
			result.Refusal = foreignBy(r)
		}
		return result, nil
	}
	token, doubt := g.tokenOf(r)
	result.Token = token
	if token == "" {
		value, err := g.New()
		if err != nil {
			return Verdict{}, err
		}
		result.Token, result.Fresh = value[:TokenLen], value
	}
	if r.Method != http.MethodPost {
		return result, nil
	}
	switch {
	case !r.Trusted && r.Header.Get("Sec-Fetch-Site") == "cross-site":
		result.Refusal = foreignBy(r)
	case token != "" && random.Same(r.Sent, token), g.SameOrigin && result.SentFrom == ThisSite:
		result.Verified = true
	case doubt != "":
		result.Refusal = doubt
	case r.Sent != "":
		result.Refusal = "csrfToken does not match the cookie: the form is older than the cookie, or from another browser"
	case r.Unread != "":
		result.Refusal = "the body was not read, as " + r.Unread +
			": send application/x-www-form-urlencoded or application/json"
	default:
		result.Refusal = "the body has no csrfToken: GET csrf and the built-in pages contain it"
	}
	if g.SameOrigin && !result.Verified && result.SentFrom == AnotherSite {
		result.Refusal += "; " + foreignBy(r)
	}
	return result, nil
}

// New returns the value of a new CSRF cookie: the token, a bar, and a hash.
func (g *Guard) New() (string, error) {
	var seed [TokenLen / 2]byte
	if err := random.Fill(g.Rand, seed[:]); err != nil {
		return "", err
	}
	var value [TokenLen + 1 + 2*sha256.Size]byte
	token, digits := value[:TokenLen], value[TokenLen+1:]
	hex.Encode(token, seed[:])
	value[TokenLen] = '|'
	hash := sum(token, g.Secrets[0])
	hex.Encode(digits, hash[:])
	return string(value[:]), nil
}

// sum returns the hash of a token with a secret. It does not allocate for secrets of a common length.
func sum[T ~string | ~[]byte](token T, secret string) [sha256.Size]byte {
	var room [256]byte
	return sha256.Sum256(append(append(room[:0], token...), secret...))
}

// tokenOf returns the token of the first valid CSRF cookie, or the reason why there is none. There may be several: a
// sibling subdomain can set cookies of that name if the name has no "__Host-" prefix.
func (g *Guard) tokenOf(r Request) (token, doubt string) {
	doubt = "the request has no CSRF cookie: it is blocked, or was set for another host or for another scheme"
	for raw := range r.Jar.Raws(r.Cookie, maxCookies) {
		if token, hash, ok := pair(raw); ok && len(token) == TokenLen && g.hashOK(token, hash) {
			return token, ""
		}
		doubt = "the CSRF cookie is invalid: it was made with another secret, or changed"
	}
	return "", doubt
}

// pair splits a raw cookie value into token and hash. In cookies that core has set, only the bar is
// percent-encoded, so nothing needs to be decoded.
func pair(raw string) (token, hash string, ok bool) {
	const bar = "%7C"
	if token, hash, ok = strings.Cut(raw, bar); ok && len(token) == TokenLen && len(hash) == 2*sha256.Size {
		return token, hash, true
	}
	return strings.Cut(cookie.Decode(raw), "|")
}

// hashOK compares the hash with that of each secret, in constant time. It does not allocate for the first secret.
func (g *Guard) hashOK(token, hash string) bool {
	if len(hash) != 2*sha256.Size {
		return false
	}
	var digits [2 * sha256.Size]byte
	for _, secret := range g.Secrets {
		expected := sum(token, secret)
		hex.Encode(digits[:], expected[:])
		if random.Same(digits[:], hash) {
			return true
		}
	}
	if len(g.Secrets) < 2 {
		return false
	}
	expected := sum(token, strings.Join(g.Secrets, ","))
	return random.Same(hex.EncodeToString(expected[:]), hash)
}

// Sender is the kind of page that sent a request, according to the browser.
type Sender uint8

// The senders of a request.
const (
	Unknown     Sender = iota // not a browser, or the browser sends no such header
	ThisSite                  // a page of the same origin
	AnotherSite               // a page of another site, or of a sibling subdomain
)

// senderOf reads Sec-Fetch-Site, which pages cannot set (Fetch Metadata section 2.3). If it is missing, senderOf reads
// Origin (RFC 6454 section 7); "null" is another origin.
func senderOf(header http.Header, origin string) Sender {
	switch header.Get("Sec-Fetch-Site") {
	case "same-origin":
		return ThisSite
	case "cross-site", "same-site":
		return AnotherSite
	}
	switch header.Get("Origin") {
	case "":
		return Unknown
	case origin:
		return ThisSite
	}
	return AnotherSite
}

// FromOwnPage reports whether a page of this site made a call of a program, according to the browser. A header with two
// values is not trusted: a gateway may have added the second one. trusted reports that the Origin header is that of a
// trusted other origin.
func FromOwnPage(header http.Header, origin string, trusted bool) bool {
	origins, sites := header["Origin"], header["Sec-Fetch-Site"]
	switch {
	case len(origins) > 1, len(sites) > 1:
		return false
	case trusted:
		return true
	case len(origins) == 1 && origins[0] != origin, len(sites) == 1 && sites[0] != "same-origin":
		return false
	}
	return len(origins)+len(sites) > 0
}

// foreignBy returns a description of the header that marks a request as one of another site.
func foreignBy(r Request) string {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site":
		return "the browser says that another site sent it (Sec-Fetch-Site: cross-site)"
	case "same-site":
		return "the browser says that another subdomain sent it (Sec-Fetch-Site: same-site)"
	}
	return "its Origin header is not " + r.Origin + ", the origin of this request"
}
