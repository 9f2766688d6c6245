package tokens

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// App is a program of yours that signs users in. It is a public client (RFC 6749 section 2.1): it has no secret,
// because everyone who has the program could read it.
type App struct {
	// ID is the client_id: at most 64 letters, digits, dots, hyphens and underscores.
	ID string
	// Name is shown to users, for example "Acme CLI".
	Name string
	// RedirectURIs are where the browser returns to the program after a sign-in. Without one, the program can only use
	// the device flow. A URI must match exactly, except that the port of an http URI on the same computer is ignored,
	// because a program listens on any free port (RFC 8252 section 7.3). Possible URIs are:
	//   - http with 127.0.0.1, [::1] or localhost, for programs that open a port;
	//   - https, for apps that the system opens for a link ("app links");
	//   - a scheme of the app with a dot, such as "com.example.app:/callback".
	RedirectURIs []string
	// Device permits the device flow (RFC 8628), for programs on computers without a browser.
	Device bool
	// IDTokens permits the exchange of ID tokens (RFC 8693), for apps that sign users in with an SDK of Apple or Google.
	// It maps the ID of an OpenID Connect provider in Config.Providers to the client IDs that the app has there: for
	// Apple the bundle IDs, for Google the client IDs of iOS, Android and the server. The audience and azp of an ID
	// token must be among them. Users who need a second factor sign in in the browser, so set RedirectURIs too.
	IDTokens map[string][]string
	// Scopes are the operations that the app can be permitted. A program that requests no scope gets all of them.
	Scopes []Scope
	// Resources are the services that the app can request signed access tokens for, with the parameter resource
	// (RFC 8707), such as "https://app.example/mcp". Each is an audience of Options.AccessTokens. The tokens have the
	// scopes that the app and the audience have in common. A request without a resource gets tokens for this site.
	Resources []string
}

// Scope is something that an app can be allowed to do.
type Scope struct {
	// Name consists of segments of lower-case letters, digits, dots and hyphens, separated by colons, such as
	// "orders:read"; see [core.Principal.Allows].
	Name string
	// Label is shown to users, for example "Read orders". The default is Name.
	Label string
}

func (a App) clone() App {
	a.RedirectURIs, a.Scopes, a.Resources = slices.Clone(a.RedirectURIs), slices.Clone(a.Scopes), slices.Clone(a.Resources)
	a.IDTokens = maps.Clone(a.IDTokens)
	for provider, clientIDs := range a.IDTokens {
		a.IDTokens[provider] = slices.Clone(clientIDs)
	}
	for i := range a.Scopes {
		if a.Scopes[i].Label == "" {
			a.Scopes[i].Label = a.Scopes[i].Name
		}
	}
	return a
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// check returns the problems of the app, as they follow its place in the options.
func (a *App) check() (problems []string) {
	if a.ID == "" || len(a.ID) > 64 || strings.Trim(a.ID, alphanumeric+".-_") != "" {
		problems = append(problems, fmt.Sprintf(".ID is %.80q: use at most 64 letters, digits, dots, hyphens and underscores",
			a.ID))
	}
	if a.Name == "" {
		problems = append(problems, ".Name is empty: set the name that users see")
	}
	if len(a.RedirectURIs) == 0 && !a.Device && len(a.IDTokens) == 0 {
		problems = append(problems, ": users cannot sign in: set RedirectURIs, Device or IDTokens")
	}
	for _, provider := range slices.Sorted(maps.Keys(a.IDTokens)) {
		if ids := a.IDTokens[provider]; len(ids) == 0 || slices.Contains(ids, "") {
			problems = append(problems, fmt.Sprintf(".IDTokens[%q] is empty or has an empty client ID: list the client IDs of "+
				"the app at the provider", provider))
		}
	}
	for i, text := range a.RedirectURIs {
		if err := checkRedirectURI(text); err != nil {
			problems = append(problems, fmt.Sprintf(".RedirectURIs[%d] is %q: %v", i, text, err))
		}
	}
	for i, s := range a.Scopes {
		if !isScope(s.Name) {
			problems = append(
				problems,
				fmt.Sprintf(".Scopes[%d].Name is %q: use segments of lower-case letters, digits, dots and "+
					"hyphens, separated by colons, such as orders:read", i, s.Name),
			)
		}
	}
	return problems
}

func isScope(s string) bool {
	for segment := range strings.SplitSeq(s, ":") {
		if segment == "" || strings.Trim(segment, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
			return false
		}
	}
	return len(s) <= 100 && s != offlineAccess
}

// checkRedirectURI returns why a URI cannot be in App.RedirectURIs, or nil.
func checkRedirectURI(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.Contains(text, "#"):
		return errors.New("it must be a URI without a fragment")
	case u.User != nil:
		return errors.New("it must not have a user name")
	case u.Scheme == "https" && u.Host != "":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return errors.New("http is only possible on the same computer: use https, or http with 127.0.0.1")
	case strings.Contains(u.Scheme, "."):
		return nil
	}
	return errors.New("use https, http with 127.0.0.1, or a scheme with a dot, such as com.example.app:/callback")
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// accepts reports whether a redirect_uri of a request is one of the app's.
func (a *App) accepts(text string) bool {
	if checkRedirectURI(text) != nil {
		return false
	}
	return slices.Contains(a.RedirectURIs, text) ||
		slices.ContainsFunc(
			a.RedirectURIs,
			func(own string) bool { return loopback(own) != "" && loopback(own) == loopback(text) },
		)
}

// loopback returns an http URI on the same computer without its port, or "" for another URI.
func loopback(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" { // checkRedirectURI permits no other host
		return ""
	}
	u.Host = u.Hostname()
	return u.String()
}

// app returns the app with this ID, or nil.
func (t *Tokens) app(id string) *App {
	for i := range t.options.Apps {
		if t.options.Apps[i].ID == id {
			return &t.options.Apps[i]
		}
	}
	return nil
}

// offlineAccess is a scope that clients send to request a refresh token. Every app gets one.
const offlineAccess = "offline_access"

// scopes returns the scopes of a request for these resources, or all possible ones if it requests none. ok is false if
// one is not possible.
func (t *Tokens) scopes(app *App, asked string, resources []string) (names []string, ok bool) {
	for _, name := range strings.Fields(asked) {
		if name == offlineAccess || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
	}
	if names == nil {
		for _, s := range app.Scopes {
			names = append(names, s.Name)
		}
		return t.allowed(app, names, resources...), true
	}
	return names, len(t.allowed(app, names, resources...)) == len(names)
}

// allowed returns the names that are scopes of the app, and of one of the resources if there are any. An application
// can remove a scope from an app, which ends it for all tokens.
func (t *Tokens) allowed(app *App, names []string, resources ...string) (allowed []string) {
	for _, name := range names {
		of := func(resource string) bool {
			scopes, _ := t.options.AccessTokens.AudienceScopes(resource)
			return slices.Contains(scopes, name)
		}
		if slices.ContainsFunc(app.Scopes, func(s Scope) bool { return s.Name == name }) &&
			(len(resources) == 0 || slices.ContainsFunc(resources, of)) {
			allowed = append(allowed, name)
		}
	}
	return allowed
}
