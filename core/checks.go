package core

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/random"
)

// checks bind a provider's callback to the browser and the session that started the sign-in (RFC 6749 section 10.12,
// RFC 7636, OpenID Connect Core section 15.5.2).
type checks struct {
	sealer
	// keys hash states, sessions and browsers, one key for each secret.
	keys [][]byte
	// state encrypts the state parameter for a redirect proxy.
	state     *jwe.Keyring
	exchanges *exchanges
}

var allChecks = []Check{CheckState, CheckPKCE, CheckNonce}

// flowKeys derives the keys of [checks.hash], one for each secret.
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

// hashLength is the length of the keyed hashes in flow cookies, in base64url characters: 96 bits.
const hashLength = 16

// hash returns the keyed hash of a text for one purpose, with the key of the newest secret.
func (s *checks) hash(purpose, text string) string { return hashWith(s.keys[0], purpose, text) }

func hashWith(key []byte, purpose, text string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, purpose+"\x00"+text) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))[:hashLength]
}

// isHash reports whether hash is the hash of a text for a purpose, with the key of any secret. An empty hash matches
// nothing.
func (s *checks) isHash(hash, purpose, text string) bool {
	found := false
	for _, key := range s.keys {
		if hash != "" && random.Same(hash, hashWith(key, purpose, text)) {
			found = true
		}
	}
	return found
}

// browserFlows are the pending sign-ins of the browser that sent a request.
type browserFlows struct {
	*checks
	c *call
}

func (s *checks) of(c *call) *browserFlows { return &browserFlows{checks: s, c: c} }

// mark writes the current session and browser into a flow that this request starts.
func (f *browserFlows) mark(ctx context.Context, flow *flowState) error {
	session, err := f.c.session.visitor(ctx)
	if err != nil {
		return err
	}
	if session != "" {
		flow.session = f.hash("session", session)
	}
	if f.knowsBrowser() {
		flow.browser = f.hash("browser", f.c.csrf.token)
	}
	return nil
}

// knowsBrowser reports whether the CSRF cookie identifies the browser. Only a cookie with the __Host- prefix does: a
// sibling subdomain can set all others for the whole domain (RFC 6265bis section 4.1.3.2).
func (f *browserFlows) knowsBrowser() bool {
	return f.c.csrf.token != "" && strings.HasPrefix(f.c.cookies.csrf.name(), "__Host-")
}

// flowSession says how the session of a callback relates to the session that started the flow.
type flowSession int

const (
	// flowSameSession: the flow was started under the current session, or no user is signed in now.
	flowSameSession flowSession = iota
	// flowSignedOut: the flow was started while no user was signed in, and now a user is.
	flowSignedOut
	// flowOtherSession: the flow was started under another session than the current one.
	flowOtherSession
	// flowSwitches: the user of the current session has chosen to sign in as another user.
	flowSwitches
)

// compare checks that the browser of a callback started the flow, and returns how the sessions relate. A flow of
// another browser is refused: otherwise flow cookies that an attacker planted would sign the user in as the attacker.
// An account may be linked to the current user only with flowSameSession: otherwise planted cookies would link the
// attacker's account.
func (f *browserFlows) compare(ctx context.Context, flow *flowState) (flowSession, error) {
	if flow.browser != "" && f.knowsBrowser() && !f.isHash(flow.browser, "browser", f.c.csrf.token) {
		return 0, overf(ErrInvalidCheck, reasonBrowser,
			"the sign-in was started in another browser: the CSRF cookie differs or is missing")
	}
	session, err := f.c.session.visitor(ctx)
	switch {
	case err != nil:
		return 0, err
	case session == "":
		return flowSameSession, nil
	case flow.session == "":
		return flowSignedOut, nil
	case !f.isHash(flow.session, "session", session):
		return flowOtherSession, nil
	case flow.switches:
		return flowSwitches, nil
	}
	return flowSameSession, nil
}

// seals contains the keys for encrypted values that are not cookies.
type seals struct {
	state, challenge *jwe.Keyring
	flowKeys         [][]byte
}

func newSeals(secrets []string, faults *ConfigError) (s seals) {
	s.state = newKeyring(secrets, "encodedState", faults)
	s.challenge = newKeyring(secrets, "encodedWebauthnChallenge", faults)
	var err error
	if s.flowKeys, err = flowKeys(secrets); err != nil {
		faults.add(ErrInvalidConfig, "Secrets: %v", err)
	}
	return s
}
