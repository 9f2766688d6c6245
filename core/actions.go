package core

import (
	"context"
	"log/slog"
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/pagepolicy"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/core/internal/providerlist"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/pagecache"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

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
		{"GET", "session"}:        {act: a.sessions.getSession, opens: true, session: true, impersonated: true},
		{"GET", "csrf"}:           {act: getCSRF, opens: true},
		{"GET", "providers"}:      {act: getProviders(a.providers), bare: true},
		{"GET", "signin"}:         {act: a.pages.signInPage, opens: true},
		{"GET", "signout"}:        {act: a.pages.signOutPage, opens: true, ends: true},
		{"GET", "callback"}:       {act: s.callback, session: true, browsing: true}, // sets the opening cookies itself
		{"GET", "error"}:          {act: a.pages.errorPage, opens: true},
		{"GET", "verify-request"}: {act: s.verifyRequestPage, opens: true},

		{"GET", "webauthn-options"}: {act: webAuthnOptions, opens: true, session: true, browsing: true},

		{"POST", "session"}:  {act: a.sessions.postSession, csrf: unlessBearer, opens: true, session: true},
		{"POST", "signin"}:   {act: s.start, csrf: always, opens: true, session: true, browsing: true},
		{"POST", "signout"}:  {act: a.sessions.signOut, csrf: unlessBearer, opens: true, ends: true},
		{"POST", "callback"}: {act: s.callback, csrf: ifForm, session: true, browsing: true},

		{"POST", "backchannel-logout"}: {act: l.backChannelLogout, bare: true, ends: true},
	}
	if a.sessions.providerLogouts != nil {
		rules[route{"GET", "logout"}] = rule{act: a.sessions.providerLogouts.back, bare: true, browsing: true, ends: true}
	}
	a.plugins.addRules(rules, faults)
	if a.site.csrf.Skip { // there is no token, with any method
		rules[route{"POST", "csrf"}] = rules[route{"GET", "csrf"}]
	}
	return rules
}

func always(*call) bool { return true }

// ifForm reports whether a callback is a form of this site, which contains the CSRF token.
func ifForm(c *call) bool { return c.flow != nil && c.flow.needsToken() }

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

// getCSRF handles GET csrf. It returns the token that POST requests must contain.
func getCSRF(ctx context.Context, c *call) (*Response, error) {
	if c.site.csrf.Skip {
		c.log.warn(ctx, warnings.CSRFDisabled)
		spec := &c.cookies.CSRF
		return &Response{Status: http.StatusNotFound, Cookies: []Cookie{Cookie(spec.Clear())}}, nil
	}
	body := append(make([]byte, 0, 32+csrf.TokenLen), `{"csrfToken":`...)
	return uncachedJSON(append(exactjson.AppendText(body, c.csrf.Token), '}')), nil
}

// getProviders returns the handler of GET providers.
func getProviders(all []*provider) func(context.Context, *call) (*Response, error) {
	listed := make([]providerlist.Provider, len(all))
	for i, p := range all {
		listed[i] = providerlist.Provider{ID: p.id, Name: p.name, Type: string(p.kind)}
	}
	list := providerlist.New(listed)
	return func(_ context.Context, c *call) (*Response, error) { return jsonResponse(list.At(c.base)), nil }
}

// promptLogin is the value of the query parameter prompt of the sign-in page, as in OpenID Connect Core section
// 3.1.2.1: a signed-in user wants to see the forms.
const promptLogin = "login"

// signInPage handles GET signin. It renders the built-in page, or redirects to the application's page.
func (p *pages) signInPage(ctx context.Context, c *call) (*Response, error) {
	if c.flow != nil {
		err := errorf(ErrUnknownAction, "signin/%s answers POST only: a sign-in must not start by following a link; "+
			"redirect to the sign-in page", c.providerID)
		if !wantsPage(c.r) {
			return nil, err
		}
		c.log.failure(ctx, err, c.attrs()...) // the mistake is in the link; show the user a useful page
		return redirectTo(c.base + "/signin"), nil
	}
	if own := p.config.SignIn; own != "" {
		return c.ownPage("SignIn", own, append([]string{"callbackUrl", c.callbackURL.Target}, c.given("error")...))
	}
	view := ui.SignInView{
		Page: p.shell(&c.arrival), CSRFToken: c.csrf.Token, CallbackURL: c.shownCallbackURL(),
		Email: c.query.Get("email"), Error: c.query.Get("error"),
	}
	var provisional bool
	view.SignedIn, provisional = p.signedIn(ctx, c)
	if users := p.plugins.provisional; users != nil && !provisional && view.SignedIn == (ui.Visitor{}) {
		view.GuestURL = c.base + "/" + users.Action
	}
	view.Links = p.sessions.accountsLink(c)
	p.showImpersonation(c, &view.Page, view.SignedIn)
	if view.SignedIn != (ui.Visitor{}) {
		view.Picture = view.SignedIn.Image
		if c.query.Get("prompt") != promptLogin && view.Error == "" {
			view.SwitchURL, _ = weburl.AddQuery(c.base+"/signin", "callbackUrl", view.CallbackURL, "prompt", promptLogin)
		}
	}
	p.splitSignIn(c, &view)
	if view.SwitchURL == "" && (p.hasForm() || view.GuestURL != "") {
		view.Challenge = p.plugins.challenges.widget(challenge.SignIn)
	}
	if view.SwitchURL == "" && view.SignedIn == (ui.Visitor{}) {
		view.OneTap = p.plugins.oneTap.shown()
	}
	view.Signals = p.unknownSignals(c)
	view.Remembered = view.RememberMe && (view.Error != "" || view.Email != "") && c.rememberedChoice()
	switch view.Error {
	case "", string(ErrCredentialsSignin), string(autherr.TooManyFailures), sessionRequired: // nothing to report
	default:
		view.Reference = c.lastRef()
	}
	return p.renderSignIn(ctx, c, view), nil
}

