package core

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/random"
)

// checks bind a provider's callback to the browser and the session that started the sign-in (RFC 6749 section 10.12,
// RFC 7636, OpenID Connect Core section 15.5.2).
type checks struct {
	sealer
	// keys hash states, request tokens, sessions and browsers. There is one key for each secret.
	keys [][]byte
	// state encrypts the state parameter for a redirect proxy, and challenge the content of a passkey challenge cookie.
	state, challenge *jwe.Keyring
	exchanges        *exchanges
}

func newChecks(c *Config, secrets []string, faults *ConfigError) *checks {
	s := &checks{
		sealer:    sealer{now: c.Now, rand: c.Rand},
		state:     newKeyring(secrets, "encodedState", faults),
		challenge: newKeyring(secrets, "encodedWebauthnChallenge", faults),
	}
	for _, secret := range secrets {
		key, err := hkdf.Key(sha256.New, []byte(secret), nil, "Latchkey sign-ins under way", sha256.Size)
		if err != nil {
			faults.add(ErrInvalidConfig, "Secrets: %v", err)
		}
		s.keys = append(s.keys, key)
	}
	return s
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

// flowState is a started sign-in with a provider. Encrypted cookies store it until the callback. The claims of a cookie
// are "provider", "value" and "flow", which contains the fields with a JSON name. Auth.js has the first two only.
type flowState struct {
	// Tag is a keyed hash of the state parameter, or of the request token (OAuth 1.0a). If neither is sent, Tag is random.
	// All cookies of one flow have the same tag. It is empty if Auth.js started the flow.
	Tag string `json:"tag,omitempty"`
	// Verifier and Nonce are empty if the provider does not use the check.
	Verifier string `json:"verifier,omitempty"`
	Nonce    string `json:"nonce,omitempty"`
	// Secret is the secret of the request token (OAuth 1.0a).
	Secret string `json:"secret,omitempty"`
	// Session and Browser are keyed hashes of the session and the browser that started the flow. An empty Session means
	// that no user was signed in, and an empty Browser that the browser is not known.
	Session string `json:"session,omitempty"`
	Browser string `json:"browser,omitempty"`
	// CallbackURL is where the user continues. If it is empty, the callback-url cookie decides.
	CallbackURL string `json:"url,omitempty"`
	// Switches means that the user is signed in and has chosen to continue as another user.
	Switches bool `json:"switch,omitempty"`
	// Reauth is set if the flow authenticates the user of the session again.
	Reauth *reauthRequest `json:"reauth,omitempty"`
	// Milliseconds is the fraction of the expiry date. It orders flows that started within one second.
	Milliseconds int `json:"ms,omitempty"`

	provider string
	expires  time.Time
	// state is the state parameter of a new flow. It is empty if none is sent.
	state string
	// inChecks means that the flow is stored in Auth.js's check cookies.
	inChecks bool
	// clear deletes the cookies of a flow that was found in a request: a flow is valid for one callback. size is the
	// number of bytes that they have in the request.
	clear []Cookie
	size  int
}

// sealFlow encrypts a cookie of a flow. value is the value of a check cookie in Auth.js's format.
func (s *checks) sealFlow(spec *cookieSpec, flow *flowState, value string) (Cookie, error) {
	claims := &Token{}
	if value != "" {
		_ = claims.Extra.Set("value", value)
	}
	_ = claims.Extra.Set("provider", flow.provider)
	_ = claims.Extra.Set("flow", flow)
	sealed, err := s.seal(spec.keys, claims, checkTTL)
	return spec.setUntil(sealed, flow.expires), err
}

// openFlow decrypts a cookie of a flow.
func (s *checks) openFlow(spec *cookieSpec, sealed string) (flow *flowState, value string, err error) {
	token, err := s.open(spec.keys, sealed)
	if err != nil {
		return nil, "", err
	}
	flow = &flowState{}
	token.Extra.Get("flow", flow)
	flow.provider = token.Extra.Text("provider")
	flow.expires = token.Expires.Add(time.Duration(flow.Milliseconds) * time.Millisecond)
	flow.size = len(spec.name()) + len("=; ") + len(sealed)
	flow.clear = []Cookie{spec.clear(spec.name())}
	return flow, token.Extra.Text("value"), nil
}

// browserFlows are the pending sign-ins of the browser that sent a request.
type browserFlows struct {
	*checks
	c *call
}

func (s *checks) flowsOf(c *call) *browserFlows { return &browserFlows{checks: s, c: c} }

// newFlow returns a flow that this request starts. Its tag is the hash of a text for a purpose.
func (f *browserFlows) newFlow(ctx context.Context, provider, purpose, text string) (*flowState, error) {
	expires := f.now().Add(checkTTL)
	flow := &flowState{
		provider: provider, Tag: f.hash(purpose, text), CallbackURL: f.c.callbackURL.target,
		expires: expires, Milliseconds: expires.Nanosecond() / int(time.Millisecond), Reauth: f.c.reauth,
	}
	err := f.markStart(ctx, flow)
	choice, _ := f.c.fields.Text("switchAccount") // on the page that asks whether to continue as another user
	flow.Switches = choice == "1" && flow.Session != ""
	return flow, err
}

// start returns a new flow with an OAuth 2.0 provider. The first pending flow of a browser uses Auth.js's check
// cookies; a further one has a cookie that is named after its state, and so always sends a state (docs/protocol.md
// §8.3). returnTo is where a redirect proxy forwards the callback; it is empty without one.
func (f *browserFlows) start(ctx context.Context, client *oauthClient, returnTo string) (*flowState, error) {
	if len(client.Checks) == 0 {
		return &flowState{provider: client.ID}, nil
	}
	first := f.inChecks() == nil
	text, state, err := "", "", error(nil)
	if client.checks(CheckState) || !first {
		state, err = f.newState(client, returnTo)
		text = state
	} else {
		text, err = randomText(f.rand)
	}
	if err != nil {
		return nil, err
	}
	flow, err := f.newFlow(ctx, client.ID, "state", text)
	flow.state, flow.inChecks = state, first
	if returnTo != "" { // the redirect proxy may share this site's name and set its own CSRF cookie
		flow.Browser = ""
	}
	if err == nil && client.checks(CheckPKCE) {
		flow.Verifier, err = randomText(f.rand)
	}
	if err == nil && client.checks(CheckNonce) {
		flow.Nonce, err = randomText(f.rand)
	}
	return flow, err
}

// stateLength is the length of a state parameter: 130 bits in letters and digits. WeChat accepts no other characters,
// and several services accept at most 128 characters.
const stateLength = 22

// newState returns a new state parameter. It is random text, or with a redirect proxy an encrypted text that contains
// the URL that the proxy forwards the callback to.
func (f *browserFlows) newState(client *oauthClient, returnTo string) (string, error) {
	if client.proxyURL == "" {
		return randomAlphanumeric(f.rand, stateLength)
	}
	nonce, err := randomText(f.rand)
	if err != nil {
		return "", err
	}
	claims := &Token{}
	_ = claims.Extra.Set("random", nonce)
	if returnTo == "" { // nothing decrypts it
		return f.sealAt(f.now(), f.state.SealUnnamed, claims, checkTTL)
	}
	_ = claims.Extra.Set("origin", returnTo)
	return f.seal(f.state, claims, checkTTL)
}

// randomAlphanumeric returns random ASCII letters and digits.
func randomAlphanumeric(source io.Reader, length int) (string, error) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	text := make([]byte, 0, length)
	for len(text) < length {
		drawn, err := randomBytes(source, 32)
		if err != nil {
			return "", err
		}
		for _, b := range drawn {
			if int(b) < 256/len(alphabet)*len(alphabet) && len(text) < length { // each character is equally likely
				text = append(text, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(text), nil
}

// markStart writes the current session and browser into a flow that this request starts.
func (f *browserFlows) markStart(ctx context.Context, flow *flowState) error {
	if session := f.c.session.owner(ctx); session != "" {
		flow.Session = f.hash("session", session)
	}
	if f.knowsBrowser() {
		flow.Browser = f.hash("browser", f.c.csrf.Token)
	}
	return nil
}

// knowsBrowser reports whether the CSRF cookie identifies the browser. Only a cookie with the __Host- prefix does: a
// sibling subdomain can set all others for the whole domain (RFC 6265bis section 4.1.3.2).
func (f *browserFlows) knowsBrowser() bool {
	return f.c.csrf.Token != "" && strings.HasPrefix(f.c.cookies.csrf.name(), "__Host-")
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
	if flow.Browser != "" && f.knowsBrowser() && !f.isHash(flow.Browser, "browser", f.c.csrf.Token) {
		return 0, callbackErrorf(errInvalidCheck, reasonBrowser,
			"the sign-in was started in another browser: the CSRF cookie differs or is missing")
	}
	session := f.c.session.owner(ctx)
	switch {
	case session == "":
		return flowSameSession, nil
	case flow.Session == "":
		return flowSignedOut, nil
	case !f.isHash(flow.Session, "session", session):
		return flowOtherSession, nil
	case flow.Switches:
		return flowSwitches, nil
	}
	return flowSameSession, nil
}

// callbackURL returns where the user continues after a flow. It passes the redirect callback again, as the callback-url
// cookie does.
func (f *browserFlows) callbackURL(ctx context.Context, flow *flowState) string {
	now := f.c.callbackURL.target
	remembered, _ := f.c.jar.Get(f.c.cookies.callbackURL.name())
	if flow.CallbackURL == "" || flow.CallbackURL == now || flow.CallbackURL == remembered {
		return now
	}
	target, err := f.c.redirectTarget(ctx, flow.CallbackURL)
	if err != nil {
		return now
	}
	return target
}

// inChecks returns the flow in Auth.js's check cookies. It is nil if there is none.
func (f *browserFlows) inChecks() (flow *flowState) {
	for _, k := range allChecks {
		spec := f.c.cookies.check(k)
		sealed, _ := f.c.jar.Get(spec.name())
		part, value, err := f.openFlow(spec, sealed)
		switch {
		case err != nil || value == "":
		case flow == nil:
			flow = part
		default:
			flow.size += part.size
			flow.clear = append(flow.clear, part.clear...)
		}
	}
	return flow
}

// newKeyring derives the keys for a salt. An invalid secret was already reported as a configuration error.
func newKeyring(secrets []string, salt string, faults *ConfigError) *jwe.Keyring {
	keys, err := jwe.NewKeyring(secrets, salt)
	if err != nil && len(faults.Problems) == 0 {
		faults.add(ErrInvalidConfig, "Secrets: %v", err)
	}
	return keys
}
