package flowstate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/cookie"
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
	// maxBytes is the maximum size of their cookies in a request. nginx and Apache read Cookie lines of 8 kB.
	maxBytes = 4800
	// maxURL is the maximum length of the callback URL in a flow. If it is longer, the callback-url cookie decides.
	maxURL = 400
	// otherBytes is the size of the rest of a request header: about 1,000 bytes of the browser's own, a session and the
	// other cookies.
	otherBytes = 2000
	// usualHeader is the size of a response header without cookies and Location.
	usualHeader = 500
)

// MaxResponseHeader is the maximum size of a response header. nginx reads at most 4,096 bytes by default
// (proxy_buffer_size).
const MaxResponseHeader = 4000

// The errors of a callback that does not continue a flow of this browser.
var (
	// ErrOtherBrowser means that another browser started the flow.
	ErrOtherBrowser = errors.New("the sign-in was started in another browser: the CSRF cookie differs or is missing")
	// ErrOtherState means that the callback has another state than the one that was sent.
	ErrOtherState = errors.New("the state differs from the one that was sent")
	// ErrNoFlow means that a cookie of the flow is missing or cannot be used.
	ErrNoFlow = errors.New("no flow")
)

// Failure returns an error with its type. One of a callback that cannot continue a flow has the reason.
func Failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrOtherBrowser):
		return autherr.New(autherr.InvalidCheck, errormarks.Over(errormarks.Browser, err))
	case errors.Is(err, ErrOtherState):
		return autherr.New(autherr.CallbackRoute, errormarks.Over(errormarks.Expired, errormarks.Suspicious(err)))
	case errors.Is(err, ErrNoFlow):
		return autherr.New(autherr.InvalidCheck, errormarks.Over(errormarks.Expired, err))
	}
	return errormarks.As(err, autherr.Auth)
}

// noFlow is an error that matches ErrNoFlow.
type noFlow struct{ error }

func (noFlow) Is(target error) bool { return target == ErrNoFlow }

func (e noFlow) Unwrap() error { return e.error }

func noFlowf(format string, args ...any) error { return noFlow{fmt.Errorf(format, args...)} }

func specOf(s *cookies.Set, check string) *cookies.Spec {
	switch check {
	case CheckState:
		return &s.State
	case CheckPKCE:
		return &s.PKCE
	}
	return &s.Nonce
}

// inChecks returns the flow in Auth.js's check cookies. It is nil if there is none.
func (b *Browser) inChecks() (flow *Flow) {
	for _, check := range allChecks {
		spec := specOf(b.Cookies, check)
		sealed, _ := b.Jar.Get(spec.Name())
		part, value, err := b.open(spec, sealed)
		switch {
		case err != nil || value == "":
		case flow == nil:
			flow = part
		default:
			flow.size += part.size
			flow.Clear = append(flow.Clear, part.Clear...)
		}
	}
	return flow
}

// pending returns the pending flows, the oldest first, and the cookies that delete those that have expired or cannot be
// read.
func (b *Browser) pending() (flows []*Flow, deletions []cookie.Cookie) {
	if flow := b.inChecks(); flow != nil {
		flows = append(flows, flow)
	}
	for name, sealed := range b.Jar.WithPrefix(b.Cookies.Flow.Name()+".", 2*maxFlows) {
		spec := b.Cookies.Flow
		spec.Attributes.Name = name
		flow, _, err := b.open(&spec, sealed)
		if err != nil {
			deletions = append(deletions, spec.Clear())
			continue
		}
		flows = append(flows, flow)
	}
	slices.SortStableFunc(flows, func(a, b *Flow) int { return a.expires.Compare(b.expires) })
	return flows, deletions
}

// Store returns the cookies that store a new flow. They delete the oldest flows if there are too many, or if their
// cookies are too long. location is the length of the response's Location header.
func (b *Browser) Store(flow *Flow, client *Client, location int) ([]cookie.Cookie, error) {
	if len(flow.CallbackURL) > maxURL {
		flow.CallbackURL = ""
	}
	stored, err := b.cookiesOf(flow, client)
	if HeaderSize(append(slices.Clip(b.Initial), stored...), location) > MaxResponseHeader && flow.CallbackURL != "" {
		flow.CallbackURL = "" // the callback-url cookie has it, too
		stored, err = b.cookiesOf(flow, client)
	}
	return append(stored, b.makeRoom(stored)...), err
}

