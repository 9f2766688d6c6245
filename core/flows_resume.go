package core

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/random"
)

// resumed is the flow that an answer belongs to.
type resumed struct {
	*browserFlows
	client *oauthClient
	// state is the parameter of the answer.
	state string
	// flow is what is remembered; nil: nothing, or Auth.js began it.
	flow *underway
	// seed is what the flow's values are derived from; seeded: it is known. The newest flow has its values in cookies too,
	// and then they are compared with the derived ones.
	seed   flowSeed
	seeded bool
	short  bool
	// values are those of a flow that came on by a hop, in place of cookies.
	values map[Check]string
	// cookies take the flow out of the browser: a check is good for one attempt.
	cookies []Cookie
}

// resume finds the flow that an answer belongs to: the one that the state names, else the newest with this provider
// (docs/protocol.md §8.3). An answer with the state of another flow ends none. Its cookies count when it fails, too.
func (f *browserFlows) resume(client *oauthClient, state string) (*resumed, error) {
	r := &resumed{browserFlows: f, client: client, state: state}
	if len(client.Checks) == 0 {
		return r, nil
	}
	pending := f.pending()
	for i := range pending.earlier {
		earlier := &pending.earlier[i]
		if earlier.Provider != client.ID {
			continue
		}
		if earlier.Tag == "" && state == "" && earlier.Kept != "" {
			r.flow, r.seed, r.seeded, r.short = earlier, f.keys[0].seed(earlier.Kept), true, true
		} else if seed, ok := f.hashedAs(earlier.Tag, "state", state); ok {
			r.flow, r.seed, r.seeded, r.short = earlier, seed, true, true
		}
		if r.flow != nil {
			var err error
			r.cookies, err = f.forgetEarlier(i)
			return r, err
		}
	}
	if r.findNewest() {
		return r, nil
	}
	var err error
	r.cookies, err = f.forgetNewest(client, pending.earlier)
	return r, err
}

// home is the check whose cookie describes the newest flow.
func (o *oauthClient) home() Check {
	return allChecks[slices.IndexFunc(allChecks, o.checks)]
}

// findNewest finds the flow in the format of Auth.js. It reports whether that one waits for an answer with another
// state: then it stays.
func (r *resumed) findNewest() (another bool) {
	home := r.client.home()
	check, err := r.openCheck(r.c.cookies.check(home))
	if err != nil || check == nil || check.value == "" || check.provider != r.client.ID {
		return false
	}
	r.flow = check.flow
	switch {
	case r.flow == nil:
		return false
	case r.state != "" && r.flow.Tag != "":
		r.seed, r.seeded = r.hashedAs(r.flow.Tag, "state", r.state)
		return !r.seeded
	}
	r.seed, r.seeded = r.hashedAs(check.value, "check "+string(home), r.flow.Kept)
	return false
}

// forgetNewest takes the newest flow with a provider out of the browser. earlier are those that stay.
func (f *browserFlows) forgetNewest(client *oauthClient, earlier []underway) (cookies []Cookie, err error) {
	for _, k := range allChecks {
		spec := f.c.cookies.check(k)
		if !client.checks(k) || !f.c.jar.Has(spec.name()) {
			continue
		}
		check, err := f.openCheck(spec)
		if err == nil && (check == nil || check.provider != client.ID) {
			continue
		}
		cookie := spec.clear(spec.name()) // the attributes need not be those of form_post: browsers do not match on SameSite
		if rest := f.rebound(earlier); k == CheckState && len(rest) > 0 {
			if cookie, err = f.listCookie(rest); err != nil {
				return cookies, err
			}
		}
		if cookies == nil {
			cookies = make([]Cookie, 0, len(allChecks))
		}
		cookies = append(cookies, cookie)
	}
	return cookies, nil
}

// forgetEarlier takes one of the earlier flows out of the state cookie.
func (f *browserFlows) forgetEarlier(i int) ([]Cookie, error) {
	spec := &f.c.cookies.state
	opened, err := f.openCheck(spec)
	if err != nil {
		return nil, err
	}
	rest := f.rebound(slices.Delete(f.earlierFlows(opened), i, i+1))
	var cookie Cookie
	switch {
	case opened.value != "":
		cookie, err = f.newestCookie(opened, rest)
	case len(rest) > 0:
		cookie, err = f.listCookie(rest)
	default:
		cookie = spec.clear(spec.name())
	}
	if err != nil {
		return nil, err
	}
	return []Cookie{cookie}, nil
}

