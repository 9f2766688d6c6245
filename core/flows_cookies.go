package core

import (
	"slices"
	"time"
)

// pendingFlows are those that the cookies of a request remember.
type pendingFlows struct {
	// newest has its checks in cookies of their own; nil: none has, or Auth.js began it.
	newest  *underway
	earlier []underway
}

// all lists them, the newest first.
func (p *pendingFlows) all() []underway {
	if p.newest == nil {
		return p.earlier
	}
	return append([]underway{*p.newest}, p.earlier...)
}

// pending reads the flows that are under way. What cannot be read is none.
func (f *browserFlows) pending() (p pendingFlows) {
	set := f.c.cookies
	if !f.c.jar.HasAny(set.state.name(), set.pkce.name(), set.nonce.name()) { // most visitors
		return p
	}
	for _, k := range allChecks {
		check, err := f.openCheck(set.check(k))
		if err != nil || check == nil {
			continue
		}
		if k == CheckState {
			p.earlier = f.earlierFlows(check)
		}
		if check.value == "" {
			continue
		}
		if check.flow != nil {
			p.newest = check.flow
		}
		if p.newest != nil || k == CheckState {
			break
		}
	}
	return p
}

// earlierFlows are those of other tabs that a check cookie lists, as far as they have not ended.
func (f *browserFlows) earlierFlows(check *openedCheck) []underway {
	list := check.listed()
	for i := 1; i < len(list); i++ {
		if list[i].Who == "" {
			list[i].Who = list[i-1].Who
		}
	}
	now := f.at.Unix()
	return slices.DeleteFunc(list, func(u underway) bool { return u.Expires <= now })
}

// listed is the list for the state cookie.
func listed(list []underway) []underway {
	list = slices.Clone(list)
	for i := len(list) - 1; i > 0; i-- {
		if list[i].Who == list[i-1].Who {
			list[i].Who = ""
		}
	}
	return list
}

// remember makes the cookies of a flow that begins: its checks, and behind them the flows of other tabs
// (docs/protocol.md §8.3). They are bounded in bytes: servers and proxies refuse headers from 4 kB on. What does not
// fit is first written shorter, in a form that only Latchkey reads; then the oldest flows give way. location is the
// length of the address that the answer leads to.
func (f *browserFlows) remember(begun underway, sent []sentCheck, location int) ([]Cookie, error) {
	begun.Provider, begun.Expires = f.c.providerID, f.at.Add(checkTTL).Unix()
	pending := f.pending()
	others := pending.all()
	others = others[:min(len(others), maxFlows-1)]
	if len(sent) > 0 {
		cookies, err := f.checkCookies(begun, sent, others)
		if err != nil || f.fits(cookies, location, len(others) > 0) {
			return cookies, err
		}
	}
	return f.shorten(append([]underway{begun}, others...), 1, location, nil)
}

// shorten makes the cookies that remember flows in the short form, without those of the newest one's checks. As long as
// they do not fit, a passkey that is waited for gives way, then the oldest flow; keep of them stay. besides are further
// cookies of the answer.
func (f *browserFlows) shorten(all []underway, keep, location int, besides []Cookie) ([]Cookie, error) {
	cleared := slices.Clone(besides)
	for _, k := range []Check{CheckPKCE, CheckNonce} {
		if spec := f.c.cookies.check(k); f.c.jar.Has(spec.name()) {
			cleared = append(cleared, spec.clear(spec.name()))
		}
	}
	for {
		cookies := cleared
		if len(all) > 0 {
			cookie, err := f.listCookie(all)
			if err != nil {
				return nil, err
			}
			cookies = append([]Cookie{cookie}, cleared...)
		} else if spec := &f.c.cookies.state; f.c.jar.Has(spec.name()) {
			cookies = append([]Cookie{spec.clear(spec.name())}, cleared...)
		}
		challenge := &f.c.cookies.challenge
		named := func(c Cookie) bool { return c.Name == challenge.name() }
		switch {
		case f.fits(cookies, location, len(all) > 1):
			return cookies, nil
		case f.c.jar.Has(challenge.name()) && !slices.ContainsFunc(cleared, named):
			cleared = append(cleared, challenge.clear(challenge.name()))
		case len(all) <= keep:
			return cookies, nil // the rest is not ours to shorten: a long authorization URL, many claims in a session
		default:
			all = all[:len(all)-1]
		}
	}
}

// checkCookies are those of the newest flow as Auth.js has them. The first of them has further claims of ours: the
// flow, and those of other tabs.
func (f *browserFlows) checkCookies(begun underway, sent []sentCheck, others []underway) ([]Cookie, error) {
	cookies := make([]Cookie, 0, len(sent))
	if sent[0].check != CheckState && len(others) > 0 {
		list, err := f.listCookie(others)
		if err != nil {
			return nil, err
		}
		cookies = append(cookies, list)
	}
	until := time.Unix(begun.Expires, 0)
	claims := &struct { // one allocation
		checkClaims
		own underway
	}{own: begun}
	claims.own.Provider, claims.own.Expires = "", 0 // they have claims of their own
	for i, s := range sent {
		claims.checkClaims = checkClaims{value: s.value, provider: begun.Provider}
		crossSite := begun.FormPost
		if i == 0 {
			claims.flow = &claims.own
		}
		if s.check == CheckState && len(others) > 0 {
			claims.earlier = listed(others)
			crossSite = crossSite || slices.ContainsFunc(others, func(o underway) bool { return o.FormPost })
		}
		spec := f.c.cookies.check(s.check)
		sealed, err := f.seal(spec.keys, claims, checkTTL)
		if err != nil {
			return nil, err
		}
		cookie := spec.setUntil(sealed, until)
		if crossSite {
			cookie = forFormPost(cookie)
		}
		cookies = append(cookies, cookie)
	}
	return cookies, nil
}

// listCookie is the state cookie with flows in the short form alone.
func (f *browserFlows) listCookie(all []underway) (Cookie, error) {
	until := time.Unix(all[0].Expires, 0)
	spec := &f.c.cookies.state
	sealed, err := f.seal(spec.keys, &checkClaims{earlier: listed(all)}, until.Sub(f.at))
	cookie := spec.setUntil(sealed, until)
	if slices.ContainsFunc(all, func(u underway) bool { return u.FormPost }) {
		cookie = forFormPost(cookie)
	}
	return cookie, err
}

// pendingWith reports whether another flow with a provider is under way.
func (f *browserFlows) pendingWith(providerID string) bool {
	pending := f.pending()
	return slices.ContainsFunc(pending.all(), func(u underway) bool { return u.Provider == providerID })
}
