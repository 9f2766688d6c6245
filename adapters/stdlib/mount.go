package authhttp

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Mount registers the auth routes below the base path. All patterns have a method, so they do not conflict with a
// pattern for the rest of the site: "GET /", "GET /{path...}" or "POST /{form}".
//
// A pattern with a wildcard before a name, such as "GET /{tenant}/settings", overlaps with the patterns for unknown
// paths below the base path. A page of the application that replaces a built-in one overlaps too if its pattern has no
// method: "/auth/signin". Register such patterns before Mount, which then omits the patterns that overlap with them.
// Pages with a method, "GET /auth/signin", can be registered before or after.
//
// A pattern with a host, such as "app.example/", takes precedence over all patterns without one. The auth routes are
// then unreachable on this host.
//
// Mount panics if conflicts leave no pattern at all, for example because the auth routes are already mounted.
func (a *Adapter) Mount(mux *http.ServeMux) {
	m := mounting{mux: mux, handler: a, base: a.auth.MountPath("")}
	for _, route := range a.auth.Routes() {
		if strings.HasPrefix(route.Path, m.base+"/") {
			m.routes = append(m.routes, route)
		}
	}
	for _, route := range m.routes {
		if !m.isPage(route) {
			m.try(route.Method, route.Path)
		}
	}
	if len(m.routes) > 0 && m.mounted == 0 {
		panic(m.conflict)
	}
	for _, method := range []string{"GET", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"} {
		m.below(method)
	}
	if m.mounted == 0 {
		panic(m.conflict)
	}
}

// MountWellKnown registers the documents outside of the base path, such as /.well-known/change-password, for GET and
// HEAD requests. They depend on the plugins and providers; see [core.Auth.WellKnownPaths].
func (a *Adapter) MountWellKnown(mux *http.ServeMux) {
	for _, path := range a.auth.WellKnownPaths() {
		mux.Handle("GET "+strings.Replace(path, "*", "{name...}", 1), a)
	}
}

// mounting registers patterns on a mux, except those that conflict.
type mounting struct {
	mux     *http.ServeMux
	handler http.Handler
	base    string
	routes  []core.Route

	mounted  int
	conflict any // of the last pattern that was left out
}

// below registers all paths below the base path that have as many segments as a route can have, and one more, so that
// core responds to unknown paths. If the application has patterns in between, the routes themselves are registered.
func (m *mounting) below(method string) {
	m.try(method, m.base+"/{$}")
	for i, pattern := range []string{"/{action}", "/{action}/{name}", "/{action}/{name}/{more...}"} {
		segments := i + 1
		if segments < 3 {
			m.try(method, m.base+pattern+"/{$}")
		}
		if m.try(method, m.base+pattern) {
			continue
		}
		for _, route := range m.routes {
			depth := strings.Count(strings.TrimPrefix(route.Path, m.base), "/")
			if depth == segments && (method == route.Method || method == http.MethodOptions) && !m.taken(method, route.Path) {
				m.try(method, route.Path)
			}
		}
	}
}

// isPage reports whether an application may register its own page instead of a route. The three routes that browsers
// request most often are excluded, because net/http allocates for each wildcard.
func (m *mounting) isPage(route core.Route) bool {
	name := strings.TrimPrefix(route.Path, m.base+"/")
	return route.Method == http.MethodGet && !strings.Contains(name, "/") &&
		name != "session" && name != "csrf" && name != "providers"
}

// taken reports whether the mux has a pattern for exactly this path.
func (m *mounting) taken(method, path string) bool {
	_, pattern := m.mux.Handler(&http.Request{Method: method, URL: &url.URL{Path: path}})
	return strings.TrimPrefix(pattern, method+" ") == path
}

// try registers a pattern and reports whether that succeeded.
func (m *mounting) try(method, path string) (ok bool) {
	defer func() {
		if r := recover(); r != nil { // the mux panics on a conflict and stays unchanged
			m.conflict, ok = fmt.Sprintf("authhttp: mount the auth routes: %v", r), false
		}
	}()
	m.mux.Handle(method+" "+path, m.handler)
	m.mounted++
	return true
}
