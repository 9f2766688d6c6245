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
	"time"

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

// flowKey hashes what flows send. It is safe for concurrent use.
type flowKey struct {
	hashers *sync.Pool // of *flowHasher, each keyed
}

// flowHasher is an HMAC whose key is hashed already, with room for what goes in and out of it.
type flowHasher struct {
	hash.Hash
	text []byte
	sum  flowSeed
}

func newFlowKey(key []byte) flowKey {
	return flowKey{&sync.Pool{New: func() any { return &flowHasher{Hash: hmac.New(sha256.New, key)} }}}
}

// flowSeed is the keyed hash of a text, which is long, and what everything else that is derived from the text is made
// of.
type flowSeed [sha256.Size]byte

// seed hashes a text.
func (k *flowKey) seed(text string) flowSeed {
	h := k.hashers.Get().(*flowHasher)
	defer k.hashers.Put(h)
	h.text = append(h.text[:0], text...)
	h.Reset()
	_, _ = h.Write(h.text) // never fails
	h.Sum(h.sum[:0])
	return h.sum
}

// derived is 256 bits as base64url. Names are the first few of its characters.
type derived [43]byte

// derive makes a value for one purpose. It is a key derivation in one step (NIST SP 800-56C section 4.1, with SHA-256).
func (s *flowSeed) derive(purpose string) (d derived) {
	var room [64]byte // on the stack; what is longer moves
	const counter = "\x00\x00\x00\x01"
	sum := sha256.Sum256(append(append(append(room[:0], counter...), s[:]...), purpose...))
	base64.RawURLEncoding.Encode(d[:], sum[:])
	return d
}

// name derives the one name that is wanted of a text.
func (k *flowKey) name(length int, purpose, text string) string {
	seed := k.seed(text)
	d := seed.derive(purpose)
	return string(d[:length])
}

// Lengths of the names that cookies carry: 96 and 72 bits of a hash that cannot be computed without the key.
const (
	tagLength = 16
	whoLength = 12
)

// hashedAs returns the seed of a text from which the purpose derives the hash; false: no key makes such a one.
func (s *checks) hashedAs(hash, purpose, text string) (found flowSeed, ok bool) {
	for i := range s.keys {
		seed := s.keys[i].seed(text)
		full := seed.derive(purpose)
		n := min(len(hash), len(full))
		if n > 0 && subtle.ConstantTimeCompare(full[:n], []byte(hash)) == 1 && !ok {
			found, ok = seed, true
		}
	}
	return found, ok
}

// isHash reports whether a purpose derives the hash from a text, with any of the keys.
func (s *checks) isHash(hash, purpose, text string) bool {
	_, ok := s.hashedAs(hash, purpose, text)
	return ok
}

// checkValue derives what a check sends, from the state or from what is kept in its place.
func (s *flowSeed) checkValue(check Check) string {
	d := s.derive("check " + string(check))
	return string(d[:])
}

// who names session and browser for the flows that begin with this request.
func (f *browserFlows) who(ctx context.Context) (string, error) {
	by, browser := "", ""
	session, err := f.c.session.visitor(ctx)
	if err != nil {
		return "", err
	}
	if session != "" {
		by = f.keys[0].name(whoLength, "session", session)
	}
	if f.knowsBrowser() {
		browser = f.keys[0].name(whoLength, "browser", f.c.csrf.token)
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
	if session != "" && !f.isHash(begun.by(), "session", session) {
		return errorf(ErrInvalidCheck, "the sign-in was started under another session")
	}
	crossSite := begun.FormPost && f.c.r.Method == "POST" && !f.c.jar.Has(f.c.cookies.csrf.name())
	compared := begun.browser() != "" && f.knowsBrowser() && !crossSite
	if compared && !f.isHash(begun.browser(), "browser", f.c.csrf.token) {
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
	at     time.Time     // of all that this answer sets
	opened []openedCheck // of those that the request has
}

// openedCheck is a check cookie, opened once.
type openedCheck struct {
	spec *cookieSpec
	openedClaims
	err error
	// flow is what the claims say about the flow they belong to; nil: nothing, Auth.js made the cookie.
	flow *underway
}

func (s *checks) of(c *call) *browserFlows { return &browserFlows{checks: s, c: c, at: s.now()} }

// seal seals claims for a cookie of this answer.
func (f *browserFlows) seal(keys *jwe.Keyring, c claims, maxAge time.Duration) (string, error) {
	return f.sealAt(f.at, keys.Seal, c, maxAge)
}

// openCheck opens a check cookie; nil: the request has none.
func (f *browserFlows) openCheck(spec *cookieSpec) (*openedCheck, error) {
	for i := range f.opened {
		if o := &f.opened[i]; o.spec == spec {
			return o.known()
		}
	}
	sealed, _ := f.c.jar.Get(spec.name())
	if sealed == "" {
		return nil, nil
	}
	o := openedCheck{spec: spec}
	o.openedClaims, o.err = f.openClaims(spec.keys, sealed)
	o.flow = o.newestFlow()
	if f.opened == nil {
		f.opened = make([]openedCheck, 0, 4) // no request has more
	}
	f.opened = append(f.opened, o)
	return f.opened[len(f.opened)-1].known()
}

func (o *openedCheck) known() (*openedCheck, error) {
	if o.err != nil {
		return nil, o.err
	}
	return o, nil
}

// sentCheck is a check of a flow that begins, and its value.
type sentCheck struct {
	check Check
	value string
}
