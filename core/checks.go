package core

import (
	"context"
	"crypto/subtle"
	"slices"
	"time"
)

// maxPending is how many sign-ins one browser can have under way: more tabs than anybody keeps open, few enough for a cookie.
const maxPending = 4

// maxCheckCookie keeps a check cookie within what browsers store.
const maxCheckCookie = 3800

// check is what a check cookie remembers of one flow. The newest flow's stand as claims, where the reference has them; those of
// earlier flows, begun in other tabs, in a list beside them.
type check struct {
	Value    string `json:"value"`
	Provider string `json:"provider"`
	// By is the session that started the flow, empty for nobody's.
	By string `json:"by,omitempty"`
	// Flow names the flow: a hash of its state, empty where none was sent.
	Flow string `json:"flow,omitempty"`
	// FormPost says that the answer is a cross-site POST.
	FormPost bool `json:"formPost,omitempty"`
	// Expires is in Unix seconds.
	Expires int64 `json:"expires"`
}

// flowName names a flow by its state.
func flowName(state string) string {
	if state == "" {
		return ""
	}
	return hashed("flow ", state)[:16]
}

// pendingChecks lists what a check cookie remembers, the newest first.
func (x *exchange) pendingChecks(spec *cookieSpec) ([]check, error) {
	sealed, ok := x.jar.Get(spec.name())
	if !ok || sealed == "" {
		return nil, nil
	}
	claims, err := x.openClaims(spec.keys, sealed)
	if err != nil {
		return nil, err
	}
	formPost, _ := Member[bool](claims.Extra, "formPost")
	all := []check{{
		Value: claims.Extra.Text("value"), Provider: claims.Extra.Text("provider"), By: claims.Extra.Text("by"), Flow: claims.Extra.Text("flow"),
		FormPost: formPost, Expires: claims.Expires.Unix(),
	}}
	earlier, _ := Member[[]check](claims.Extra, "earlier")
	now := x.now().Unix()
	for _, c := range earlier {
		if c.Expires > now {
			all = append(all, c)
		}
	}
	return all, nil
}

// rememberChecks makes the cookie of a check: sealed, each entry good for its provider and the session that it was made under.
func (x *exchange) rememberChecks(spec *cookieSpec, all []check) (Cookie, error) {
	all = all[:min(len(all), maxPending)]
	until := time.Unix(all[0].Expires, 0)
	for {
		newest, claims := all[0], &Token{}
		_ = claims.Extra.Set("value", newest.Value)
		_ = claims.Extra.Set("provider", newest.Provider)
		for name, text := range map[string]string{"by": newest.By, "flow": newest.Flow} {
			if text != "" {
				_ = claims.Extra.Set(name, text)
			}
		}
		if newest.FormPost {
			_ = claims.Extra.Set("formPost", true)
		}
		if len(all) > 1 {
			_ = claims.Extra.Set("earlier", all[1:])
		}
		sealed, err := x.sealClaims(spec.keys, claims, until.Sub(x.now()))
		if len(sealed) > maxCheckCookie && len(all) > 1 {
			all = all[:len(all)-1]
			continue
		}
		cookie := spec.setUntil(sealed, until)
		if slices.ContainsFunc(all, func(c check) bool { return c.FormPost }) {
			cookie = forFormPost(cookie)
		}
		return cookie, err
	}
}

// remember adds an entry to a check cookie. What cannot be read of the old one is dropped.
func (x *exchange) remember(spec *cookieSpec, c check) (Cookie, error) {
	c.Provider, c.Flow, c.Expires = x.provider.id, x.flow, x.now().Add(checkTTL).Unix()
	earlier, err := x.pendingChecks(spec)
	if err != nil {
		earlier = nil
	}
	return x.rememberChecks(spec, append([]check{c}, earlier...))
}

