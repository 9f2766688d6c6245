package core

import "context"

// route is a method and an action.
type route struct{ method, action string }

// rule is what an action demands, and the function that does it.
type rule struct {
	act func(context.Context, *call) (*Response, error)
	// csrf reports whether the request must repeat the CSRF token; nil: never.
	csrf func(*call) bool
	// bare: the request needs no CSRF token.
	bare bool
	// opens: the answer sets the opening cookies.
	opens bool
	// browsing: the action goes on with what cookies keep of a sign-in, and takes no bearer token.
	browsing bool
	// session: the action reads the visitor's session.
	session bool
	// ends: the action ends something, and neither a malformed query nor an unusable callback URL stops it.
	ends bool
}

func always(*call) bool { return true }

// ifForm: a callback that is a form of this site repeats the token.
func ifForm(c *call) bool { return c.flow != nil && c.flow.needsToken() }

// newRouter makes the router of a configuration whose parts have been put together.
func newRouter(a *Auth, s *signIns, l *logouts, faults *ConfigError) *router {
	return &router{
		site: a.site, pages: a.pages, sessions: a.sessions, byID: a.byID, passkeys: onlyPasskeys(a.providers),
		rules: newRules(a, s, l, faults),
	}
}

// newRules lists every action: the guards at one look. A name of core's actions is also in weburl.Reserved.
func newRules(a *Auth, s *signIns, l *logouts, faults *ConfigError) map[route]rule {
	rules := map[route]rule{
		{"GET", "session"}:        {act: a.sessions.getSession, opens: true, session: true},
		{"GET", "csrf"}:           {act: a.site.csrf.getCSRF, opens: true},
		{"GET", "providers"}:      {act: newProviderList(a.providers).get, bare: true},
		{"GET", "signin"}:         {act: a.pages.signInPage, opens: true},
		{"GET", "signout"}:        {act: a.pages.signOutPage, opens: true, ends: true},
		{"GET", "callback"}:       {act: s.callback, session: true, browsing: true}, // sets the opening cookies itself
		{"GET", "error"}:          {act: a.pages.errorPage, opens: true},
		{"GET", "verify-request"}: {act: a.pages.verifyRequestPage, opens: true},

		{"GET", "webauthn-options"}: {act: webAuthnOptions, opens: true, session: true, browsing: true},

		{"POST", "session"}:  {act: a.sessions.postSession, csrf: unlessBearer, opens: true, session: true},
		{"POST", "signin"}:   {act: s.start, csrf: always, opens: true, session: true, browsing: true},
		{"POST", "signout"}:  {act: a.sessions.signOut, csrf: unlessBearer, opens: true, ends: true},
		{"POST", "callback"}: {act: s.callback, csrf: ifForm, session: true, browsing: true},

		{"POST", "backchannel-logout"}: {act: l.backChannelLogout, bare: true, ends: true},
	}
	if a.sessions.away != nil {
		rules[route{"GET", "logout"}] = rule{act: a.sessions.away.back, bare: true, browsing: true, ends: true}
	}
	a.parts.addRules(rules, faults)
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