// StoreChallenge returns the cookie that stores a passkey ceremony. The content is encrypted already.
func (b *Browser) StoreChallenge(ctx context.Context, provider, content string) (cookie.Cookie, error) {
	flow := &Flow{provider: provider, expires: b.Now().Add(cookies.FlowLifetime)}
	b.mark(ctx, flow)
	return b.seal(&b.Cookies.Challenge, flow, content)
}

// FindChallenge returns the passkey ceremony that the browser started with a provider.
func (b *Browser) FindChallenge(provider string) (flow *Flow, content string, err error) {
	return b.openCheck(&b.Cookies.Challenge, "challenge", provider)
}

// cookiesOf encrypts a flow, either in Auth.js's check cookies, one for each check, or in one separate cookie.
func (b *Browser) cookiesOf(flow *Flow, client *Client) (all []cookie.Cookie, err error) {
	set := func(spec *cookies.Spec, part *Flow, value string) {
		c, failed := b.seal(spec, part, value)
		if client.FormPost { // a cross-site POST needs SameSite=None (OpenID Connect form_post), and that needs Secure
			c.SameSite, c.Secure = "None", true
		}
		all, err = append(all, c), errors.Join(err, failed)
	}
	if !flow.inChecks {
		set(b.Cookies.Flow.Tagged(flow.Tag), flow, "")
		return all, err
	}
	part := *flow
	part.Verifier, part.Nonce = "", "" // they are the values of check cookies
	values := map[string]string{CheckState: flow.State, CheckPKCE: flow.Verifier, CheckNonce: flow.Nonce}
	for _, check := range allChecks {
		if client.checks(check) {
			set(specOf(b.Cookies, check), &part, values[check])
			part = Flow{provider: flow.provider, Tag: flow.Tag, expires: flow.expires, Milliseconds: flow.Milliseconds}
		}
	}
	return all, err
}

// HeaderSize is about the size of the header of a response with these cookies and a Location of that length.
func HeaderSize(all []cookie.Cookie, location int) int {
	size := usualHeader + len("Location: \r\n") + location
	for i := range all {
		size += len("Set-Cookie: \r\n") + len(all[i].String())
	}
	return size
}

// makeRoom returns the cookies that delete the oldest flows, so that the new one fits.
func (b *Browser) makeRoom(fresh []cookie.Cookie) []cookie.Cookie {
	size := 0
	for i := range fresh {
		size += len(fresh[i].Name) + len("=; ") + len(fresh[i].Value)
	}
	limit := maxBytes
	if n := b.HeaderLimit; n > 0 {
		limit = min(limit, n-otherBytes)
	}
	flows, deletions := b.pending()
	for _, flow := range flows {
		size += flow.size
	}
	for len(flows) > 0 && (len(flows) >= maxFlows || size > limit) {
		size -= flows[0].size
		deletions = append(deletions, flows[0].Clear...)
		flows = flows[1:]
	}
	return deletions
}

// Find returns the flow that a callback belongs to: the flow with the callback's state. If the provider does not use
// the state check, a callback without a state belongs to the flow in Auth.js's check cookies. A callback that belongs
// to no flow deletes none: any website can send a browser here. If a further check cookie of the flow is unusable, Find
// returns an error and the flow, whose cookies must be deleted.
func (b *Browser) Find(client *Client, state string) (*Flow, error) {
	if len(client.Checks) == 0 {
		return &Flow{provider: client.ID}, nil
	}
	if flow := b.FindNamed(client.ID, "state", state); flow != nil {
		return flow, nil
	}
	first := allChecks[slices.IndexFunc(allChecks, client.checks)]
	flow, value, err := b.openCheck(specOf(b.Cookies, first), first, client.ID)
	if err != nil {
		return nil, err
	}
	switch sent := client.checks(CheckState) || state != ""; {
	case sent && flow.Tag != "" && !b.isHash(flow.Tag, "state", state),
		flow.Tag == "" && client.checks(CheckState) && !random.Same(value, state):
		return nil, ErrOtherState
	}
	flow.Clear = nil
	for _, check := range allChecks {
		if spec := specOf(b.Cookies, check); client.checks(check) && b.Jar.Has(spec.Name()) {
			flow.Clear = append(flow.Clear, spec.Clear())
		}
	}
	if client.checks(CheckPKCE) {
		flow.Verifier, err = b.checkValue(client, CheckPKCE, flow.Tag)
	}
	if err == nil && client.checks(CheckNonce) {
		flow.Nonce, err = b.checkValue(client, CheckNonce, flow.Tag)
	}
	return flow, err
}

