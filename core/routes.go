package core

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/actions"
	"github.com/latchkey-go/latchkey/core/internal/assets"
	"github.com/latchkey-go/latchkey/core/internal/wellknown"
	"github.com/latchkey-go/latchkey/core/limit"
)

// Route describes a request that an [Auth] answers. It is for tools that list the routes of an application.
type Route struct {
	// Method is GET or POST.
	Method string `json:"method"`
	// Path is the path as the application receives it. It begins with the base path and includes the provider if the
	// action has one. Documents of [Auth.WellKnownPaths] are outside of the base path.
	Path string `json:"path"`
	// Plugin is the name of the [Plugin] of the action, as in configuration errors. It is empty for actions of
	// core.
	Plugin string `json:"plugin,omitempty"`
	// CSRF reports whether the request must contain the CSRF token or other proof accepted by Config.CSRF.
	CSRF bool `json:"csrf"`
	// Guards is the number of guards that run first. If there are any, users without a session are redirected to sign in.
	Guards int `json:"guards"`
	// Attempt is the rate limit that applies to the action. It is empty if there is none.
	Attempt limit.Attempt `json:"attempt,omitempty"`
	// Programs reports whether programs call the action, with a bearer token or without a session: see [Action].Programs
	// and NoCookies.
	Programs bool `json:"programs,omitempty"`
	// Provider is the ID of the provider at the end of Path, or empty.
	Provider string `json:"provider,omitempty"`
	// Summary is that of the [Action]. Input and Output are the types of its members of these names, or nil.
	Summary       string       `json:"summary,omitempty"`
	Input, Output reflect.Type `json:"-"`
}

// Routes lists the requests that the Auth answers, sorted by path and method. It returns nil for an Auth made by
// [PerRequest].
func (a *Auth) Routes() []Route {
	var all []Route
	for at, rule := range a.router.rules {
		if plugin := a.plugins.action(at); plugin != nil {
			name, provider := plugin.plugin, ""
			if name == actions.Reauth { // an action of core; its verb is a provider
				name, provider = "", plugin.Verb
			}
			all = append(all, Route{
				Method: at.method, Path: a.site.basePath + "/" + at.action, Plugin: name, Provider: provider,
				CSRF:   rule.csrf != nil,
				Guards: len(plugin.Require), Attempt: plugin.Attempt, Programs: plugin.Programs || plugin.NoCookies,
				Summary: plugin.Summary, Input: reflect.TypeOf(plugin.Input),
				Output: reflect.TypeOf(plugin.Output),
			})
			continue
		}
		all = append(all, routesOf(a, at, rule)...)
	}
	if a.router.rules == nil { // an Auth of PerRequest
		return nil
	}
	for name, document := range a.plugins.documents {
		all = append(all, Route{Method: http.MethodGet, Path: wellknown.Path + "/" + name, Plugin: document.plugin})
	}
	for _, asset := range assets.All {
		if asset == assets.OneTapScript && !a.site.oneTap { // it is not served
			continue
		}
		all = append(all, Route{Method: http.MethodGet, Path: a.site.basePath + "/" + asset.Name})
	}
	slices.SortFunc(all, func(x, y Route) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Method, y.Method))
	})
	return all
}

// routesOf lists the routes of an action of core: one, or one for each provider that supports it.
func routesOf(a *Auth, at route, rule rule) (all []Route) {
	path := a.site.basePath + "/" + at.action
	works := perProvider(at)
	if works == nil {
		return []Route{{Method: at.method, Path: path, CSRF: rule.csrf != nil}}
	}
	for _, p := range a.providers {
		if works(p) {
			all = append(all, Route{
				Method: at.method, Path: path + "/" + p.id, Provider: p.id,
				CSRF: rule.csrf != nil && rule.csrf(&call{flow: p.flow}),
			})
		}
	}
	return all
}

// perProvider returns a function that reports whether a provider supports an action. It returns nil if the action's
// path names no provider.
func perProvider(at route) func(*provider) bool {
	oauth := func(p *provider) bool { return p.oauth != nil }
	outside := func(p *provider) bool { return p.oauth != nil || p.email != nil }
	switch at {
	case route{http.MethodPost, "signin"}, route{http.MethodGet, "callback"}:
		return outside
	case route{http.MethodPost, "callback"}:
		return func(p *provider) bool { return !outside(p) || oauth(p) && p.oauth.flow.Provider.FormPost }
	case route{http.MethodGet, "webauthn-options"}:
		return func(p *provider) bool { return p.webauthn != nil }
	case route{http.MethodGet, "logout"}:
		return func(p *provider) bool { return p.oauth != nil && p.oauth.Logout == True }
	case route{http.MethodPost, "backchannel-logout"}:
		return func(p *provider) bool { return p.kind == TypeOIDC }
	}
	return nil
}

// action returns the plugin action of a route, or nil.
func (ps *plugins) action(at route) *pluginAction {
	for _, a := range ps.actions {
		if a.Method == at.method && a.path() == at.action {
			return a
		}
	}
	return nil
}

// OAuthProviders returns copies of the OAuth and OpenID Connect providers, completed from the environment and with
// defaults, in the configured order. It is for tools that check or list them. Discovered endpoints are empty.
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

// EmailProviders returns copies of the completed email providers, in the configured order.
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
