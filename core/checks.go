package core

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// checks tie the answer of a provider to the browser and the session that asked for it (RFC 6749 section 10.12, RFC
// 7636, OpenID Connect Core section 15.5.2).
type checks struct {
	sealer
	// keys hash and derive what a flow sends, one per secret.
	keys [][]byte
	// state seals the state parameter.
	state *jwe.Keyring
}

var allChecks = []Check{CheckState, CheckPKCE, CheckNonce}

// flowKeys makes the keys that flows are hashed and derived with, one per secret.
func flowKeys(secrets []string) ([][]byte, error) {
	keys := make([][]byte, len(secrets))
	for i, secret := range secrets {
		key, err := hkdf.Key(sha256.New, []byte(secret), nil, "Latchkey sign-ins under way", sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("core: Secrets: %w", err)
		}
		keys[i] = key
	}
	return keys, nil
}

// flowHash is a keyed hash for one purpose: 43 characters of base64url, of which names take the first few.
func flowHash(key []byte, purpose, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose + "\x00" + text))
	var sum [sha256.Size]byte
	return base64.RawURLEncoding.EncodeToString(h.Sum(sum[:0]))
}

// Lengths of the names that cookies carry: 96 and 72 bits of a hash that cannot be computed without the key.
const (
	tagLength = 16
	whoLength = 12
)

// hashKey returns the key under which text has the hash, nil for none.
func (s *checks) hashKey(purpose, text, hash string) (found []byte) {
	for _, key := range s.keys {
		full := flowHash(key, purpose, text)
		n := min(len(hash), len(full))
		if n > 0 && subtle.ConstantTimeCompare([]byte(full[:n]), []byte(hash)) == 1 && found == nil {
			found = key
		}
	}
	return found
}

// checkValue derives what a check sends from the state, or from what is kept in its place.
func checkValue(key []byte, k Check, seed string) string {
	return flowHash(key, "check "+string(k), seed)
}

// who names session and browser for the flows that begin with this request.
func (f *browserFlows) who(ctx context.Context) (string, error) {
	by, browser := "", ""
	session, err := f.c.session.visitor(ctx)
	if err != nil {
		return "", err
	}
	if session != "" {
		by = flowHash(f.keys[0], "session", session)[:whoLength]
	}
	if f.knowsBrowser() {
		browser = flowHash(f.keys[0], "browser", f.c.csrf.token)[:whoLength]
	}
	return by + "." + browser, nil
}

// knowsBrowser reports whether the CSRF cookie marks the browser: only one with the __Host- prefix is safe from
// neighbouring subdomains, which can set cookies for the whole domain (RFC 6265bis section 4.1.3.2).
func (f *browserFlows) knowsBrowser() bool {
	return f.c.csrf.token != "" && strings.HasPrefix(f.c.cookies.csrf.name(), "__Host-")
}

// sameVisitor refuses a flow that another session began, else check cookies planted in a visitor's browser would link
// the planter's account to them; and one that another browser began, else they would sign the visitor in as the
// planter. A cross-site POST comes without the CSRF cookie: it is not asked for there.
func (f *browserFlows) sameVisitor(ctx context.Context, begun *underway) error {
	session, err := f.c.session.visitor(ctx)
	if err != nil {
		return err
	}
	if session != "" && f.hashKey("session", session, begun.by()) == nil {
		return errorf(ErrInvalidCheck, "the sign-in was started under another session")
	}
	crossSite := begun.FormPost && f.c.r.Method == "POST" && !f.c.jar.Has(f.c.cookies.csrf.name())
	compared := begun.browser() != "" && f.knowsBrowser() && !crossSite
	if compared && f.hashKey("browser", f.c.csrf.token, begun.browser()) == nil {
		return errorf(ErrInvalidCheck, "the sign-in was started in another browser: its CSRF cookie is another, or gone")
	}
	return nil
}

// maxFlows is how many sign-ins one browser can have under way: more than a visitor has tabs that wait for a provider.
const maxFlows = 4

// underway is a sign-in under way, as the browser's cookies remember it until the provider answers. The newest one has
// its checks in the cookies of Auth.js, a value in each. Of earlier ones, begun in other tabs, the state cookie keeps
// no more than this: their code verifier and nonce are derived from the state, which comes back with the answer, and
// from a key of the server.
type underway struct {
	// Tag is a keyed hash of the state, of OAuth 1.0a of the request token; empty where no state was sent.
	Tag      string `json:"s,omitempty"`
	Provider string `json:"p,omitempty"`
	// Expires is in Unix seconds.
	Expires int64 `json:"e,omitempty"`
	// Who names the session that began the flow and the browser it was begun in, each a keyed hash or empty, with a dot
	// between. In a list an empty Who repeats the one before.
	Who string `json:"w,omitempty"`
	// FormPost says that the answer is a cross-site POST; ReturnTo is where the visitor goes then, as such a POST comes
	// without the callback URL cookie. Empty: the origin; [askAgain]: the cookie says it.
	FormPost bool   `json:"f,omitempty"`
	ReturnTo string `json:"u,omitempty"`
	// Kept is the secret of a request token, or what verifier and nonce are derived from where no state was sent.
	Kept string `json:"v,omitempty"`
}

func (u *underway) by() string { by, _, _ := strings.Cut(u.Who, "."); return by }

func (u *underway) browser() string { _, browser, _ := strings.Cut(u.Who, "."); return browser }

// browserFlows are the sign-ins under way in the browser of a call.
type browserFlows struct {
	*checks
	c      *call
	opened []openedCheck
}

// openedCheck is a check cookie, opened once.
type openedCheck struct {
	spec   *cookieSpec
	claims *Token
	err    error
}

func (s *checks) of(c *call) *browserFlows { return &browserFlows{checks: s, c: c} }

// openCheck opens a check cookie; nil: the request has none. The claims are not to be changed.
func (f *browserFlows) openCheck(spec *cookieSpec) (*Token, error) {
	for _, o := range f.opened {
		if o.spec == spec {
			return o.claims, o.err
		}
	}
	o := openedCheck{spec: spec}
	if sealed, ok := f.c.jar.Get(spec.name()); ok && sealed != "" {
		o.claims, o.err = f.open(spec.keys, sealed)
	}
	f.opened = append(f.opened, o)
	return o.claims, o.err
}

// sentCheck is a check of a flow that begins, and its value.
type sentCheck struct {
	check Check
	value string
}

// newestFlow is what the claims of a check cookie say about the flow they belong to; nil: nothing, Auth.js made the
// cookie.
func newestFlow(claims *Token) *underway {
	var u underway
	if !claims.Extra.Get("flow", &u) {
		return nil
	}
	u.Provider, u.Expires = claims.Extra.Text("provider"), claims.Expires.Unix()
	return &u
}
