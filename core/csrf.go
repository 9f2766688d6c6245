package core

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/random"
)

// CSRFPolicy is the proof that a POST request must contain that a page of this site sent it. A page of another site can
// make a browser send any POST request here, with the user's cookies. Without this check, an attacker could sign users
// out, or sign them in to the attacker's account and collect what they enter there.
//
// The zero value requires the CSRF token, which built-in pages and GET csrf contain, in the body in addition to the
// cookie (double submit). Another site can read neither. [CSRFTokenOrSameOrigin] also accepts headers that browsers set
// and pages cannot, and [InsecureSkipCSRFCheck] requires no token. All policies reject requests that the browser marks
// as cross-site (Sec-Fetch-Site, Fetch Metadata). Callbacks of providers with form_post are protected by state and
// nonce instead.
type CSRFPolicy struct{ sameOrigin, skip bool }

// CSRFTokenOrSameOrigin returns a policy for front ends that send no token because their framework compares origins,
// such as the client of @auth/sveltekit. A POST request must contain the token, or the header Sec-Fetch-Site with the
// value "same-origin". If the browser does not send that header, the Origin header must equal the public origin of the
// request. Behind a proxy, the public origin is that of Config.URL or of trusted forwarded headers. A request with
// neither header needs the token.
func CSRFTokenOrSameOrigin() CSRFPolicy { return CSRFPolicy{sameOrigin: true} }

// InsecureSkipCSRFCheck returns a policy without tokens, for applications whose router checks every POST request. There
// is no CSRF cookie, and GET csrf has status 404. Requests from another site or subdomain, according to Sec-Fetch-Site
// or the Origin header, are still rejected. A request without these headers is accepted. It is a function, not a flag,
// so that no configuration file can set it by accident.
func InsecureSkipCSRFCheck() CSRFPolicy { return CSRFPolicy{skip: true} }

const (
	csrfTokenLen = 64 // hex digits
	// maxCSRFCookies is the maximum number of cookies with the CSRF cookie's name that are examined.
	maxCSRFCookies = 4
)

// csrfGuard checks requests according to a policy.
type csrfGuard struct {
	policy  CSRFPolicy
	secrets []string
	rand    io.Reader
}

// csrfRequest contains the parts of a request that the check needs.
type csrfRequest struct {
	jar     cookie.Jar
	spec    *cookieSpec // of the CSRF cookie
	method  string
	header  http.Header
	origin  string // the public origin of the request
	sent    string // the csrfToken field of the body
	trusted bool   // the Origin header is one of Config.TrustedOrigins
	unread  string // why the body has no fields; empty if it was read
}

// csrfVerdict is the result of the check.
type csrfVerdict struct {
	// token is the token for forms in the response. It is empty if the policy needs none.
	token string
	// fresh is the value of a new CSRF cookie. It is empty if the request has a valid one.
	fresh string
	// verified reports whether the request is a POST with the proof that the policy requires.
	verified bool
	// sentFrom is the origin of the request according to the browser.
	sentFrom sender
	// refusal is the reason, for the log, why a POST is not verified. It contains no input of the client.
	refusal string
}

// check returns the CSRF token of a request, from its cookie or a new one, and whether a page of this site sent the
// request. It is safe for concurrent use.
func (g *csrfGuard) check(r csrfRequest) (csrfVerdict, error) {
	result := csrfVerdict{sentFrom: senderOf(r.header, r.origin)}
	if r.trusted {
		result.sentFrom = thisSite
	}
	if g.policy.skip {
		if result.verified = result.sentFrom != anotherSite; !result.verified {
			result.refusal = foreignBy(r)
		}
		return result, nil
	}
	token, doubt := g.tokenOf(r)
	result.token = token
	if token == "" {
		value, err := g.fresh()
		if err != nil {
			return csrfVerdict{}, err
		}
		result.token, result.fresh = value[:csrfTokenLen], value
	}
	if r.method != http.MethodPost {
		return result, nil
	}
	switch {
	case !r.trusted && first(r.header, "Sec-Fetch-Site") == "cross-site":
		result.refusal = foreignBy(r)
	case token != "" && random.Same(r.sent, token), g.policy.sameOrigin && result.sentFrom == thisSite:
		result.verified = true
	case doubt != "":
		result.refusal = doubt
	case r.sent != "":
		result.refusal = "csrfToken does not match the cookie: the form is older than the cookie, or from another browser"
	case r.unread != "":
		result.refusal = "the body was not read, as " + r.unread +
			": send application/x-www-form-urlencoded or application/json"
	default:
		result.refusal = "the body has no csrfToken: GET csrf and the built-in pages contain it"
	}
	if g.policy.sameOrigin && !result.verified && result.sentFrom == anotherSite {
		result.refusal += "; " + foreignBy(r)
	}
	return result, nil
}

