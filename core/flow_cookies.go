package core

import (
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/internal/random"
)

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

// flowCookie returns the cookie of the flow with a tag.
func (s *cookieSet) flowCookie(tag string) cookieSpec { return s.flow.named(tag) }

// answerCookie returns the cookie of a form_post answer to the flow with a tag.
func (s *cookieSet) answerCookie(tag string) cookieSpec { return s.formAnswer.named(tag) }

// named returns the cookie of one flow: its name ends in a dot and the first characters of the tag.
func (s *cookieSpec) named(tag string) cookieSpec {
	one := *s
	one.attributes.Name += "." + tag[:min(len(tag), flowNameLength)]
	return one
}

// pendingFlow is a flow in the cookies of a request.
type pendingFlow struct {
	expires time.Time
	size    int
	// clear deletes the flow's cookies.
	clear []Cookie
}

// checksInUse reports whether one of Auth.js's check cookies belongs to a pending flow.
func (f *browserFlows) checksInUse() bool { return f.inChecks() != nil }

// inChecks returns the flow in Auth.js's check cookies; nil if there is none.
func (f *browserFlows) inChecks() *pendingFlow {
	var p *pendingFlow
	for _, k := range allChecks {
		spec := f.c.cookies.check(k)
		sealed, there := f.c.jar.Get(spec.name())
		if !there {
			continue
		}
		claims, err := f.openFlow(spec.keys, sealed)
		if err != nil || claims.value == "" {
			continue
		}
		if p == nil {
			p = &pendingFlow{expires: claims.expires}
		}
		p.size += len(spec.name()) + len("=; ") + len(sealed)
		p.clear = append(p.clear, spec.clear(spec.name()))
	}
	return p
}

// pending returns the pending flows, the oldest first, and the cookies that delete those that have expired or cannot be
// read.
func (f *browserFlows) pending() (flows []pendingFlow, deletions []Cookie) {
	if p := f.inChecks(); p != nil {
		flows = append(flows, *p)
	}
	spec := &f.c.cookies.flow
	for name, sealed := range f.c.jar.WithPrefix(spec.name()+".", 2*maxFlows) {
		claims, err := f.openFlow(spec.keys, sealed)
		if err != nil {
			deletions = append(deletions, spec.clear(name))
			continue
		}
		flows = append(flows, pendingFlow{
			expires: claims.expires, size: len(name) + len("=; ") + len(sealed), clear: []Cookie{spec.clear(name)},
		})
	}
	slices.SortStableFunc(flows, func(a, b pendingFlow) int { return a.expires.Compare(b.expires) })
	return flows, deletions
}

// store returns the cookies that store a new flow. They delete the oldest flows if there are too many, or if their
// cookies are too long. location is the length of the response's Location header.
func (f *browserFlows) store(s *startedFlow, client *oauthClient, location int) ([]Cookie, error) {
	cookies, err := f.cookiesOf(s, client)
	if err != nil {
		return nil, err
	}
	if headerSize(append(f.c.opening(), cookies...), location) > maxResponseHeader && s.callbackURL != "" {
		s.callbackURL = "" // the callback-url cookie has it, too
		if cookies, err = f.cookiesOf(s, client); err != nil {
			return nil, err
		}
	}
	return append(cookies, f.makeRoom(cookies)...), nil
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
	for _, p := range flows {
		size += p.size
	}
	for len(flows) > 0 && (len(flows) >= maxFlows || size > limit) {
		size -= flows[0].size
		deletions = append(deletions, flows[0].clear...)
		flows = flows[1:]
	}
	return deletions
}

// cookiesOf encrypts a flow, either in Auth.js's check cookies, one for each check, or in one separate cookie.
func (f *browserFlows) cookiesOf(s *startedFlow, client *oauthClient) ([]Cookie, error) {
	flow := s.flowState
	if len(flow.callbackURL) > maxFlowURL {
		flow.callbackURL = ""
	}
	if !s.inChecks {
		spec := f.c.cookies.flowCookie(flow.tag)
		c, err := f.flowCookie(&spec, flowClaims{"", &flow}, client)
		return []Cookie{c}, err
	}
	flow.verifier, flow.nonce = "", "" // they are in separate cookies
	var cookies []Cookie
	for _, k := range allChecks {
		if !client.checks(k) {
			continue
		}
		c, err := f.flowCookie(f.c.cookies.check(k), flowClaims{s.value(k), &flow}, client)
		if err != nil {
			return nil, err
		}
		cookies = append(cookies, c)
		flow = flowState{provider: flow.provider, tag: flow.tag, expires: flow.expires}
	}
	return cookies, nil
}