// recall returns the value that [exchange.remember] put into a cookie: that of the flow which the state names, else of the newest
// flow with this provider.
func (x *exchange) recall(ctx context.Context, spec *cookieSpec, what string) (string, error) {
	all, err := x.pendingChecks(spec)
	switch {
	case err != nil:
		return "", errorf(InvalidCheck, "the %s cookie cannot be read: %w", what, err)
	case all == nil:
		return "", errorf(InvalidCheck, "the %s cookie is missing: the sign-in was started in another browser or more than %v ago", what, checkTTL)
	}
	all = slices.DeleteFunc(all, func(c check) bool { return c.Provider != x.provider.id || c.Value == "" })
	if len(all) == 0 {
		return "", errorf(InvalidCheck, "the %s cookie was made for another provider", what)
	}
	found := all[max(0, slices.IndexFunc(all, func(c check) bool { return c.Flow == x.flow }))]
	if found.Flow != "" && found.Flow != x.flow && what != string(CheckState) { // of the state itself the caller makes more
		return "", errorf(InvalidCheck, "the %s cookie was made for another state", what)
	}
	now, err := x.startedBy(ctx)
	if err != nil {
		return "", err
	}
	if now != "" && subtle.ConstantTimeCompare([]byte(found.By), []byte(now)) != 1 {
		return "", errorf(InvalidCheck, "the sign-in was started under another session")
	}
	return found.Value, nil
}

// startedBy names the session that starts a flow, without telling it: empty for nobody. A flow that one session started is not
// finished by another, else check cookies planted in somebody's browser would link the planter's account to them.
func (x *exchange) startedBy(ctx context.Context) (string, error) {
	value := x.sessionCookie().Value()
	if value == "" {
		return "", nil
	}
	if x.session.Strategy == StrategyJWT {
		token, err := x.presentedToken(ctx) // it is re-issued at every read, its subject stays
		if err != nil || token.Subject == "" {
			return "", nil
		}
		value = token.Subject
	}
	return hashed("started by "+value, x.secrets[0])[:32], nil
}

var allChecks = []Check{CheckState, CheckPKCE, CheckNonce}

// rememberCheck adds the cookie of an OAuth check.
func (x *exchange) rememberCheck(c *oauthClient, k Check, value, by string, response *Response) error {
	cookie, err := x.remember(x.cookies.check(k), check{Value: value, By: by, FormPost: c.formPost})
	response.Cookies = append(response.Cookies, cookie)
	return err
}

// recallCheck returns the value that an OAuth check cookie remembers, "" when the provider does not use the check.
func (x *exchange) recallCheck(ctx context.Context, c *oauthClient, k Check) (string, error) {
	if !c.checks(k) {
		return "", nil
	}
	return x.recall(ctx, x.cookies.check(k), string(k))
}

// forgetChecks takes the flow out of its check cookies, which are removed when nothing is left in them: a check is good for one
// attempt. An answer with the state of another flow ends none.
func (x *exchange) forgetChecks(c *oauthClient) (cookies []Cookie, err error) {
	for _, k := range allChecks {
		if !c.checks(k) {
			continue
		}
		cookie, changed, err := x.forget(x.cookies.check(k))
		if err != nil {
			return nil, err
		}
		if changed {
			cookies = append(cookies, cookie)
		}
	}
	return cookies, nil
}

// forget takes the flow out of one cookie; changed is false when it is not in there.
func (x *exchange) forget(spec *cookieSpec) (cookie Cookie, changed bool, err error) {
	if !x.jar.Has(spec.name()) {
		return cookie, false, nil
	}
	all, err := x.pendingChecks(spec)
	i := slices.IndexFunc(all, func(c check) bool { return c.Provider == x.provider.id && c.Flow == x.flow })
	if i < 0 {
		i = slices.IndexFunc(all, func(c check) bool { return c.Provider == x.provider.id && (c.Flow == "" || x.flow == "") })
	}
	if i < 0 && err == nil {
		return cookie, false, nil
	}
	if len(all) <= 1 {
		return spec.clear(spec.name()), true, nil // browsers do not match on SameSite
	}
	cookie, err = x.rememberChecks(spec, slices.Delete(all, i, i+1))
	return cookie, true, err
}

// underway tells whether another flow with this provider is pending.
func (x *exchange) underway() bool {
	for _, k := range allChecks {
		all, err := x.pendingChecks(x.cookies.check(k))
		if err == nil && slices.ContainsFunc(all, func(c check) bool { return c.Provider == x.provider.id }) {
			return true
		}
	}
	return false
}

// checkState compares the state of an answer with the one sent.
func (x *exchange) checkState(ctx context.Context, c *oauthClient, got string) error {
	want, err := x.recallCheck(ctx, c, CheckState)
	if err != nil {
		return err
	}
	if want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(got)) != 1 {
		return errorf(CallbackRouteError, "state differs from the one sent")
	}
	return nil
}
