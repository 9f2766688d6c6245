package core

import (
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/internal/random"
)

// The first pending flow of a browser is in Auth.js's check cookies: state, pkce.code_verifier and nonce, one for each
// check of its provider. A user may start further sign-ins in other tabs. Each of these flows uses one cookie, whose
// name is that of the state cookie, a dot and the first characters of the flow's tag (docs/protocol.md §8.3). A
// callback finds its flow by the state, and deletes the cookies of that flow only.

// Limits of the flow cookies of one browser.
const (
	// maxFlows is the maximum number of pending flows. The oldest is deleted to make room.
	maxFlows = 4
	// maxFlowBytes is the maximum size of their cookies in a request. nginx and Apache read Cookie lines of 8 kB.
	maxFlowBytes = 4800
	// maxFlowURL is the maximum length of the callback URL in a flow. If it is longer, the callback-url cookie decides.
	maxFlowURL = 400
	// otherBytes is the size of the rest of a request header: about 1,000 bytes of the browser's own, a session and the
	// other cookies.
	otherBytes = 2000
	// maxResponseHeader is the maximum size of a response header. nginx reads at most 4,096 bytes by default
	// (proxy_buffer_size). usualHeader is the size of the header without cookies and Location.
	maxResponseHeader = 4000
	usualHeader       = 500
)

// flowNameLength is the number of characters of the tag in the name of a flow cookie.
const flowNameLength = 8

// named returns the cookie of one flow: its name ends in a dot and the first characters of the tag.
func (s *cookieSpec) named(tag string) *cookieSpec {
	one := *s
	one.attributes.Name += "." + tag[:min(len(tag), flowNameLength)]
	return &one
}

// pending returns the pending flows, the oldest first, and the cookies that delete those that have expired or cannot be
// read.
func (f *browserFlows) pending() (flows []*flowState, deletions []Cookie) {
	if flow := f.inChecks(); flow != nil {
		flows = append(flows, flow)
	}
	for name, sealed := range f.c.jar.WithPrefix(f.c.cookies.flow.name()+".", 2*maxFlows) {
		spec := f.c.cookies.flow
		spec.attributes.Name = name
		flow, _, err := f.openFlow(&spec, sealed)
		if err != nil {
			deletions = append(deletions, spec.clear(name))
			continue
		}
		flows = append(flows, flow)
	}
	slices.SortStableFunc(flows, func(a, b *flowState) int { return a.expires.Compare(b.expires) })
	return flows, deletions
}

// store returns the cookies that store a new flow. They delete the oldest flows if there are too many, or if their
// cookies are too long. location is the length of the response's Location header.
func (f *browserFlows) store(flow *flowState, client *oauthClient, location int) ([]Cookie, error) {
	if len(flow.CallbackURL) > maxFlowURL {
		flow.CallbackURL = ""
	}
	cookies, err := f.cookiesOf(flow, client)
	if headerSize(append(f.c.initialCookies(), cookies...), location) > maxResponseHeader && flow.CallbackURL != "" {
		flow.CallbackURL = "" // the callback-url cookie has it, too
		cookies, err = f.cookiesOf(flow, client)
	}
	return append(cookies, f.makeRoom(cookies)...), err
}

// cookiesOf encrypts a flow, either in Auth.js's check cookies, one for each check, or in one separate cookie.
func (f *browserFlows) cookiesOf(flow *flowState, client *oauthClient) (cookies []Cookie, err error) {
	set := func(spec *cookieSpec, part *flowState, value string) {
		c, failed := f.sealFlow(spec, part, value)
		if client.formPost { // the provider's POST must bring the cookie along
			c = forFormPost(c)
		}
		cookies, err = append(cookies, c), errors.Join(err, failed)
	}
	if !flow.inChecks {
		set(f.c.cookies.flow.named(flow.Tag), flow, "")
		return cookies, err
	}
	part := *flow
	part.Verifier, part.Nonce = "", "" // they are the values of check cookies
	values := map[Check]string{CheckState: flow.state, CheckPKCE: flow.Verifier, CheckNonce: flow.Nonce}
	for _, k := range allChecks {
		if client.checks(k) {
			set(f.c.cookies.check(k), &part, values[k])
			part = flowState{provider: flow.provider, Tag: flow.Tag, expires: flow.expires, Milliseconds: flow.Milliseconds}
		}
	}
	return cookies, err
}

// forFormPost returns the cookie with SameSite=None, which a cross-site POST needs (OpenID Connect form_post).
// SameSite=None needs Secure.
func forFormPost(c Cookie) Cookie {
	c.SameSite, c.Secure = "None", true
	return c
}

