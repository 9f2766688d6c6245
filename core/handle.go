package core

import (
	"context"
)

// Handle answers a request to the auth routes. It is the one entry; what it returns is never nil, and is what callers
// of Auth.js's raw mode get. A request outside the base path is answered 400: adapters route only their own paths here.
func (a *Auth) Handle(ctx context.Context, r *Request) *Response {
	a, err := a.resolve(ctx, r)
	if err != nil {
		return misconfigured(ctx, r, err)
	}
	if v := VisitOf(ctx, a); v != nil { // the hook is in front of the auth routes too
		v.collected.leave()
	}
	a.mounted.serves()
	if response := a.site.preflight(r); response != nil {
		return response
	}
	if response := a.site.script(r); response != nil {
		return response
	}
	return a.router.answer(ctx, r)
}

// newRouter makes the router of a configuration whose parts have been put together.
func newRouter(a *Auth, s *signIns, l *logouts) *router {
	return &router{
		site: a.site, pages: a.pages, sessions: a.sessions, byID: a.byID, passkeys: onlyPasskeys(a.providers),
		rules: newRules(a, s, l),
	}
}

// newRules lists every action: the guards at one look.
func newRules(a *Auth, s *signIns, l *logouts) map[route]rule {
	rules := map[route]rule{
		{"GET", "session"}:        {act: a.sessions.getSession, opens: true, session: true},
		{"GET", "csrf"}:           {act: a.site.csrf.getCSRF, opens: true},
		{"GET", "providers"}:      {act: newProviderList(a.providers).get, bare: true},
		{"GET", "signin"}:         {act: a.pages.signInPage, opens: true},
		{"GET", "signout"}:        {act: a.pages.signOutPage, opens: true},
		{"GET", "callback"}:       {act: s.callback, session: true, browsing: true}, // sets the opening cookies itself
		{"GET", "error"}:          {act: a.pages.errorPage, opens: true},
		{"GET", "verify-request"}: {act: a.pages.verifyRequestPage, opens: true},

		{"GET", "webauthn-options"}: {act: webAuthnOptions, opens: true, session: true, browsing: true},

		{"POST", "session"}:  {act: a.sessions.postSession, csrf: unlessBearer, opens: true, session: true},
		{"POST", "signin"}:   {act: s.start, csrf: always, opens: true, session: true, browsing: true},
		{"POST", "signout"}:  {act: a.sessions.signOut, csrf: unlessBearer, opens: true},
		{"POST", "callback"}: {act: s.callback, csrf: ifForm, session: true, browsing: true},

		{"POST", "backchannel-logout"}: {act: l.backChannelLogout, bare: true},
	}
	if a.sessions.away != nil {
		rules[route{"GET", "logout"}] = rule{act: a.sessions.away.back, bare: true, browsing: true}
	}
	a.parts.addRules(rules)
	if a.site.csrf.policy.skip { // no token, by whatever method it is asked for
		rules[route{"POST", "csrf"}] = rules[route{"GET", "csrf"}]
	}
	return rules
}

// onlyPasskeys is the ID of the one provider for passkeys; empty where there are none or several.
func onlyPasskeys(providers []*provider) (id string) {
	for _, p := range providers {
		if p.webauthn == nil {
			continue
		}
		if id != "" {
			return ""
		}
		id = p.id
	}
	return id
}
