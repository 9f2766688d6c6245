package core

import (
	"context"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/jwe"
)

// flowState is a started sign-in with a provider. An encrypted cookie stores it until the callback.
type flowState struct {
	provider string
	// tag is a keyed hash of the state parameter, or of the request token (OAuth 1.0a). If neither is sent, tag is random.
	// All cookies of one flow have the same tag. It is empty if Auth.js started the flow.
	tag string
	// verifier and nonce are empty if the provider does not use the check.
	verifier, nonce string
	// secret is the secret of the request token (OAuth 1.0a).
	secret string
	// session and browser are keyed hashes of the session and the browser that started the flow. An empty session means
	// that no user was signed in; an empty browser that the browser is not known.
	session, browser string
	// callbackURL is where the user continues. If it is empty, the callback-url cookie decides.
	callbackURL string
	// switches: the user is signed in and has chosen to continue as another user.
	switches bool
	expires  time.Time
}

// flowClaims are the contents of a flow cookie. value is the value of a check cookie of Auth.js's format.
type flowClaims struct {
	value string
	*flowState
}

// appendClaims implements [claims]. Auth.js has only provider and value.
func (c flowClaims) appendClaims(dst []byte) []byte {
	dst = append(exactjson.AppendName(dst, "flow"), '{')
	for _, field := range [...]struct{ name, value string }{
		{"tag", c.tag}, {"verifier", c.verifier}, {"nonce", c.nonce}, {"secret", c.secret}, {"session", c.session},
		{"browser", c.browser}, {"url", c.callbackURL},
	} {
		dst = exactjson.AppendField(dst, field.name, field.value, false)
	}
	if ms := c.expires.Nanosecond() / int(time.Millisecond); ms > 0 { // orders flows started within one second
		dst = strconv.AppendInt(exactjson.AppendName(dst, "ms"), int64(ms), 10)
	}
	if c.switches {
		dst = append(exactjson.AppendName(dst, "switch"), "true"...)
	}
	dst = exactjson.AppendField(append(dst, '}'), "provider", c.provider, false)
	return exactjson.AppendField(dst, "value", c.value, false)
}

// openFlow decrypts a flow cookie.
func (s *checks) openFlow(keys *jwe.Keyring, sealed string) (flowClaims, error) {
	token, err := s.open(keys, sealed)
	if err != nil {
		return flowClaims{}, err
	}
	var flow struct {
		Tag, Verifier, Nonce, Secret, Session, Browser, URL string
		Switch                                              bool
		MS                                                  int
	}
	token.Extra.Get("flow", &flow)
	return flowClaims{token.Extra.Text("value"), &flowState{
		provider: token.Extra.Text("provider"), tag: flow.Tag, verifier: flow.Verifier, nonce: flow.Nonce,
		secret: flow.Secret, session: flow.Session, browser: flow.Browser, callbackURL: flow.URL, switches: flow.Switch,
		expires: token.Expires.Add(time.Duration(flow.MS) * time.Millisecond),
	}}, nil
}

// startedFlow is a new flow, with the values for its authorization request.
type startedFlow struct {
	flowState
	// state is the state parameter; it is empty if none is sent.
	state string
	// inChecks: the flow is stored in Auth.js's check cookies.
	inChecks bool
}

// start creates a flow with a provider. The first pending flow of a browser uses Auth.js's check cookies; a further one
// has a cookie that is named after its state, and so always sends a state (docs/protocol.md §8.3). returnTo is where a
// redirect proxy forwards the callback; it is empty without one.
func (f *browserFlows) start(ctx context.Context, client *oauthClient, returnTo string) (s startedFlow, err error) {
	s.flowState = flowState{provider: client.ID, callbackURL: f.c.callbackURL.now, expires: f.now().Add(checkTTL)}
	if len(client.Checks) == 0 {
		return s, nil
	}
	if err = f.mark(ctx, &s.flowState); err != nil {
		return s, err
	}
	if returnTo != "" { // the redirect proxy may share this site's name and set its own CSRF cookie
		s.browser = ""
	}
	s.choose(f.c)
	s.inChecks = !f.checksInUse()
	named := ""
	if client.checks(CheckState) || !s.inChecks {
		s.state, err = f.newState(client, returnTo)
		named = s.state
	} else {
		named, err = randomText(f.rand)
	}
	s.tag = f.hash("state", named)
	if err == nil && client.checks(CheckPKCE) {
		s.verifier, err = randomText(f.rand)
	}
	if err == nil && client.checks(CheckNonce) {
		s.nonce, err = randomText(f.rand)
	}
	return s, err
}

// choose reads the user's choice on the page that asks whether to continue as another user.
func (s *startedFlow) choose(c *call) {
	choice, _ := c.fields.Text("switchAccount")
	s.switches = choice == "1" && s.session != ""
}

// callbackURL returns where the user continues after a flow. It passes the redirect callback again, as the callback-url
// cookie does.
func (f *browserFlows) callbackURL(ctx context.Context, flow *flowState) string {
	now := f.c.callbackURL.now
	remembered, _ := f.c.jar.Get(f.c.cookies.callbackURL.name())
	if flow.callbackURL == "" || flow.callbackURL == now || flow.callbackURL == remembered {
		return now
	}
	target, err := f.c.redirectTarget(ctx, flow.callbackURL)
	if err != nil {
		return now
	}
	return target
}

// value returns what the flow sends for a check.
func (s *startedFlow) value(k Check) string {
	switch k {
	case CheckState:
		return s.state
	case CheckPKCE:
		return s.verifier
	default:
		return s.nonce
	}
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
	claims := &stateClaims{random: nonce, origin: returnTo}
	if returnTo == "" { // nothing decrypts it
		return f.sealAt(f.now(), f.state.SealUnnamed, claims, checkTTL)
	}
	return f.seal(f.state, claims, checkTTL)
}

// stateClaims are the contents of an encrypted state parameter.
type stateClaims struct{ random, origin string }

// appendClaims implements [claims].
func (c *stateClaims) appendClaims(dst []byte) []byte {
	dst = exactjson.AppendField(dst, "origin", c.origin, false)
	return exactjson.AppendField(dst, "random", c.random, false)
}
