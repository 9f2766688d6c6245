package core

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/assets"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/core/internal/problems"
	"github.com/latchkey-go/latchkey/core/internal/wellknown"
	"github.com/latchkey-go/latchkey/internal/callbackurl"
	"github.com/latchkey-go/latchkey/internal/csrf"
)

// Handle handles a request to the auth routes. The result is never nil. Adapters send only requests below the base path
// and for [Auth.WellKnownPaths] to Handle; for other requests the response has status 400.
func (a *Auth) Handle(ctx context.Context, r *Request) *Response {
	a, err := a.resolve(ctx, r)
	if err != nil {
		return misconfigured(ctx, r, err)
	}
	if response := a.wellKnown(ctx, r); response != nil {
		return response
	}
	if v := VisitOf(ctx, a); v != nil { // the request hook may also run before the auth routes
		v.collected.Leave()
	}
	a.mounted.Serve()
	a.mail.Perhaps()
	if response := a.site.preflight(r); response != nil {
		return response
	}
	if response := a.site.asset(r); response != nil {
		return response
	}
	return a.router.answer(ctx, r)
}

// answer reads a request and runs its action.
func (rt *router) answer(ctx context.Context, r *Request) *Response {
	c := rt.site.callOf(r)
	var to rule
	response, err := guarded("auth handler", func() (response *Response, err error) {
		if to, err = rt.read(ctx, r, c); err != nil {
			return nil, err
		}
		response, err = to.act(ctx, c)
		if err == nil && to.opens {
			if opening := c.initialCookies(); len(opening) > 0 {
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
	if c.pending.Any() {
		c.pending.Cancel(response.Status >= http.StatusInternalServerError)
	}
	if !to.bare {
		c.rememberLocale(response)
	}
	if rt.sessions.config.RememberMe && !to.bare && !c.admitted { // the sign-in has not ended yet, or failed
		if remember, there := c.postedRemember(); there {
			response.Cookies = append(response.Cookies, c.storeRemember(remember)...)
		}
	}
	response = c.complete(response)
	c.answerBearer(response)
	c.cors.Share(r.Header, response.Header)
	return response
}

// rememberLocale sets a cookie with the language that the URL requested.
func (c *call) rememberLocale(response *Response) {
	if c.locales == nil || c.cookies == nil || c.askedLocale() == "" {
		return
	}
	chosen := c.locales.Find(c.askedLocale())
	spec := c.cookies.Plugin(plugincookies.Locale)
	kept, _ := c.jar.Get(spec.Name())
	if chosen == nil || kept == cmp.Or(chosen.Tag, "en") {
		return
	}
	response.Cookies = append(response.Cookies, Cookie(spec.Set(cmp.Or(chosen.Tag, "en"))))
}

// auditGuard notes a request that was refused before its action ran.
func (c *call) auditGuard(ctx context.Context, err error) {
	switch {
	case c.audit == nil:
	case errors.Is(err, ErrMissingCSRF):
		reason := audit.ReasonNoToken
		if c.csrf.SentFrom == csrf.AnotherSite {
			reason = audit.ReasonCrossSite
		}
		c.note(ctx, audit.Event{Name: audit.CSRF, Outcome: audit.Refused, Reason: reason})
	case errors.Is(err, ErrUntrustedHost):
		c.note(ctx, audit.Event{Name: audit.Config, Outcome: audit.Refused, Reason: audit.ReasonHost})
	}
}

// read reads a request into c, finds the rule of its action and checks the rule's requirements. If it fails, the error
// response uses the parts of c that were already read.
func (rt *router) read(ctx context.Context, r *Request, c *call) (rule rule, err error) {
	to, badQuery, err := c.route()
	if err == nil {
		err = c.settle()
	}
	if to.Action == "webauthn-options" && to.Provider == "" {
		to.Provider = rt.passkeys
	}
	if p := rt.byID[to.Provider]; p != nil {
		c.providerID, c.kind, c.flow = p.id, p.kind, p.flow
	}
	if err != nil {
		return rule, err
	}
	rule, known := rt.rules[route{r.Method, to.Rule}]
	lenient := rule.ends || to.Plugin // a callback URL stops neither a sign-out nor an action of a plugin
	if badQuery != nil && (!lenient || r.Method != http.MethodPost) {
		return rule, badQuery
	}
	c.settleLocale(ctx, c.askedLocale())
	if !lenient {
		foreign := to.Action == "signin" || to.Action == "callback"
		if err := callbackurl.Validate(c.query.Get("callbackUrl"), c.at, foreign); err != nil {
			return rule, NewError(autherr.InvalidCallbackURL, err)
		}
	}
	var unreadable error
	if c.fields, unreadable = readBody(ctx, r); unreadable != nil && !rule.ends {
		return rule, unreadable
	}
	if to.Provider != "" && c.flow == nil {
		return rule, errorf(ErrAuth, "%w", errormarks.ByClient(problems.ErrNoProvider))
	}
	if !rule.bare {
		if c.csrf, err = c.checkCSRF(c.fields); err != nil {
			return rule, err
		}
	}
	if unreadable != nil && (rule.csrf == nil || rule.csrf(c) && !c.csrf.Verified) {
		return rule, unreadable
	}
	if lenient {
		c.callbackURL = c.callbackURLOrHome(ctx)
	} else if c.callbackURL, err = c.arrival.callbackURL(ctx, c.text("callbackUrl")); err != nil {
		return rule, err
	}
	if !known {
		return rule, rt.unknown(r, to.Plugin, to.Rule, c.action)
	}
	if rule.csrf != nil && rule.csrf(c) && !c.csrf.Verified {
		return rule, errorf(ErrMissingCSRF, "%s: %s", c.action, c.csrf.Refusal)
	}
	if rule.browsing {
		if err = c.refuseBearer(); err != nil {
			return rule, err
		}
	}
	if rule.session {
		err = rt.sessions.readFor(ctx, &rule, c)
	}
	return rule, err
}

// callbackURLOrHome is callbackURL for an action that ends something: no callback URL stops it. An unusable URL is
// logged, and the browser goes to the home page.
func (c *call) callbackURLOrHome(ctx context.Context) callbackurl.Choice {
	urls, err := c.arrival.callbackURL(ctx, c.text("callbackUrl"))
	if err == nil {
		return urls
	}
	level := errormarks.ByClient
	if c.redirect != nil { // the application's callback may have failed
		level = errormarks.ByServer
	}
	c.log.failure(ctx, errorf(autherr.InvalidCallbackURL, "%s continues to the home page: %w", c.action, level(err)),
		c.attrs()...)
	return callbackurl.Choice{Target: c.home}
}

// unknown returns the error for a request that no action handles.
func (rt *router) unknown(r *Request, plugin bool, rule, action string) error {
	if plugin {
		if methods := rt.site.plugins.Methods(rule); methods != nil {
			return &Problem{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", allow: methods}
		}
		return &Problem{Status: http.StatusNotFound, Code: "not_found"}
	}
	return errorf(ErrUnknownAction, "%s %s is not an action", r.Method, action)
}

// misconfigured returns the response to a request if no Auth could be selected for it: the error page, without details,
// or JSON if the action has no pages. The configuration errors are logged.
func misconfigured(ctx context.Context, r *Request, err error) *Response {
	c, pages, faults := withoutAuth(r, err)
	if _, document := wellknown.Name(r.Target); !document && !errors.Is(faults, ErrNoTenant) {
		if _, _, err := c.route(); err != nil {
			return c.complete(pages.fail(ctx, c, err, nil))
		}
	}
	return refuseAll(ctx, c, pages, faults)
}

// refuseAll logs the configuration errors and responds with status 500, or 404 to a request without a tenant.
func refuseAll(ctx context.Context, c *call, pages *pages, faults *ConfigError) *Response {
	logAll(ctx, &c.arrival, faults)
	response := &Response{Err: faults}
	if errors.Is(faults, ErrNoTenant) {
		return c.complete(pages.notFound(ctx, &c.arrival, response))
	}
	return c.complete(pages.serverError(ctx, c, response))
}

// preflight returns the response to a CORS preflight request of a trusted origin, or nil if the request is not one.
func (s *site) preflight(r *Request) *Response {
	if !s.cors.IsPreflight(r.Method, r.Header) {
		return nil
	}
	response := finish(r, &Response{Status: http.StatusNoContent})
	s.cors.Preflight(r.Header, response.Header)
	return response
}

// asset returns the response to a GET request for an asset, or nil if the request is for something else.
func (s *site) asset(r *Request) *Response {
	if !isSafe(r.Method) {
		return nil
	}
	file := assets.Find(r.Target, s.basePath)
	if file == nil || file == assets.OneTapScript && !s.oneTap {
		return nil
	}
	response := &Response{}
	if response.Header, response.Body = file.Response(r.Target, r.Header); response.Body == nil {
		response.Status = http.StatusNotModified
	}
	response = finish(r, response)
	s.cors.Share(r.Header, response.Header)
	return response
}
