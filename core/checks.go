package core

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
)

var allChecks = []Check{CheckState, CheckPKCE, CheckNonce}

// resumed is the flow that an answer belongs to.
type resumed struct {
	x *exchange
	c *oauthClient
	// state is the parameter of the answer.
	state string
	// flow is what is remembered; nil: nothing, or Auth.js began it.
	flow *flow
	// key is the one that the flow's values are derived with. Values of the newest flow stand in cookies too: a flow of which such
	// cookies were set needs them.
	key   []byte
	short bool
	// values are those of a flow that came on by a hop, in place of cookies.
	values map[Check]string
	// cookies take the flow out of the browser: a check is good for one attempt.
	cookies []Cookie
}

// resume finds the flow that an answer belongs to: the one that the state names, else the newest with this provider. An answer with
// the state of another flow ends none.
func (x *exchange) resume(c *oauthClient, state string) (*resumed, error) {
	r := &resumed{x: x, c: c, state: state}
	if len(c.Checks) == 0 {
		return r, nil
	}
	pending := x.pendingFlows()
	for i := range pending.earlier {
		f := &pending.earlier[i]
		if f.Provider != c.ID {
			continue
		}
		if f.Tag == "" && state == "" && f.Kept != "" {
			r.flow, r.key, r.short = f, x.flowKeys[0], true
		} else if key := x.hashKey("state", state, f.Tag); key != nil {
			r.flow, r.key, r.short = f, key, true
		}
		if r.flow != nil {
			var err error
			r.cookies, err = x.forgetEarlier(i)
			return r, err
		}
	}
	return r, r.takeNewest(pending)
}

// home is the check whose cookie describes the newest flow.
func (c *oauthClient) home() Check {
	return allChecks[slices.IndexFunc(allChecks, c.checks)]
}

// takeNewest finds the flow in the format of Auth.js.
func (r *resumed) takeNewest(pending flows) error {
	x, home := r.x, r.c.home()
	claims, err := x.openCheck(x.cookies.check(home))
	if err == nil && claims != nil && claims.Extra.Text("value") != "" && claims.Extra.Text("provider") == r.c.ID {
		f := newestFlow(claims)
		if f != nil && r.state != "" && f.Tag != "" {
			if r.key = x.hashKey("state", r.state, f.Tag); r.key == nil {
				r.flow = f
				return nil // it is another one's answer
			}
		} else if f != nil {
			r.key = x.hashKey("check "+string(home), f.Kept, claims.Extra.Text("value"))
		}
		r.flow = f
	}
	for _, k := range allChecks {
		spec := x.cookies.check(k)
		if !r.c.checks(k) || !x.jar.Has(spec.name()) {
			continue
		}
		claims, err := x.openCheck(spec)
		if err == nil && (claims == nil || claims.Extra.Text("provider") != r.c.ID) {
			continue
		}
		cookie := spec.clear(spec.name()) // browsers do not match on SameSite
		if rest := x.rebound(pending.earlier); k == CheckState && len(rest) > 0 {
			if cookie, err = x.listCookie(rest); err != nil {
				return err
			}
		}
		r.cookies = append(r.cookies, cookie)
	}
	return nil
}

// forgetEarlier takes one of the earlier flows out of the state cookie.
func (x *exchange) forgetEarlier(i int) ([]Cookie, error) {
	spec := &x.cookies.state
	claims, err := x.openCheck(spec)
	if err != nil {
		return nil, err
	}
	rest := x.rebound(slices.Delete(x.earlierFlows(claims), i, i+1))
	var cookie Cookie
	switch newest := newestFlow(claims); {
	case claims.Extra.Text("value") != "":
		delete(claims.Extra, "earlier")
		if len(rest) > 0 {
			_ = claims.Extra.Set("earlier", listed(rest))
		}
		if newest != nil {
			own := x.rebound([]flow{*newest})[0]
			own.Provider, own.Expires = "", 0
			_ = claims.Extra.Set("flow", own)
		}
		sealed, err := x.sealClaims(spec.keys, claims, claims.Expires.Sub(x.now()))
		if err != nil {
			return nil, err
		}
		cookie = spec.setUntil(sealed, claims.Expires)
		if newest != nil && newest.FormPost || slices.ContainsFunc(rest, func(f flow) bool { return f.FormPost }) {
			cookie = forFormPost(cookie)
		}
	case len(rest) > 0:
		if cookie, err = x.listCookie(rest); err != nil {
			return nil, err
		}
	default:
		cookie = spec.clear(spec.name())
	}
	return []Cookie{cookie}, nil
}