// headerSize is about the size of the header of a response with these cookies and a Location of that length.
func headerSize(cookies []Cookie, location int) int {
	size := usualHeader + len("Location: \r\n") + location
	for i := range cookies {
		size += len("Set-Cookie: \r\n") + len(cookies[i].String())
	}
	return size
}

// makeRoom returns the cookies that delete the oldest flows, so that the new one fits.
func (f *browserFlows) makeRoom(fresh []Cookie) []Cookie {
	size := 0
	for i := range fresh {
		size += len(fresh[i].Name) + len("=; ") + len(fresh[i].Value)
	}
	limit := maxFlowBytes
	if n := f.c.r.HeaderLimit; n > 0 {
		limit = min(limit, n-otherBytes)
	}
	flows, deletions := f.pending()
	for _, flow := range flows {
		size += flow.size
	}
	for len(flows) > 0 && (len(flows) >= maxFlows || size > limit) {
		size -= flows[0].size
		deletions = append(deletions, flows[0].clear...)
		flows = flows[1:]
	}
	return deletions
}

var errDifferentState = errors.New("the state differs from the one that was sent")

// find returns the flow that a callback belongs to: the flow with the callback's state. If the provider does not use
// the state check, a callback without a state belongs to the flow in Auth.js's check cookies. A callback that belongs
// to no flow deletes none: any website can send a browser here. If a further check cookie of the flow is unusable, find
// returns an error and the flow, whose cookies must be deleted.
func (f *browserFlows) find(client *oauthClient, state string) (*flowState, error) {
	if len(client.Checks) == 0 {
		return &flowState{provider: client.ID}, nil
	}
	if flow := f.findNamed(client, "state", state); flow != nil {
		return flow, nil
	}
	first := allChecks[slices.IndexFunc(allChecks, client.checks)]
	flow, value, err := f.openCheck(f.c.cookies.check(first), string(first), client.ID)
	if err != nil {
		return nil, err
	}
	switch sent := client.checks(CheckState) || state != ""; {
	case sent && flow.Tag != "" && !f.isHash(flow.Tag, "state", state),
		flow.Tag == "" && client.checks(CheckState) && !random.Same(value, state):
		return nil, callbackErrorf(errCallbackRoute, reasonExpired, "%w", suspiciousError(errDifferentState))
	}
	flow.clear = nil
	for _, k := range allChecks {
		if spec := f.c.cookies.check(k); client.checks(k) && f.c.jar.Has(spec.name()) {
			flow.clear = append(flow.clear, spec.clear(spec.name()))
		}
	}
	if client.checks(CheckPKCE) {
		flow.Verifier, err = f.checkValue(client, CheckPKCE, flow.Tag)
	}
	if err == nil && client.checks(CheckNonce) {
		flow.Nonce, err = f.checkValue(client, CheckNonce, flow.Tag)
	}
	return flow, err
}

// findNamed returns the flow in the cookie that is named after the hash of a text: a state, or a request token.
func (f *browserFlows) findNamed(client *oauthClient, purpose, text string) *flowState {
	if text == "" {
		return nil
	}
	for _, key := range f.keys {
		tag := hashWith(key, purpose, text)
		spec := f.c.cookies.flow.named(tag)
		sealed, _ := f.c.jar.Get(spec.name())
		flow, _, err := f.openFlow(spec, sealed)
		if err == nil && flow.Tag == tag && flow.provider == client.ID {
			return flow
		}
	}
	return nil
}

// openCheck decrypts the cookie of a check or of a passkey challenge, which must belong to a flow with the provider.
func (f *browserFlows) openCheck(spec *cookieSpec, check, provider string) (*flowState, string, error) {
	sealed, _ := f.c.jar.Get(spec.name())
	if sealed == "" {
		return nil, "", callbackErrorf(errInvalidCheck, reasonExpired, "the %s cookie is missing: the sign-in was started "+
			"in another browser or more than %v ago", check, checkTTL)
	}
	flow, value, err := f.openFlow(spec, sealed)
	if err != nil {
		return nil, "", callbackErrorf(errInvalidCheck, reasonExpired, "the %s cookie cannot be read: %w", check, err)
	}
	if value == "" || flow.provider != provider {
		return nil, "", callbackErrorf(errInvalidCheck, reasonExpired, "the %s cookie was made for another provider", check)
	}
	return flow, value, nil
}

// checkValue returns the value of a check cookie that belongs to the flow with a tag.
func (f *browserFlows) checkValue(client *oauthClient, k Check, tag string) (string, error) {
	part, value, err := f.openCheck(f.c.cookies.check(k), string(k), client.ID)
	if err == nil && part.Tag != tag {
		err = callbackErrorf(errInvalidCheck, reasonExpired, "the %s cookie was made for another state", k)
	}
	return value, err
}
