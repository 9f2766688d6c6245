package core

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
	"github.com/latchkey-go/latchkey/core/internal/random"
)

// CSRFPolicy says what proves that a POST comes from a page of this site. A page of another site can make a visitor's
// browser send any POST here, with the visitor's cookies: without proof it would sign visitors out, or sign them in to
// an account of its own and collect what they do there.
//
// The zero value, the default, demands the token that our pages and GET csrf carry, repeated in the body beside its
// cookie (double submit): another site can read neither. [CSRFTokenOrSameOrigin] also takes the browser's own word, and
// [InsecureSkipCSRFCheck] demands no proof. No policy accepts what a browser calls cross-site (Fetch Metadata,
// Sec-Fetch-Site). Callbacks of providers that answer by POST (form_post) are guarded by state and nonce instead.
type CSRFPolicy struct{ sameOrigin, skip bool }

// CSRFTokenOrSameOrigin is the policy for front ends that send no token because their framework compares origins, such
// as the client of @auth/sveltekit: a POST needs the token as by default, or Sec-Fetch-Site "same-origin", or, from
// browsers that do not send that header, an Origin header that is exactly the public origin of the request. Behind a
// proxy that origin is what Config.URL, or the forwarded headers that are trusted, say. A request with neither header
// needs the token.
func CSRFTokenOrSameOrigin() CSRFPolicy { return CSRFPolicy{sameOrigin: true} }

// InsecureSkipCSRFCheck demands no token, for routers that check every POST themselves: there is then no CSRF cookie,
// and GET csrf answers 404. What a browser says to come from another site or subdomain, by Sec-Fetch-Site or by an
// Origin header that is not this origin's, is refused all the same; a request without these headers passes. It is a
// function and no flag so that no configuration file can set it by accident.
func InsecureSkipCSRFCheck() CSRFPolicy { return CSRFPolicy{skip: true} }

const (
	csrfTokenLen = 64 // hex digits
	// maxCSRFCookies is how many cookies of the CSRF cookie's name are looked at.
	maxCSRFCookies = 4
)

// csrfGuard checks requests by the policy.
type csrfGuard struct {
	policy  CSRFPolicy
	secrets []string
	rand    io.Reader
}

// csrfRequest is what the check looks at in a request.
type csrfRequest struct {
	jar     cookie.Jar
	spec    *cookieSpec // of the CSRF cookie
	method  string
	header  http.Header
	origin  string // the public one of the request
	sent    string // the field csrfToken of the body
	trusted bool   // the Origin header is one of Config.TrustedOrigins
	unread  string // why the body has no fields, empty when it was read
}

// csrfVerdict is what the check found out.
type csrfVerdict struct {
	// token is the token for forms of the answer, empty where the policy needs none.
	token string
	// fresh is the value of the cookie that keeps a token which is new; empty: the request has its cookie.
	fresh string
	// verified: the request is a POST with the proof that the policy demands.
	verified bool
	// sentFrom is where a browser says that the request comes from.
	sentFrom sender
	// refusal says, for the log, why a POST is not verified; it repeats nothing that the browser sent.
	refusal string
}

// check settles the CSRF token of a request, that of its cookie or a fresh one, and whether the request proves that it
// comes from this site. It changes nothing, and is safe for concurrent use.
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
		result.refusal = "csrfToken is not the one of the cookie: the form is older than the cookie, or of another browser"
	case r.unread != "":
		result.refusal = "the body was not read, as " + r.unread +
			": send application/x-www-form-urlencoded or application/json"
	default:
		result.refusal = "the body has no csrfToken, the token that GET csrf and the pages carry"
	}
	if g.policy.sameOrigin && !result.verified && result.sentFrom == anotherSite {
		result.refusal += "; " + foreignBy(r)
	}
	return result, nil
}

// fresh makes the value of a CSRF cookie: a token, and its hash behind a bar.
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

// csrfSum is the hash of a token with a secret, without an allocation for secrets of a common length.
func csrfSum[T ~string | ~[]byte](token T, secret string) [sha256.Size]byte {
	var room [256]byte
	return sha256.Sum256(append(append(room[:0], token...), secret...))
}

// tokenOf returns the token of the first CSRF cookie that verifies, or says why there is none. A neighbouring subdomain
// can plant cookies of that name where it has no "__Host-" prefix.
func (g *csrfGuard) tokenOf(r csrfRequest) (token, doubt string) {
	doubt = "the request has no CSRF cookie: it is blocked, or was set for another host or for another scheme"
	for raw := range r.jar.Raws(r.spec.name(), maxCSRFCookies) {
		if token, hash, ok := csrfPair(raw); ok && len(token) == csrfTokenLen && g.hashOK(token, hash) {
			return token, ""
		}
		doubt = "the CSRF cookie does not verify: it was made with another secret, or altered"
	}
	return "", doubt
}

// csrfPair takes the cookie's value apart as a Cookie header has it. As answers of ours wrote it, it holds no escape
// but that of the bar, and nothing is decoded.
func csrfPair(raw string) (token, hash string, ok bool) {
	const bar = "%7C"
	if token, hash, ok = strings.Cut(raw, bar); ok && len(token) == csrfTokenLen && len(hash) == 2*sha256.Size {
		return token, hash, true
	}
	return strings.Cut(cookie.Decode(raw), "|")
}

// hashOK compares the hash with that of each secret, in constant time and without allocating for the first.
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

// sender is where a browser says that a request comes from.
type sender uint8

const (
	unsaid      sender = iota // no browser, or one that does not say
	thisSite                  // a page of the same origin
	anotherSite               // a page of another site, or of a neighbouring subdomain
)

// senderOf reads Sec-Fetch-Site, which no page can set (Fetch Metadata section 2.3), and in its absence Origin (RFC
// 6454 section 7; "null" is some other origin).
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

// foreignBy says which header it is by which a request comes from another site.
func foreignBy(r csrfRequest) string {
	switch first(r.header, "Sec-Fetch-Site") {
	case "cross-site":
		return "the browser says that another site sent it (Sec-Fetch-Site: cross-site)"
	case "same-site":
		return "the browser says that another subdomain sent it (Sec-Fetch-Site: same-site)"
	}
	return "its Origin header is not " + r.origin + ", the origin of this request"
}
