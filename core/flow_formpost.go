package core

import (
	"context"

	"github.com/latchkey-go/latchkey/core/internal/form"
	"github.com/latchkey-go/latchkey/core/internal/oauth"
)

// A provider with response_mode=form_post answers with a POST from its own site. Browsers leave our Lax cookies out of
// it: the session, the CSRF token and the callback URL. Which session began the flow, and the callback URL, stand in
// the check cookies, which are SameSite=None for such providers. When the visitor was signed in, the POST alone cannot
// tell whether this browser has that session: its answer puts what the provider said into a sealed cookie and leads to
// the same address by GET, which browsers send with the Lax cookies, whatever site led there. The hop needs no script,
// no code is in a URL, and the cookie is good for one attempt.
const (
	// maxHopAnswer is how long the values of an answer may be: they go into one cookie.
	maxHopAnswer = 1800
	// maxReturnTo is how long a callback URL in a check cookie may be; a longer one waits for the hop.
	maxReturnTo = 250
	// askAgain in underway.ReturnTo stands for a longer one.
	askAgain = "?"
)

// hop is what the cookie of a hop holds.
type hop struct {
	Flow   underway          `json:"flow"`
	Values map[Check]string  `json:"values"`
	Answer map[string]string `json:"answer"`
}

var answerParams = []string{"code", "iss", "error", "error_description", "user"}

// needsHop reports whether an answer has to come again with the Lax cookies (docs/protocol.md §8.9).
func (r *resumed) needsHop(ctx context.Context) (bool, error) {
	if !r.client.formPost || r.c.r.Method != "POST" || r.flow == nil {
		return false, nil
	}
	session, err := r.c.session.visitor(ctx)
	remembered := r.c.jar.Has(r.c.cookies.callbackURL.name())
	return r.flow.by() != "" && session == "" || r.flow.ReturnTo == askAgain && !remembered, err
}

// hopOn is the cookie in which the answer of a cross-site POST waits for the GET.
func (r *resumed) hopOn() (Cookie, error) {
	h := hop{Flow: *r.flow, Values: map[Check]string{}, Answer: map[string]string{}}
	h.Flow.Provider, h.Flow.ReturnTo = r.client.ID, ""
	for _, k := range []Check{CheckPKCE, CheckNonce} {
		value, err := r.value(k)
		if err != nil {
			return Cookie{}, err
		}
		if value != "" {
			h.Values[k] = value
		}
	}
	length := 0
	for _, name := range answerParams {
		if value, there := r.c.fields.Text(name); there {
			h.Answer[name] = value
			length += len(value)
		}
	}
	if length > maxHopAnswer {
		return Cookie{}, errorf(ErrOAuthCallback, "provider %q: the answer has %d bytes, more than fit into a cookie",
			r.client.ID, length)
	}
	claims := &Token{}
	_ = claims.Extra.Set("hop", h)
	spec := &r.c.cookies.formAnswer
	sealed, err := r.seal(spec.keys, claims, hopTTL)
	return spec.setUntil(sealed, r.at.Add(hopTTL)), err
}

// hopped returns the flow whose answer waits in the cookie of a hop, and that answer; nil: none does.
func (f *browserFlows) hopped(client *oauthClient) (*resumed, oauth.Params, error) {
	spec := &f.c.cookies.formAnswer
	if !client.formPost || f.c.r.Method != "GET" || !f.c.jar.Has(spec.name()) {
		return nil, nil, nil
	}
	r := &resumed{browserFlows: f, client: client, cookies: []Cookie{spec.clear(spec.name())}}
	check, err := f.openCheck(spec)
	if err != nil || check == nil {
		return r, nil, errorf(ErrInvalidCheck, "the %s cookie cannot be read: %w", spec.name(), err)
	}
	var h hop
	if !check.token().Extra.Get("hop", &h) || h.Flow.Provider != client.ID || h.Answer == nil {
		return r, nil, errorf(ErrInvalidCheck, "the %s cookie was made for another provider", spec.name())
	}
	if h.Values == nil {
		h.Values = map[Check]string{}
	}
	r.flow, r.values = &h.Flow, h.Values
	return r, hoppedAnswer(h.Answer), nil
}

// returnTo is where the visitor of a cross-site POST wanted to go; empty: the callback URL of the call counts.
func (r *resumed) returnTo() string {
	u := r.flow
	if u == nil || u.ReturnTo == askAgain || r.c.r.Method != "POST" || r.c.jar.Has(r.c.cookies.callbackURL.name()) {
		return ""
	}
	return u.ReturnTo
}

// postedAnswer are the fields of a form_post answer.
type postedAnswer form.Fields

// Get implements [oauth.Params].
func (p postedAnswer) Get(name string) string { s, _ := form.Fields(p).Text(name); return s }

// Count implements [oauth.Params].
func (p postedAnswer) Count(name string) int { return form.Fields(p).Count(name) }

// hoppedAnswer are the fields of a form_post answer that came on by a hop.
type hoppedAnswer map[string]string

// Get implements [oauth.Params].
func (p hoppedAnswer) Get(name string) string { return p[name] }

// Count implements [oauth.Params].
func (p hoppedAnswer) Count(name string) int {
	if _, there := p[name]; there {
		return 1
	}
	return 0
}
