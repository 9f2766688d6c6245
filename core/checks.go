package core

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"hash"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// checks tie the answer of a provider to the browser and the session that asked for it (RFC 6749 section 10.12, RFC
// 7636, OpenID Connect Core section 15.5.2).
type checks struct {
	sealer
	// keys hash and derive what a flow sends, one per secret.
	keys []flowKey
	// state seals the state parameter.
	state *jwe.Keyring
}

var allChecks = []Check{CheckState, CheckPKCE, CheckNonce}

// flowKeys makes the keys that flows are hashed and derived with, one per secret.
func flowKeys(secrets []string) ([]flowKey, error) {
	keys := make([]flowKey, len(secrets))
	for i, secret := range secrets {
		key, err := hkdf.Key(sha256.New, []byte(secret), nil, "Latchkey sign-ins under way", sha256.Size)
		if err != nil {
			return nil, fmt.Errorf("core: Secrets: %w", err)
		}
		keys[i] = newFlowKey(key)
	}
	return keys, nil
}

// flowKey hashes and derives what flows send. It is safe for concurrent use.
type flowKey struct {
	hashers *sync.Pool // of *flowHasher, each keyed
}

// flowHasher is an HMAC whose key is hashed already, with room for what goes in and out of it.
type flowHasher struct {
	hash.Hash
	text []byte
	sum  [sha256.Size]byte
}

func newFlowKey(key []byte) flowKey {
	return flowKey{&sync.Pool{New: func() any { return &flowHasher{Hash: hmac.New(sha256.New, key)} }}}
}

// hash is a keyed hash for one purpose: 43 characters of base64url, of which names take the first few.
func (k *flowKey) hash(purpose, text string) string {
	h := k.hashers.Get().(*flowHasher)
	defer k.hashers.Put(h)
	h.text = append(append(append(h.text[:0], purpose...), 0), text...)
	h.Reset()
	_, _ = h.Write(h.text) // never fails
	var out [43]byte
	base64.RawURLEncoding.Encode(out[:], h.Sum(h.sum[:0]))
	return string(out[:])
}

// Lengths of the names that cookies carry: 96 and 72 bits of a hash that cannot be computed without the key.
const (
	tagLength = 16
	whoLength = 12
)

// hashKey returns the key under which text has the hash, nil for none.
func (s *checks) hashKey(purpose, text, hash string) (found *flowKey) {
	for i := range s.keys {
		key := &s.keys[i]
		full := key.hash(purpose, text)
		n := min(len(hash), len(full))
		if n > 0 && subtle.ConstantTimeCompare([]byte(full[:n]), []byte(hash)) == 1 && found == nil {
			found = key
		}
	}
	return found
}

// checkValue derives what a check sends from the state, or from what is kept in its place.
func (k *flowKey) checkValue(check Check, seed string) string {
	return k.hash("check "+string(check), seed)
}

// who names session and browser for the flows that begin with this request.
func (f *browserFlows) who(ctx context.Context) (string, error) {
	by, browser := "", ""
	session, err := f.c.session.visitor(ctx)
	if err != nil {
		return "", err
	}
	if session != "" {
		by = f.keys[0].hash("session", session)[:whoLength]
	}
	if f.knowsBrowser() {
		browser = f.keys[0].hash("browser", f.c.csrf.token)[:whoLength]
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

// browserFlows are the sign-ins under way in the browser of a call.
type browserFlows struct {
	*checks
	c      *call
	opened []openedCheck
	room   [4]openedCheck // for all that one request has
}

// openedCheck is a check cookie, opened once.
type openedCheck struct {
	spec *cookieSpec
	openedClaims
	err error
	// flow is what the claims say about the flow they belong to; nil: nothing, Auth.js made the cookie.
	flow *underway
}

func (s *checks) of(c *call) *browserFlows { return &browserFlows{checks: s, c: c} }

// openCheck opens a check cookie; nil: the request has none.
func (f *browserFlows) openCheck(spec *cookieSpec) (*openedCheck, error) {
	for i := range f.opened {
		if o := &f.opened[i]; o.spec == spec {
			return o.known()
		}
	}
	if f.opened == nil {
		f.opened = f.room[:0]
	}
	o := openedCheck{spec: spec}
	if sealed, ok := f.c.jar.Get(spec.name()); ok && sealed != "" {
		o.openedClaims, o.err = f.openClaims(spec.keys, sealed)
		o.flow = o.newestFlow()
	}
	f.opened = append(f.opened, o)
	return f.opened[len(f.opened)-1].known()
}

func (o *openedCheck) known() (*openedCheck, error) {
	if o.text == "" || o.err != nil {
		return nil, o.err
	}
	return o, nil
}

// sentCheck is a check of a flow that begins, and its value.
type sentCheck struct {
	check Check
	value string
}
