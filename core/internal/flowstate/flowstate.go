// Package flowstate stores started sign-ins with providers, the flows, in encrypted cookies until the callback. The
// checks of a flow bind the callback to the browser and the session that started it (RFC 6749 section 10.12, RFC 7636,
// OpenID Connect Core section 15.5.2).
package flowstate

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/jwe"
	"github.com/latchkey-go/latchkey/internal/oauth"
	"github.com/latchkey-go/latchkey/internal/random"
)

// The checks of a provider, in the order in which their cookies are set.
const (
	CheckState = oauth.CheckState
	CheckPKCE  = oauth.CheckPKCE
	CheckNonce = oauth.CheckNonce
)

var allChecks = []string{CheckState, CheckPKCE, CheckNonce}

// Keys encrypts flows, and hashes what they contain of the request that started them.
type Keys struct {
	cookies.Sealer
	// hashing hashes states, request tokens, sessions and browsers. There is one key for each secret.
	hashing [][]byte
	// State encrypts the state parameter for a redirect proxy, and Challenge the content of a passkey challenge cookie.
	State, Challenge *jwe.Keyring
}

// NewKeys derives the keys from the secrets.
func NewKeys(secrets []string, sealer cookies.Sealer) (*Keys, error) {
	k := &Keys{Sealer: sealer}
	var err error
	if k.State, err = jwe.NewKeyring(secrets, "encodedState"); err != nil {
		return nil, err
	}
	if k.Challenge, err = jwe.NewKeyring(secrets, "encodedWebauthnChallenge"); err != nil {
		return nil, err
	}
	for _, secret := range secrets {
		key, err := hkdf.Key(sha256.New, []byte(secret), nil, "Latchkey sign-ins under way", sha256.Size)
		if err != nil {
			return nil, err
		}
		k.hashing = append(k.hashing, key)
	}
	return k, nil
}

// hashLength is the length of the keyed hashes in flow cookies, in base64url characters: 96 bits.
const hashLength = 16

// Hash returns the keyed hash of a text for one purpose, with the key of the newest secret.
func (s *Keys) Hash(purpose, text string) string { return hashWith(s.hashing[0], purpose, text) }

func hashWith(key []byte, purpose, text string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, purpose+"\x00"+text) // never fails
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))[:hashLength]
}

// isHash reports whether hash is the hash of a text for a purpose, with the key of any secret. An empty hash matches
// nothing.
func (s *Keys) isHash(hash, purpose, text string) bool {
	found := false
	for _, key := range s.hashing {
		if hash != "" && random.Same(hash, hashWith(key, purpose, text)) {
			found = true
		}
	}
	return found
}

// Reauth describes a re-authentication. The flow cookie of an OAuth provider contains it until the callback.
type Reauth struct {
	// Session is the ID of the session. A re-authentication changes the ID, so that a response counts once.
	Session string `json:"s"`
	// Started is the start of the flow in Unix seconds. The provider must have authenticated the user since then.
	Started int64 `json:"at"`
	// ACR lists the required authentication context classes. Strong reports that a guard requires two factors.
	ACR    []string `json:"acr,omitempty"`
	Strong bool     `json:"strong,omitempty"`

	// Hint is the login_hint of the authorization request.
	Hint string `json:"-"`
}

// Flow is a started sign-in with a provider. Encrypted cookies store it until the callback. The claims of a cookie are
// "provider", "value" and "flow", which contains the fields with a JSON name. Auth.js has the first two only.
type Flow struct {
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
	Reauth *Reauth `json:"reauth,omitempty"`
	// Milliseconds is the fraction of the expiry date. It orders flows that started within one second.
	Milliseconds int `json:"ms,omitempty"`

	// State is the state parameter of a new flow. It is empty if none is sent.
	State string `json:"-"`
	// Clear deletes the cookies of a flow that was found in a request: a flow is valid for one callback.
	Clear []cookie.Cookie `json:"-"`

	provider string
	expires  time.Time
	// inChecks means that the flow is stored in Auth.js's check cookies.
	inChecks bool
	size     int // of the cookies of a flow that was found in a request, in bytes
}

