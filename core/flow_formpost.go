package core

import (
	"context"
	"time"
)

// A provider with response_mode=form_post answers with a POST from its own site. Browsers leave our Lax cookies out of it: the session,
// the CSRF token and the callback URL. Who began the flow and where they wanted to go stand in the check cookies, which are
// SameSite=None for such providers. When somebody was signed in, the POST alone cannot tell whether this browser has that session: its
// answer puts what the provider said into a sealed cookie and leads to the same address by GET, which browsers send with the Lax
// cookies, whatever site led there. The hop needs no script, no code is in a URL, and the cookie is good for one attempt.

const (
	// hopTTL is how long what the provider said waits for the GET.
	hopTTL = time.Minute
	// maxHopAnswer is how long the values of an answer may be: they go into one cookie.
	maxHopAnswer = 1800
	// maxReturnTo is how long a callback URL in a check cookie may be; a longer one waits for the hop.
	maxReturnTo = 250
	// askAgain in flow.ReturnTo stands for a longer one.
	askAgain = "?"
)

// hop is what the cookie of a hop holds.
type hop struct {
	Flow   flow              `json:"flow"`
	Values map[Check]string  `json:"values"`
	Answer map[string]string `json:"answer"`
}

var answerParams = []string{"code", "iss", "error", "error_description", "user"}

// needsHop tells whether an answer has to come again with the Lax cookies.
func (r *resumed) needsHop(ctx context.Context) (bool, error) {
	if !r.c.formPost || r.x.r.Method != "POST" || r.flow == nil {
		return false, nil
	}
	session, err := r.x.visitorSession(ctx)
	return r.flow.by() != "" && session == "" || r.flow.ReturnTo == askAgain && !r.x.jar.Has(r.x.cookies.callbackURL.name()), err
}

// hopOn answers the cross-site POST.
func (x *exchange) hopOn(r *resumed, response *Response) error {
	h := hop{Flow: *r.flow, Values: map[Check]string{}, Answer: map[string]string{}}
	h.Flow.Provider, h.Flow.ReturnTo = r.c.ID, ""
	for _, k := range []Check{CheckPKCE, CheckNonce} {
		value, err := r.value(k)
		if err != nil {
			return err
		}
		if value != "" {
			h.Values[k] = value
		}
	}
	length := 0
	for _, name := range answerParams {
		if value, there := x.fields.Text(name); there {
			h.Answer[name] = value
			length += len(value)
		}
	}
	if length > maxHopAnswer {
		return errorf(OAuthCallbackError, "provider %q: the answer has %d bytes, more than fit into a cookie", r.c.ID, length)
	}
	claims := &Token{}
	_ = claims.Extra.Set("hop", h)
	spec := &x.cookies.formAnswer
	sealed, err := x.sealClaims(spec.keys, claims, hopTTL)
	if err != nil {
		return err
	}
	response.Cookies = append(response.Cookies, spec.setUntil(sealed, x.now().Add(hopTTL)))
	response.Redirect = x.base() + "/callback/" + r.c.ID
	x.opening = nil // the browser has these cookies: they only did not come along
	return nil
}

// hopped returns the flow whose answer waits in the cookie of a hop; nil: none does.
func (x *exchange) hopped(c *oauthClient) (*resumed, error) {
	spec := &x.cookies.formAnswer
	if !c.formPost || x.r.Method != "GET" || !x.jar.Has(spec.name()) {
		return nil, nil
	}
	r := &resumed{x: x, c: c, cookies: []Cookie{spec.clear(spec.name())}}
	claims, err := x.openCheck(spec)
	if err != nil || claims == nil {
		return r, errorf(InvalidCheck, "the %s cookie cannot be read: %w", spec.name(), err)
	}
	var h hop
	if !claims.Extra.Get("hop", &h) || h.Flow.Provider != c.ID || h.Answer == nil {
		return r, errorf(InvalidCheck, "the %s cookie was made for another provider", spec.name())
	}
	if h.Values == nil {
		h.Values = map[Check]string{}
	}
	r.flow, r.values, x.answered = &h.Flow, h.Values, h.Answer
	return r, nil
}

// rememberReturn puts the callback URL into a flow that is answered by a cross-site POST.
func (x *exchange) rememberReturn(f *flow) {
	switch {
	case x.callbackURL == x.origin:
	case len(x.callbackURL) <= maxReturnTo:
		f.ReturnTo = x.callbackURL
	default:
		f.ReturnTo = askAgain
	}
}

// restoreReturn sends the visitor of a cross-site POST where they wanted to go.
func (x *exchange) restoreReturn(f *flow) {
	spec := &x.cookies.callbackURL
	if f == nil || f.ReturnTo == "" || f.ReturnTo == askAgain || x.r.Method != "POST" || x.jar.Has(spec.name()) {
		return
	}
	x.callbackURL = f.ReturnTo
	for i, c := range x.opening {
		if c.Name == spec.name() {
			x.opening[i] = spec.set(f.ReturnTo)
		}
	}
}
