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

// checks tie the answer of a provider to the browser and the session that asked for it (RFC 6749 section 10.12, RFC 7636,
// OpenID Connect Core section 15.5.2).
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
		if n := min(len(hash), len(full)); n > 0 && subtle.ConstantTimeCompare([]byte(full[:n]), []byte(hash)) == 1 && found == nil {
			found = key
		}
	}
	return found
}

// checkValue derives what a check sends from the state, or from what is kept in its place.
func checkValue(key []byte, k Check, seed string) string {
	return flowHash(key, "check "+string(k), seed)
}

// begun is what a flow that begins sends to the provider.
type begun struct {
	flow underway
	// state is the state parameter, empty where none is sent; verifier and nonce likewise.
	state, verifier, nonce string
}

// sent lists the checks with their values, in the order of their cookies.
func (b *begun) sent(client *oauthClient) (all []sentCheck) {
	values := map[Check]string{CheckState: b.state, CheckPKCE: b.verifier, CheckNonce: b.nonce}
	for _, k := range allChecks {
		if client.checks(k) {
			all = append(all, sentCheck{k, values[k]})
		}
	}
	return all
}

// begin makes the values that tie the answer to this request (docs/protocol.md §8.2). Code verifier and nonce are
// derived from the state, so that the cookies need not hold those of every flow. returnTo is where a redirect proxy
// sends the browser on to, empty without one.
func (f *browserFlows) begin(ctx context.Context, client *oauthClient, returnTo string) (b begun, err error) {
	if len(client.Checks) == 0 {
		return b, nil
	}
	if b.flow.Who, err = f.who(ctx); err != nil {
		return b, err
	}
	if returnTo != "" { // the redirect proxy may share this site's name and set a CSRF cookie of its own
		b.flow.Who = b.flow.by() + "."
	}
	key, seed := f.keys[0], ""
	if client.checks(CheckState) || f.pendingWith(client.ID) { // answers to two tabs are told apart by their state
		if seed, err = f.newState(returnTo); err != nil {
			return b, err
		}
		b.state = seed
		b.flow.Tag = flowHash(key, "state", seed)[:tagLength]
	} else {
		if seed, err = randomText(f.rand); err != nil {
			return b, err
		}
		b.flow.Kept = seed
	}
	if b.flow.FormPost = client.formPost; b.flow.FormPost {
		f.rememberReturn(&b.flow)
	}
	if client.checks(CheckPKCE) {
		b.verifier = checkValue(key, CheckPKCE, seed)
	}
	if client.checks(CheckNonce) {
		b.nonce = checkValue(key, CheckNonce, seed)
	}
	return b, nil
}

// newState makes the state parameter: sealed, as it carries the address to return to when a redirect proxy is in between.
// No deployment opens one without such an address, so it names no key: it is in the authorization URL, in the answer and in
// a cookie.
func (s *checks) newState(returnTo string) (string, error) {
	random, err := randomText(s.rand)
	if err != nil {
		return "", err
	}
	claims := &Token{}
	_ = claims.Extra.Set("random", random)
	if returnTo == "" {
		return s.sealUnnamed(s.state, claims, checkTTL)
	}
	_ = claims.Extra.Set("origin", returnTo)
	return s.seal(s.state, claims, checkTTL)
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

// sameVisitor refuses a flow that another session began, else check cookies planted in a visitor's browser would link the planter's
// account to them; and one that another browser began, else they would sign the visitor in as the planter. A cross-site POST comes
// without the CSRF cookie: it is not asked for there.
func (f *browserFlows) sameVisitor(ctx context.Context, begun *underway) error {
	session, err := f.c.session.visitor(ctx)
	if err != nil {
		return err
	}
	if session != "" && f.hashKey("session", session, begun.by()) == nil {
		return errorf(InvalidCheck, "the sign-in was started under another session")
	}
	crossSite := begun.FormPost && f.c.r.Method == "POST" && !f.c.jar.Has(f.c.cookies.csrf.name())
	if begun.browser() != "" && f.knowsBrowser() && !crossSite && f.hashKey("browser", f.c.csrf.token, begun.browser()) == nil {
		return errorf(InvalidCheck, "the sign-in was started in another browser: its CSRF cookie is another, or gone")
	}
	return nil
}