func (f *browserFlows) flowCookie(spec *cookieSpec, claims flowClaims, client *oauthClient) (Cookie, error) {
	sealed, err := f.seal(spec.keys, claims, checkTTL)
	c := spec.setUntil(sealed, claims.expires)
	if client.formPost { // the provider's POST must bring the cookie along
		c = forFormPost(c)
	}
	return c, err
}

var errDifferentState = errors.New("the state differs from the one that was sent")

// foundFlow is the flow that a callback belongs to.
type foundFlow struct {
	flowState
	// clear deletes the flow's cookies: a flow is valid for one callback.
	clear []Cookie
}

// find returns the flow that a callback belongs to: the flow with the callback's state. If the provider does not use
// the state check, a callback without a state belongs to the flow in Auth.js's check cookies. A callback that belongs
// to no flow deletes none: any website can send a browser here.
func (f *browserFlows) find(client *oauthClient, state string) (*foundFlow, error) {
	if len(client.Checks) == 0 {
		return &foundFlow{flowState: flowState{provider: client.ID}}, nil
	}
	if found := f.findNamed(client, "state", state); found != nil {
		return found, nil
	}
	home := allChecks[slices.IndexFunc(allChecks, client.checks)]
	claims, err := f.openCheck(client, home)
	if err != nil {
		return nil, err
	}
	switch sent := client.checks(CheckState) || state != ""; {
	case sent && claims.tag != "" && !f.isHash(claims.tag, "state", state),
		claims.tag == "" && client.checks(CheckState) && !random.Same(claims.value, state):
		return nil, overf(ErrCallbackRoute, reasonExpired, "%w", suspicion(errDifferentState))
	}
	found := &foundFlow{flowState: *claims.flowState}
	for _, k := range allChecks {
		if spec := f.c.cookies.check(k); client.checks(k) && f.c.jar.Has(spec.name()) {
			found.clear = append(found.clear, spec.clear(spec.name()))
		}
	}
	if client.checks(CheckPKCE) {
		found.verifier, err = f.checkValue(client, CheckPKCE, claims.tag)
	}
	if err == nil && client.checks(CheckNonce) {
		found.nonce, err = f.checkValue(client, CheckNonce, claims.tag)
	}
	return found, err
}

// findNamed returns the flow in the cookie that is named after the hash of a text: a state, or a request token.
func (f *browserFlows) findNamed(client *oauthClient, purpose, text string) *foundFlow {
	if text == "" {
		return nil
	}
	for _, key := range f.keys {
		tag := hashWith(key, purpose, text)
		spec := f.c.cookies.flowCookie(tag)
		sealed, _ := f.c.jar.Get(spec.name())
		if sealed == "" {
			continue
		}
		claims, err := f.openFlow(spec.keys, sealed)
		if err == nil && claims.tag == tag && claims.provider == client.ID {
			return &foundFlow{*claims.flowState, []Cookie{spec.clear(spec.name())}}
		}
	}
	return nil
}

// openCheck decrypts the cookie of a check, which must belong to a flow with the provider.
func (f *browserFlows) openCheck(client *oauthClient, k Check) (flowClaims, error) {
	return f.openChecked(f.c.cookies.check(k), string(k), client.ID)
}

func (f *browserFlows) openChecked(spec *cookieSpec, what, provider string) (flowClaims, error) {
	sealed, _ := f.c.jar.Get(spec.name())
	if sealed == "" {
		return flowClaims{}, overf(ErrInvalidCheck, reasonExpired, "the %s cookie is missing: the sign-in was started in "+
			"another browser or more than %v ago", what, checkTTL)
	}
	claims, err := f.openFlow(spec.keys, sealed)
	if err != nil {
		return claims, overf(ErrInvalidCheck, reasonExpired, "the %s cookie cannot be read: %w", what, err)
	}
	if claims.value == "" || claims.provider != provider {
		return claims, overf(ErrInvalidCheck, reasonExpired, "the %s cookie was made for another provider", what)
	}
	return claims, nil
}

// checkValue returns the value of a check cookie that belongs to the flow with a tag.
func (f *browserFlows) checkValue(client *oauthClient, k Check, tag string) (string, error) {
	claims, err := f.openCheck(client, k)
	if err == nil && claims.tag != tag {
		err = overf(ErrInvalidCheck, reasonExpired, "the %s cookie was made for another state", k)
	}
	return claims.value, err
}

// headerSize is about the size of the header of a response with these cookies and a Location of that length.
func headerSize(cookies []Cookie, location int) int {
	size := usualHeader + len("Location: \r\n") + location
	for i := range cookies {
		size += len("Set-Cookie: \r\n") + len(cookies[i].String())
	}
	return size
}