// rebound gives the flows of other tabs the CSRF token that this answer sets, where the request came without one: the answer of a
// form_post provider does, and makes a new one.
func (x *exchange) rebound(rest []flow) []flow {
	if x.r.Method != "POST" || !x.knowsBrowser() || x.jar.Has(x.cookies.csrf.name()) || x.answered != nil {
		return rest
	}
	for i := range rest {
		if rest[i].browser() != "" {
			rest[i].Who = rest[i].by() + "." + flowHash(x.flowKeys[0], "browser", x.csrfToken)[:whoLength]
		}
	}
	return rest
}

// checkState compares the state of the answer with the one sent, and who began the flow with who ends it.
func (r *resumed) checkState(ctx context.Context) error {
	x := r.x
	if len(r.c.Checks) == 0 {
		return nil
	}
	if !r.short && r.values == nil && r.c.checks(CheckState) {
		want, err := r.inCookie(CheckState)
		if err != nil {
			return err
		}
		if subtle.ConstantTimeCompare([]byte(want), []byte(r.state)) != 1 {
			return errorf(CallbackRouteError, "%w", suspicion(errors.New("state differs from the one sent")))
		}
	}
	f := r.flow
	if f == nil {
		f = &flow{}
	}
	return x.sameVisitor(ctx, f)
}

// value is what a check sent, "" when the provider does not use the check.
func (r *resumed) value(k Check) (string, error) {
	switch {
	case !r.c.checks(k):
		return "", nil
	case r.values != nil:
		return r.values[k], nil
	case r.short:
		return checkValue(r.key, k, or(r.flow.Kept, r.state)), nil
	}
	value, err := r.inCookie(k)
	if err != nil || r.flow == nil {
		return value, err
	}
	if r.key == nil || subtle.ConstantTimeCompare([]byte(value), []byte(checkValue(r.key, k, or(r.flow.Kept, r.state)))) != 1 {
		return "", errorf(InvalidCheck, "the %s cookie was made for another state", k)
	}
	return value, nil
}

// inCookie is the value that the cookie of a check holds for this provider.
func (r *resumed) inCookie(k Check) (string, error) {
	return r.x.recall(r.x.cookies.check(k), string(k), r.c.ID)
}

// recall returns the value that a check cookie holds for a provider.
func (x *exchange) recall(spec *cookieSpec, what, provider string) (string, error) {
	claims, err := x.openCheck(spec)
	switch {
	case err != nil:
		return "", errorf(InvalidCheck, "the %s cookie cannot be read: %w", what, err)
	case claims == nil:
		return "", errorf(InvalidCheck, "the %s cookie is missing: the sign-in was started in another browser or more than %v ago", what, checkTTL)
	}
	value := claims.Extra.Text("value")
	switch {
	case value == "" && slices.ContainsFunc(x.earlierFlows(claims), func(f flow) bool { return f.Provider == provider }):
		return "", errorf(CallbackRouteError, "%w", suspicion(fmt.Errorf("%s differs from the one sent", what)))
	case value == "" || claims.Extra.Text("provider") != provider:
		return "", errorf(InvalidCheck, "the %s cookie was made for another provider", what)
	}
	return value, nil
}
