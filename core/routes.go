package core

import (
	"cmp"
	"net/http"
	"slices"
)

// Route is a request that an [Auth] answers, for tools that list what an application offers.
type Route struct {
	// Method is GET or POST.
	Method string `json:"method"`
	// Path begins with the base path, as the application sees it, and names the provider where the action has one.
	Path string `json:"path"`
	// Part is the [Part] that has the action, as faults name it; empty: core has it.
	Part string `json:"part,omitempty"`
	// CSRF: the request repeats the CSRF token, or proves by Config.CSRF that it comes from this site.
	CSRF bool `json:"csrf"`
	// Guards is how many guards are asked first; with one or more, visitors without a session are sent to sign in.
	Guards int `json:"guards"`
	// Attempt is what is counted before the action runs; empty: nothing.
	Attempt Attempt `json:"attempt,omitempty"`
}

// Routes lists the requests that the Auth answers, by path and method. One of [PerRequest] has none of its own.
func (a *Auth) Routes() []Route {
	var all []Route
	for at, rule := range a.router.rules {
		if part := a.parts.action(at); part != nil {
			all = append(all, Route{
				Method: at.method, Path: a.site.basePath + "/" + at.action, Part: part.part, CSRF: rule.csrf != nil,
				Guards: len(part.Require), Attempt: part.Attempt,
			})
			continue
		}
		all = append(all, routesOf(a, at, rule)...)
	}
	if a.router.rules == nil { // an Auth of PerRequest
		return nil
	}
	for _, asset := range assets {
		all = append(all, Route{Method: http.MethodGet, Path: a.site.basePath + "/" + asset.name})
	}
	slices.SortFunc(all, func(x, y Route) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Method, y.Method))
	})
	return all
}

// routesOf lists an action of core: once, or for each provider that it works with.
func routesOf(a *Auth, at route, rule rule) (all []Route) {
	path := a.site.basePath + "/" + at.action
	works := perProvider(at)
	if works == nil {
		return []Route{{Method: at.method, Path: path, CSRF: rule.csrf != nil}}
	}
	for _, p := range a.providers {
		if works(p) {
			all = append(all, Route{
				Method: at.method, Path: path + "/" + p.id, CSRF: rule.csrf != nil && rule.csrf(&call{flow: p.flow}),
			})
		}
	}
	return all
}

// perProvider tells which providers an action works with; nil: its path names none.
func perProvider(at route) func(*provider) bool {
	oauth := func(p *provider) bool { return p.oauth != nil }
	outside := func(p *provider) bool { return p.oauth != nil || p.email != nil }
	switch at {
	case route{http.MethodPost, "signin"}, route{http.MethodGet, "callback"}:
		return outside
	case route{http.MethodPost, "callback"}:
		return func(p *provider) bool { return !outside(p) || oauth(p) && p.oauth.formPost }
	case route{http.MethodGet, "webauthn-options"}:
		return func(p *provider) bool { return p.webauthn != nil }
	case route{http.MethodGet, "logout"}:
		return func(p *provider) bool { return p.oauth != nil && p.oauth.Logout == On }
	case route{http.MethodPost, "backchannel-logout"}:
		return func(p *provider) bool { return p.kind == TypeOIDC }
	}
	return nil
}

// action is the one of a part that a route belongs to; nil: none.
func (ps *parts) action(at route) *partAction {
	for _, a := range ps.actions {
		if a.Method == at.method && a.path() == at.action {
			return a
		}
	}
	return nil
}

// OAuthProviders are the OAuth and OpenID providers as New completed them from the environment and with defaults, in
// order. They are copies, for tools that check or list them; endpoints that are discovered are empty.
func (a *Auth) OAuthProviders() []*OAuthProvider {
	var all []*OAuthProvider
	for _, p := range a.providers {
		if p.oauth != nil {
			declared := p.oauth.OAuthProvider
			all = append(all, &declared)
		}
	}
	return all
}

// EmailProviders are the e-mail providers as New completed them, in order; they are copies.
func (a *Auth) EmailProviders() []*EmailProvider {
	var all []*EmailProvider
	for _, p := range a.providers {
		if p.email != nil {
			declared := *p.email
			all = append(all, &declared)
		}
	}
	return all
}