// seal encrypts a cookie of a flow. value is the value of a check cookie in Auth.js's format.
func (s *Keys) seal(spec *cookies.Spec, flow *Flow, value string) (cookie.Cookie, error) {
	claims := &token.Token{}
	if value != "" {
		_ = claims.Extra.Set("value", value)
	}
	_ = claims.Extra.Set("provider", flow.provider)
	_ = claims.Extra.Set("flow", flow)
	sealed, err := s.Seal(spec.Keys, claims, cookies.FlowLifetime)
	return spec.SetUntil(sealed, flow.expires), err
}

// open decrypts a cookie of a flow.
func (s *Keys) open(spec *cookies.Spec, sealed string) (flow *Flow, value string, err error) {
	claims, err := s.Open(spec.Keys, sealed)
	if err != nil {
		return nil, "", err
	}
	flow = &Flow{}
	claims.Extra.Get("flow", flow)
	flow.provider = claims.Extra.Text("provider")
	flow.expires = claims.Expires.Add(time.Duration(flow.Milliseconds) * time.Millisecond)
	flow.size = len(spec.Name()) + len("=; ") + len(sealed)
	flow.Clear = []cookie.Cookie{spec.Clear()}
	return flow, claims.Extra.Text("value"), nil
}

// Client is what flows need to know of a provider.
type Client struct {
	ID       string
	Checks   []string
	FormPost bool // the callback is a cross-site POST
	Proxied  bool // a redirect proxy receives the callback
}

func (c *Client) checks(check string) bool { return slices.Contains(c.Checks, check) }

// Browser has the pending flows of the browser that sent a request.
type Browser struct {
	*Keys
	Jar     cookie.Jar
	Cookies *cookies.Set
	// CSRF is the CSRF token of the browser. It is empty if there is none.
	CSRF string
	// Owner returns the identifier of the request's session, which does not change while the session is used. It is empty
	// if no user is signed in.
	Owner func(ctx context.Context) string
	// HeaderLimit is the router's limit of a request header in bytes, or zero.
	HeaderLimit int
	// Initial are further cookies of the response.
	Initial []cookie.Cookie
}

// Start is what a request that starts a flow asks for.
type Start struct {
	// CallbackURL is where the user continues.
	CallbackURL string
	// Switches reports that the user has chosen to continue as another user.
	Switches bool
	Reauth   *Reauth
	// ReturnTo is where a redirect proxy forwards the callback. It is empty without one.
	ReturnTo string
}

// New returns a flow that this request starts. Its tag is the hash of a text for a purpose.
func (b *Browser) New(ctx context.Context, provider, purpose, text string, start Start) *Flow {
	expires := b.Now().Add(cookies.FlowLifetime)
	flow := &Flow{
		provider: provider, Tag: b.Hash(purpose, text), CallbackURL: start.CallbackURL,
		expires: expires, Milliseconds: expires.Nanosecond() / int(time.Millisecond), Reauth: start.Reauth,
	}
	b.mark(ctx, flow)
	flow.Switches = start.Switches && flow.Session != ""
	return flow
}

// requestToken is the purpose of hashes of OAuth 1.0a request tokens.
const requestToken = "request token"

// NewRequestToken returns a new flow with an OAuth 1.0a provider. It contains the secret of the request token.
func (b *Browser) NewRequestToken(ctx context.Context, provider, token, secret string, start Start) *Flow {
	flow := b.New(ctx, provider, requestToken, token, start)
	flow.Secret = secret
	return flow
}

// FindRequestToken returns the flow that NewRequestToken has started.
func (b *Browser) FindRequestToken(provider, token string) (*Flow, error) {
	if flow := b.FindNamed(provider, requestToken, token); flow != nil {
		return flow, nil
	}
	return nil, noFlowf("no cookie has the request token: the sign-in was started in another browser or more than %v ago",
		cookies.FlowLifetime)
}