// given returns the names and values of the query parameters that are not empty.
func (c *call) given(names ...string) (params []string) {
	for _, name := range names {
		if v := c.query.Get(name); v != "" {
			params = append(params, name, v)
		}
	}
	return params
}

// ownPage redirects to the application's page in a field of Pages.
func (c *call) ownPage(field, page string, params []string) (*Response, error) {
	target, err := weburl.AddQuery(page, params...)
	if err != nil {
		return nil, errorf(ErrAuth, "Pages.%s: %w", field, err)
	}
	return redirectTo(target), nil
}

// unknownSignals returns the signals of the cookie, or nil.
func (p *pages) unknownSignals(c *call) *ui.PasskeySignals {
	if p.plugins == nil {
		return nil
	}
	var unknown unknownPasskey
	_, err := p.plugins.passkeyFlow("")
	if err != nil || !p.plugins.readCookie(&c.arrival, plugincookies.Unknown, &unknown) {
		return nil
	}
	return &ui.PasskeySignals{RPID: unknown.RPID, Unknown: []string{unknown.ID}}
}

// renderSignIn renders the sign-in page. A page that contains nothing specific to this request is cached.
func (p *pages) renderSignIn(ctx context.Context, c *call, view ui.SignInView) *Response {
	draw := func(view ui.SignInView) *Response {
		view.Providers = p.providerViews(&c.arrival)
		response := p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.SignIn(view))
		return response.permit(view.Picture, view.Challenge, view.OneTap)
	}
	plain := p.builtIn && (p.plugins.provisional == nil || view.GuestURL != "") &&
		view.SignedIn == (ui.Visitor{}) && view.Error == "" && view.Email == "" && view.Signals == nil && view.Links == nil &&
		view.CallbackURL == c.home
	if !plain || len(view.Nonce) != pagepolicy.NonceLen || len(view.CSRFToken) != csrf.TokenLen {
		return draw(view)
	}
	key := pagecache.Key{Origin: c.origin, Language: view.Locale.Tag}
	var drawn *Response
	body, err := p.cached.Page(key, c.rand, view.Nonce, view.CSRFToken, func(nonce, token string) ([]byte, error) {
		marked := view
		marked.Nonce, marked.CSRFToken = nonce, token
		drawn = draw(marked)
		return drawn.Body, drawn.Err
	})
	switch {
	case err != nil && drawn != nil:
		return drawn
	case err != nil:
		return draw(view)
	}
	response := &Response{Body: body}
	return p.asPage(&c.arrival, response, view.Nonce).permit("", view.Challenge, view.OneTap)
}

// hasForm reports whether a provider has a form that needs a challenge.
func (p *pages) hasForm() bool {
	return slices.ContainsFunc(p.providers, func(v ui.Provider) bool {
		return v.Type == string(TypeCredentials) || v.Type == string(TypeEmail)
	})
}

// providerViews returns the providers as shown on pages, with their URLs for the request's origin.
func (p *pages) providerViews(v *arrival) []ui.Provider {
	views := make([]ui.Provider, len(p.providers))
	base := v.base
	for i, view := range p.providers {
		view.SignInURL, view.CallbackURL = base+"/signin/"+view.ID, base+"/callback/"+view.ID
		views[i] = view
	}
	return views
}

// signOutPage handles GET signout: the confirmation page. It does not sign out, because a GET must not change anything.
func (p *pages) signOutPage(ctx context.Context, c *call) (*Response, error) {
	if own := p.config.SignOut; own != "" {
		return redirectTo(own), nil
	}
	view := ui.SignOutView{
		Page: p.shell(&c.arrival), CSRFToken: c.csrf.Token, Action: c.base + "/signout", URL: c.home,
	}
	view.SignedIn, _ = p.signedIn(ctx, c)
	p.showImpersonation(c, &view.Page, view.SignedIn)
	if c.query.Get("callbackUrl") != "" {
		view.Action, _ = weburl.AddQuery(view.Action, "callbackUrl", c.shownCallbackURL())
	}
	return p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.SignOut(view)), nil
}