// FindNamed returns the flow with a provider in the cookie that is named after the hash of a text: a state, or a
// request token. It is nil if there is none.
func (b *Browser) FindNamed(provider, purpose, text string) *Flow {
	if text == "" {
		return nil
	}
	for _, key := range b.hashing {
		tag := hashWith(key, purpose, text)
		spec := b.Cookies.Flow.Tagged(tag)
		sealed, _ := b.Jar.Get(spec.Name())
		flow, _, err := b.open(spec, sealed)
		if err == nil && flow.Tag == tag && flow.provider == provider {
			return flow
		}
	}
	return nil
}

// openCheck decrypts the cookie of a check or of a passkey challenge, which must belong to a flow with the provider.
func (b *Browser) openCheck(spec *cookies.Spec, check, provider string) (*Flow, string, error) {
	sealed, _ := b.Jar.Get(spec.Name())
	if sealed == "" {
		return nil, "", noFlowf("the %s cookie is missing: the sign-in was started in another browser or more than %v ago",
			check, cookies.FlowLifetime)
	}
	flow, value, err := b.open(spec, sealed)
	if err != nil {
		return nil, "", noFlowf("the %s cookie cannot be read: %w", check, err)
	}
	if value == "" || flow.provider != provider {
		return nil, "", noFlowf("the %s cookie was made for another provider", check)
	}
	return flow, value, nil
}

// checkValue returns the value of a check cookie that belongs to the flow with a tag.
func (b *Browser) checkValue(client *Client, check, tag string) (string, error) {
	part, value, err := b.openCheck(specOf(b.Cookies, check), check, client.ID)
	if err == nil && part.Tag != tag {
		err = noFlowf("the %s cookie was made for another state", check)
	}
	return value, err
}

// StoreAnswer returns the cookie that stores a form_post callback for the GET request that follows, and the value by
// which FindAnswer finds it. The callback must belong to a pending flow of this browser.
func (b *Browser) StoreAnswer(client *Client, answer map[string]string) (key string, c cookie.Cookie, err error) {
	found, err := b.Find(client, answer["state"])
	if err != nil {
		return "", c, err
	}
	tag := found.Tag
	if tag == "" {
		tag = b.Hash("state", answer["state"])
	}
	claims := &token.Token{}
	_ = claims.Extra.Set("provider", client.ID)
	_ = claims.Extra.Set("answer", answer)
	spec := b.Cookies.FormAnswer.Tagged(tag)
	sealed, err := b.Seal(spec.Keys, claims, cookies.FormAnswerLifetime)
	return tag[:cookies.TagLength], spec.SetUntil(sealed, b.Now().Add(cookies.FormAnswerLifetime)), err
}

var errOtherAnswer = errors.New("it has the callback of another provider")

// FindAnswer returns the form_post callback of a provider that StoreAnswer has stored, and the cookie that deletes it.
func (b *Browser) FindAnswer(client *Client, key string) (map[string]string, cookie.Cookie, error) {
	spec := b.Cookies.FormAnswer.Tagged(key)
	sealed, _ := b.Jar.Get(spec.Name())
	if len(key) != cookies.TagLength || sealed == "" {
		return nil, cookie.Cookie{}, noFlowf("no cookie has the provider's answer: it was read before, or is an answer " +
			"to no sign-in of this browser")
	}
	claims, err := b.Open(spec.Keys, sealed)
	answer := map[string]string{}
	if err == nil && (claims.Extra.Text("provider") != client.ID || !claims.Extra.Get("answer", &answer)) {
		err = errOtherAnswer
	}
	if err != nil {
		return nil, cookie.Cookie{}, noFlowf("the %s cookie cannot be read: %w", spec.Name(), err)
	}
	return answer, spec.Clear(), nil
}