// fresh returns the value of a new CSRF cookie: the token, a bar, and a hash.
func (g *csrfGuard) fresh() (string, error) {
	var seed [csrfTokenLen / 2]byte
	if err := fillRandom(g.rand, seed[:]); err != nil {
		return "", err
	}
	var value [csrfTokenLen + 1 + 2*sha256.Size]byte
	token, digits := value[:csrfTokenLen], value[csrfTokenLen+1:]
	hex.Encode(token, seed[:])
	value[csrfTokenLen] = '|'
	sum := csrfSum(token, g.secrets[0])
	hex.Encode(digits, sum[:])
	return string(value[:]), nil
}

// csrfSum returns the hash of a token with a secret. It does not allocate for secrets of a common length.
func csrfSum[T ~string | ~[]byte](token T, secret string) [sha256.Size]byte {
	var room [256]byte
	return sha256.Sum256(append(append(room[:0], token...), secret...))
}

// tokenOf returns the token of the first valid CSRF cookie, or the reason why there is none. There may be several: a
// sibling subdomain can set cookies of that name if the name has no "__Host-" prefix.
func (g *csrfGuard) tokenOf(r csrfRequest) (token, doubt string) {
	doubt = "the request has no CSRF cookie: it is blocked, or was set for another host or for another scheme"
	for raw := range r.jar.Raws(r.spec.name(), maxCSRFCookies) {
		if token, hash, ok := csrfPair(raw); ok && len(token) == csrfTokenLen && g.hashOK(token, hash) {
			return token, ""
		}
		doubt = "the CSRF cookie is invalid: it was made with another secret, or changed"
	}
	return "", doubt
}

// csrfPair splits a raw cookie value into token and hash. In cookies that core has set, only the bar is
// percent-encoded, so nothing needs to be decoded.
func csrfPair(raw string) (token, hash string, ok bool) {
	const bar = "%7C"
	if token, hash, ok = strings.Cut(raw, bar); ok && len(token) == csrfTokenLen && len(hash) == 2*sha256.Size {
		return token, hash, true
	}
	return strings.Cut(cookie.Decode(raw), "|")
}

// hashOK compares the hash with that of each secret, in constant time. It does not allocate for the first secret.
func (g *csrfGuard) hashOK(token, hash string) bool {
	if len(hash) != 2*sha256.Size {
		return false
	}
	var digits [2 * sha256.Size]byte
	for _, secret := range g.secrets {
		sum := csrfSum(token, secret)
		hex.Encode(digits[:], sum[:])
		if random.Same(digits[:], hash) {
			return true
		}
	}
	return len(g.secrets) > 1 && random.Same(hashed(token, strings.Join(g.secrets, ",")), hash)
}

// sender is the origin of a request according to the browser.
type sender uint8

const (
	unsaid      sender = iota // not a browser, or the browser sends no such header
	thisSite                  // a page of the same origin
	anotherSite               // a page of another site, or of a sibling subdomain
)

// senderOf reads Sec-Fetch-Site, which pages cannot set (Fetch Metadata section 2.3). If it is missing, senderOf reads
// Origin (RFC 6454 section 7); "null" is another origin.
func senderOf(header http.Header, origin string) sender {
	switch first(header, "Sec-Fetch-Site") {
	case "same-origin":
		return thisSite
	case "cross-site", "same-site":
		return anotherSite
	}
	switch first(header, "Origin") {
	case "":
		return unsaid
	case origin:
		return thisSite
	}
	return anotherSite
}

// foreignBy returns a description of the header that marks a request as one of another site.
func foreignBy(r csrfRequest) string {
	switch first(r.header, "Sec-Fetch-Site") {
	case "cross-site":
		return "the browser says that another site sent it (Sec-Fetch-Site: cross-site)"
	case "same-site":
		return "the browser says that another subdomain sent it (Sec-Fetch-Site: same-site)"
	}
	return "its Origin header is not " + r.origin + ", the origin of this request"
}