// signOut handles POST signout. The browser's cookies are deleted even if the store fails; the failure is logged.
func (s *sessions) signOut(ctx context.Context, c *call) (*Response, error) {
	response := redirectTo(c.callbackURL.Target)
	s.exchanges.Erase(c.browser(), "")
	session, err := s.of(ctx, &c.arrival)
	if err != nil {
		c.log.failure(ctx, errormarks.Typed(err, autherr.SignOut), c.attrs()...)
	}
	carrier := session.carrier()
	if carrier.Value() == "" && !carrier.Tokens.Stray() {
		if !carrier.FromHeader && s.endActor(ctx, &c.arrival) { // of an impersonation that has ended
			response.Cookies = carrier.clear()
		}
		s.providerLogouts.leave(ctx, c, "", response)
		return response, nil
	}
	userID, err := s.end(ctx, session)
	if err != nil {
		c.log.failure(ctx, errormarks.Typed(err, autherr.SignOut), c.attrs()...)
	}
	c.debug(ctx, "session ended", slog.String("user_id", userID))
	response.Cookies = carrier.clear()
	s.providerLogouts.leave(ctx, c, userID, response)
	return response, nil
}

// webAuthnOptions handles GET webauthn-options/<provider>. A request without a provider, if there is not exactly one
// passkey provider, is a mistake in a script: it gets status 400, and the log says how to fix it.
func webAuthnOptions(ctx context.Context, c *call) (*Response, error) {
	if f, ok := c.flow.(*passkeyFlow); ok {
		return f.options(ctx, c)
	}
	err := errorf(autherr.InvalidProvider, "webauthn-options needs a provider of type webauthn: "+
		"webauthn-options/<provider id>")
	if c.flow != nil {
		return nil, err
	}
	c.log.failure(ctx, err, c.attrs()...)
	return optionsRefused("Invalid request"), nil
}

// errorPage handles GET error.
func (p *pages) errorPage(ctx context.Context, c *call) (*Response, error) {
	name, reason := c.query.Get("error"), errormarks.ParseReason(c.query.Get("reason"))
	if own := p.config.Error; own != "" {
		params := c.given("error")
		if reason != "" {
			params = append(params, "reason", string(reason))
		}
		return c.ownPage("Error", own, params)
	}
	status := 0
	switch name {
	case "Configuration":
		status = http.StatusInternalServerError
		if reason != "" { // caused by the user: started too long ago, or in another browser
			status = http.StatusBadRequest
		}
	case "AccessDenied", "Verification":
		status = http.StatusForbidden
	}
	view := ui.ErrorView{Error: name, Reason: string(reason), SignInURL: c.base + "/signin"}
	if name != "" { // a failure redirected the browser to this page
		view.Reference = c.lastRef()
	}
	return p.errorView(ctx, &c.arrival, &Response{}, status, view), nil
}

// verifyRequestPage handles GET verify-request, which says that an email was sent. If the email has a code, and this
// browser requested it, the page has an input for it.
func (s *signIns) verifyRequestPage(ctx context.Context, c *call) (*Response, error) {
	p := s.pages
	if own := p.config.VerifyRequest; own != "" {
		return c.ownPage("VerifyRequest", own, c.given("provider", "type", "error", "left"))
	}
	view := ui.VerifyRequestView{
		Page: p.shell(&c.arrival), URL: c.home, Host: c.at.Host, CSRFToken: c.csrf.Token,
	}
	if by := s.plugins.auth.byID[c.query.Get("provider")]; by != nil && by.email != nil {
		again := c.base + "/signin/" + by.id
		if f, ok := by.flow.(*emailFlow); ok && f.codes != nil && s.codes.key(c, codeSignIn) != "" {
			view.Code = &ui.CodeForm{
				CSRFToken: c.csrf.Token, Action: c.base + "/callback/" + by.id, AgainURL: again,
				Link: true, Error: c.query.Get("error"), Left: c.query.Get("left"),
			}
		} else {
			view.ResendURL = again
		}
		view.Challenge = s.plugins.challenges.widget(challenge.SignIn)
	}
	response := p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.VerifyRequest(view))
	return response.permit("", view.Challenge, nil), nil
}

// addRules adds the plugins' actions to those of core. An action that would replace one of core is a configuration
// error.
func (ps *plugins) addRules(rules map[route]rule, faults *ConfigError) {
	for _, a := range ps.actions {
		if _, taken := rules[route{a.Method, a.path()}]; taken {
			faults.add(ErrInvalidConfig, "%s: action %q: core has this action: give it another Name", a.plugin,
				a.Method+" "+a.path())
			continue
		}
		r := rule{act: ps.act(a), bare: a.NoCookies, opens: !a.NoCookies, session: !a.NoCookies}
		r.impersonated = a.Method == http.MethodGet || a.Impersonated
		if a.Method != http.MethodGet && !a.NoCookies {
			r.csrf = always
		}
		if a.Programs && !a.NoCookies {
			r.opens, r.csrf = false, a.csrf
		}
		rules[route{a.Method, a.path()}] = r
	}
}