// newestCookie is the state cookie of the newest flow anew, with the rest of the earlier ones.
func (f *browserFlows) newestCookie(opened *openedCheck, rest []underway) (Cookie, error) {
	spec, newest, claims := &f.c.cookies.state, opened.flow, opened.token()
	delete(claims.Extra, "earlier")
	if len(rest) > 0 {
		_ = claims.Extra.Set("earlier", listed(rest))
	}
	if newest != nil {
		own := f.rebound([]underway{*newest})[0]
		own.Provider, own.Expires = "", 0
		_ = claims.Extra.Set("flow", own)
	}
	sealed, err := f.seal(spec.keys, claims, claims.Expires.Sub(f.at))
	if err != nil {
		return Cookie{}, err
	}
	cookie := spec.setUntil(sealed, claims.Expires)
	if newest != nil && newest.FormPost || slices.ContainsFunc(rest, func(u underway) bool { return u.FormPost }) {
		cookie = forFormPost(cookie)
	}
	return cookie, nil
}

// rebound binds the flows of other tabs to the CSRF token that this answer sets, where the request came without one: a
// form_post provider's POST has no CSRF cookie, so its answer sets a new one.
func (f *browserFlows) rebound(rest []underway) []underway {
	if f.c.r.Method != "POST" || !f.knowsBrowser() || f.c.jar.Has(f.c.cookies.csrf.name()) {
		return rest
	}
	for i := range rest {
		if rest[i].browser() != "" {
			rest[i].Who = rest[i].by() + "." + f.keys[0].name(whoLength, "browser", f.c.csrf.token)
		}
	}
	return rest
}

// checkState compares the state of the answer with the one sent, and session and browser that began the flow with those
// that end it.
func (r *resumed) checkState(ctx context.Context) error {
	if len(r.client.Checks) == 0 {
		return nil
	}
	if !r.short && r.values == nil && r.client.checks(CheckState) {
		want, err := r.inCookie(CheckState)
		if err != nil {
			return err
		}
		if !random.Same(want, r.state) {
			return errorf(ErrCallbackRoute, "%w", suspicion(errors.New("state differs from the one sent")))
		}
	}
	begun := r.flow
	if begun == nil {
		begun = &underway{}
	}
	return r.sameVisitor(ctx, begun)
}

// value is what a check sent, "" when the provider does not use the check.
func (r *resumed) value(k Check) (string, error) {
	switch {
	case !r.client.checks(k):
		return "", nil
	case r.values != nil:
		return r.values[k], nil
	case r.short:
		return r.seed.checkValue(k), nil
	}
	value, err := r.inCookie(k)
	if err != nil || r.flow == nil {
		return value, err
	}
	if !r.seeded || !random.Same(value, r.seed.checkValue(k)) {
		return "", errorf(ErrInvalidCheck, "the %s cookie was made for another state", k)
	}
	return value, nil
}

// inCookie is the value that the cookie of a check holds for this provider.
func (r *resumed) inCookie(k Check) (string, error) {
	return r.recall(r.c.cookies.check(k), string(k), r.client.ID)
}

// recall returns the value that a check cookie holds for a provider.
func (f *browserFlows) recall(spec *cookieSpec, what, provider string) (string, error) {
	check, err := f.openCheck(spec)
	switch {
	case err != nil:
		return "", errorf(ErrInvalidCheck, "the %s cookie cannot be read: %w", what, err)
	case check == nil:
		return "", errorf(ErrInvalidCheck, "the %s cookie is missing: the sign-in was started in another browser "+
			"or more than %v ago", what, checkTTL)
	}
	value := check.value
	ofProvider := func(u underway) bool { return u.Provider == provider }
	switch {
	case value == "" && slices.ContainsFunc(f.earlierFlows(check), ofProvider):
		return "", errorf(ErrCallbackRoute, "%w", suspicion(fmt.Errorf("%s differs from the one sent", what)))
	case value == "" || check.provider != provider:
		return "", errorf(ErrInvalidCheck, "the %s cookie was made for another provider", what)
	}
	return value, nil
}