// Start returns a new flow with an OAuth 2.0 provider. The first pending flow of a browser uses Auth.js's check
// cookies; a further one has a cookie that is named after its state, and so always sends a state (docs/protocol.md
// §8.3).
func (b *Browser) Start(ctx context.Context, client *Client, start Start) (*Flow, error) {
	if len(client.Checks) == 0 {
		return &Flow{provider: client.ID}, nil
	}
	first := b.inChecks() == nil
	text, state, err := "", "", error(nil)
	if client.checks(CheckState) || !first {
		state, err = b.newState(client, start.ReturnTo)
		text = state
	} else {
		text, err = random.Text(b.Rand)
	}
	if err != nil {
		return nil, err
	}
	flow := b.New(ctx, client.ID, "state", text, start)
	flow.State, flow.inChecks = state, first
	if start.ReturnTo != "" { // the redirect proxy may share this site's name and set its own CSRF cookie
		flow.Browser = ""
	}
	if client.checks(CheckPKCE) {
		flow.Verifier, err = random.Text(b.Rand)
	}
	if err == nil && client.checks(CheckNonce) {
		flow.Nonce, err = random.Text(b.Rand)
	}
	return flow, err
}

// stateLength is the length of a state parameter: 130 bits in letters and digits. WeChat accepts no other characters,
// and several services accept at most 128 characters.
const stateLength = 22

// newState returns a new state parameter. It is random text, or with a redirect proxy an encrypted text that contains
// the URL that the proxy forwards the callback to.
func (b *Browser) newState(client *Client, returnTo string) (string, error) {
	if !client.Proxied {
		return randomAlphanumeric(b.Rand, stateLength)
	}
	nonce, err := random.Text(b.Rand)
	if err != nil {
		return "", err
	}
	claims := &token.Token{}
	_ = claims.Extra.Set("random", nonce)
	if returnTo == "" { // nothing decrypts it
		return b.SealAt(b.Now(), b.State.SealUnnamed, claims, cookies.FlowLifetime)
	}
	_ = claims.Extra.Set("origin", returnTo)
	return b.Seal(b.State, claims, cookies.FlowLifetime)
}

// randomAlphanumeric returns random ASCII letters and digits.
func randomAlphanumeric(source io.Reader, length int) (string, error) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	text := make([]byte, 0, length)
	for len(text) < length {
		drawn, err := random.Bytes(source, 32)
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

// mark writes the current session and browser into a flow that this request starts.
func (b *Browser) mark(ctx context.Context, flow *Flow) {
	if session := b.Owner(ctx); session != "" {
		flow.Session = b.Hash("session", session)
	}
	if b.known() {
		flow.Browser = b.Hash("browser", b.CSRF)
	}
}

// known reports whether the CSRF cookie identifies the browser. Only a cookie with the __Host- prefix does: a sibling
// subdomain can set all others for the whole domain (RFC 6265bis section 4.1.3.2).
func (b *Browser) known() bool {
	return b.CSRF != "" && strings.HasPrefix(b.Cookies.CSRF.Name(), "__Host-")
}

// Session says how the session of a callback relates to the session that started the flow.
type Session int

const (
	// SameSession means that the flow was started under the current session, or that no user is signed in now.
	SameSession Session = iota
	// SignedOut means that the flow was started while no user was signed in, and now a user is.
	SignedOut
	// OtherSession means that the flow was started under another session than the current one.
	OtherSession
	// SwitchesUser means that the user of the current session has chosen to sign in as another user.
	SwitchesUser
)

// Compare checks that the browser of a callback started the flow, and returns how the sessions relate. A flow of
// another browser is refused: otherwise flow cookies that an attacker planted would sign the user in as the attacker.
// An account may be linked to the current user only with SameSession: otherwise planted cookies would link the
// attacker's account.
func (b *Browser) Compare(ctx context.Context, flow *Flow) (Session, error) {
	if flow.Browser != "" && b.known() && !b.isHash(flow.Browser, "browser", b.CSRF) {
		return 0, ErrOtherBrowser
	}
	session := b.Owner(ctx)
	switch {
	case session == "":
		return SameSession, nil
	case flow.Session == "":
		return SignedOut, nil
	case !b.isHash(flow.Session, "session", session):
		return OtherSession, nil
	case flow.Switches:
		return SwitchesUser, nil
	}
	return SameSession, nil
}
