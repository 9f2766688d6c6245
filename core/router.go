package core

import (
	"context"
	"net/http"
)

// Handle handles a request to the auth routes. The result is never nil. Adapters send only requests below the base path
// to Handle; for other requests the response has status 400.
func (a *Auth) Handle(ctx context.Context, r *Request) *Response {
	a, err := a.resolve(ctx, r)
	if err != nil {
		return misconfigured(ctx, r, err)
	}
	if v := VisitOf(ctx, a); v != nil { // the request hook may also run before the auth routes
		v.collected.leave()
	}
	a.mounted.serves()
	if response := a.site.preflight(r); response != nil {
		return response
	}
	if response := a.site.asset(r); response != nil {
		return response
	}
	return a.router.answer(ctx, r)
}

// router finds the action of a request and runs it.
type router struct {
	site     *site
	pages    *pages
	sessions *sessions
	byID     map[string]*provider
	// passkeys is the provider of a webauthn-options request without a provider in its path. It is empty if there is none.
	passkeys string
	rules    map[route]rule
}

// answer reads a request and runs its action.
func (rt *router) answer(ctx context.Context, r *Request) *Response {
	c := rt.site.unread(r)
	response, err := guarded("auth handler", func() (*Response, error) {
		rule, err := rt.read(ctx, r, c)
		if err != nil {
			return nil, err
		}
		response, err := rule.act(ctx, c)
		if err == nil && rule.opens {
			if opening := c.opening(); len(opening) > 0 {
				response.Cookies = append(opening, response.Cookies...)
			}
		}
		return response, err
	})
	if err != nil {
		c.auditGuard(ctx, err)
		var cookies []Cookie
		if response != nil {
			cookies = response.Cookies
		}
		response = rt.pages.fail(ctx, c, err, cookies)
	}
	c.rememberLocale(response)
	response = c.refer(finish(r, response))
	c.answerBearer(response)
	c.share(response)
	return response
}

// read reads a request into c, finds the rule of its action and checks the rule's requirements. If it fails, the error
// response uses the parts of c that were already read.
func (rt *router) read(ctx context.Context, r *Request, c *call) (rule rule, err error) {
	to, err := rt.site.route(r)
	if err == nil {
		err = c.settle()
	}
	c.action, c.query, c.part = to.action, to.query, to.part
	if to.action == "webauthn-options" && to.providerID == "" {
		to.providerID = rt.passkeys
	}
	if p := rt.byID[to.providerID]; p != nil {
		c.providerID, c.kind, c.flow = p.id, p.kind, p.flow
	}
	if err != nil {
		return rule, err
	}
	rule, known := rt.rules[route{r.Method, to.rule}]
	lenient := rule.ends || to.part // a callback URL stops neither a sign-out nor an action of a plugin
	if to.badQuery != nil && (!lenient || r.Method != http.MethodPost) {
		return rule, to.badQuery
	}
	c.locales.settle(ctx, &c.arrival, c.askedLocale())
	if !lenient {
		foreign := to.action == "signin" || to.action == "callback"
		if err := c.checkAsked(c.query.Get("callbackUrl"), foreign); err != nil {
			return rule, err
		}
	}
	var unreadable error
	if c.fields, unreadable = readBody(ctx, r); unreadable != nil && !rule.ends {
		return rule, unreadable
	}
	if to.providerID != "" && c.flow == nil {
		return rule, errorf(ErrAuth, "%w", mistake(errNoProvider))
	}
	if !rule.bare {
		if c.csrf, err = rt.site.csrf.check(c.csrfRequest(c.fields)); err != nil {
			return rule, err
		}
	}
	if unreadable != nil && (rule.csrf == nil || rule.csrf(c) && !c.csrf.verified) {
		return rule, unreadable
	}
	if lenient {
		c.callbackURL = c.callbackURLOrHome(ctx)
	} else if c.callbackURL, err = c.arrival.callbackURL(ctx, c.text("callbackUrl")); err != nil {
		return rule, err
	}
	if !known {
		return rule, rt.unknown(r, to.part, to.rule, c.action)
	}
	if rule.csrf != nil && rule.csrf(c) && !c.csrf.verified {
		return rule, errorf(ErrMissingCSRF, "%s: %s", c.action, c.csrf.refusal)
	}
	if rule.browsing {
		if err = c.refuseBearer(); err != nil {
			return rule, err
		}
	}
	c.session = rt.sessions.present(&c.arrival) // read on first use
	if rule.session {
		err = c.session.settle(ctx)
	}
	return rule, err
}

// unknown returns the error for a request that no action handles.
func (rt *router) unknown(r *Request, part bool, rule, action string) error {
	if part {
		return rt.site.parts.noAction(rule)
	}
	return errorf(ErrUnknownAction, "%s %s is not an action", r.Method, action)
}

// route is a method and an action.
type route struct{ method, action string }

// rule contains the function of an action and its requirements.
type rule struct {
	act func(context.Context, *call) (*Response, error)
	// csrf reports whether the request must contain the CSRF token. If it is nil, no request must.
	csrf func(*call) bool
	// bare means that requests have no CSRF token.
	bare bool
	// opens means that the response sets the initial cookies; see [call.opening].
	opens bool
	// browsing means that the action continues a sign-in with the cookies of a browser, so requests with a bearer token
	// are rejected.
	browsing bool
	// session means that the action reads the user's session.
	session bool
	// ends means that the action ends something: neither a malformed query nor an unusable callback URL stops it.
	ends bool
}

func always(*call) bool { return true }

// ifForm reports whether a callback is a form of this site, which contains the CSRF token.
func ifForm(c *call) bool { return c.flow != nil && c.flow.needsToken() }

// newRouter creates the router after all plugins are set up.
func newRouter(a *Auth, s *signIns, l *logouts, faults *ConfigError) *router {
	return &router{
		site: a.site, pages: a.pages, sessions: a.sessions, byID: a.byID, passkeys: onlyPasskeys(a.providers),
		rules: newRules(a, s, l, faults),
	}
}

// newRules lists all actions with their requirements. The names of core's actions are also in weburl.Reserved.
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
	if a.site.csrf.policy.skip { // there is no token, with any method
		rules[route{"POST", "csrf"}] = rules[route{"GET", "csrf"}]
	}
	return rules
}

// onlyPasskeys returns the ID of the only passkey provider. It is empty if there are none or several.
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
