// Package authhttp serves Latchkey with net/http.
//
//	a := authhttp.New(auth)
//	a.Mount(mux)                                                  // sign-in page, callbacks, session JSON under /auth
//	mux.Handle("GET /account", a.Hook()(a.RequireSession()(account)))
//
// It translates and decides nothing: every rule is core's. The adapters of gin and echo stand on it.
package authhttp

import (
	"context"
	"net/http"
	"strconv"

	"github.com/latchkey-go/latchkey/core"
)

// Adapter carries requests between net/http and core. It is safe for concurrent use; make it with [New].
type Adapter struct{ selector core.Selector }

// New returns an Adapter for an *core.Auth, or for a [core.PerRequest] that chooses one.
func New(s core.Selector) *Adapter { return &Adapter{selector: s} }

// Mount registers the auth routes, all methods, below the base path.
func (a *Adapter) Mount(mux *http.ServeMux) { mux.Handle(a.selector.BasePath()+"/", a) }

// ServeHTTP answers a request to the auth routes.
func (a *Adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	Write(w, core.Serve(r.Context(), a.selector, Request(r)))
}

// Hook makes the session available to the handlers behind it: read on first use, once per request. The visit's cookies
// are set just before the header goes out, or when the handler has returned.
func (a *Adapter) Hook() func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if a.Visited(r.Context()) {
				next.ServeHTTP(w, r)
				return
			}
			a.visit(w, r, next)
		})
	}
}

func (a *Adapter) visit(w http.ResponseWriter, r *http.Request, next http.Handler) {
	visit := a.Begin(r)
	next.ServeHTTP(NewWriter(w, visit), r.WithContext(visit))
	visit.Commit(w.Header())
}

// Begin starts the visit of a request, whose context it is. Hooks of routers on top of net/http call it, and commit the visit.
func (a *Adapter) Begin(r *http.Request) *core.Visit {
	return core.Begin(r.Context(), a.selector, Request(r))
}

// RequireSession lets only signed-in visitors through: others get 303 to the sign-in page, or 401 where no page was
// asked for (docs/protocol.md §7.9). It works with and without the hook in front.
func (a *Adapter) RequireSession() func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if a.Admit(r.Context(), w) {
				next.ServeHTTP(w, r)
			}
		})
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if a.Visited(r.Context()) {
				guarded.ServeHTTP(w, r)
				return
			}
			a.visit(w, r, guarded)
		})
	}
}

// Visited reports whether a hook of the same Auth is in front. The visit of another Auth does not count.
func (a *Adapter) Visited(ctx context.Context) bool { return core.VisitOf(ctx, a.selector) != nil }

// Admit reports whether the visit in ctx may go on; otherwise it has answered in the handler's place.
func (a *Adapter) Admit(ctx context.Context, w http.ResponseWriter) bool {
	_, refusal := core.VisitOf(ctx, a.selector).Require()
	if refusal != nil {
		Write(w, refusal)
	}
	return refusal == nil
}

// Session returns the visitor's session, nil without one; see [core.SessionFrom].
func Session(r *http.Request) (*core.Session, error) { return core.SessionFrom(r.Context()) }

// SignIn answers a form of the application that starts a sign-in: see [core.SignInAction].
func (a *Adapter) SignIn(w http.ResponseWriter, r *http.Request) { a.form(w, r, core.SignInAction) }

// SignOut answers a form of the application that signs out: see [core.SignOutAction].
func (a *Adapter) SignOut(w http.ResponseWriter, r *http.Request) { a.form(w, r, core.SignOutAction) }

func (a *Adapter) form(w http.ResponseWriter, r *http.Request, action func(context.Context, core.Selector, *core.Request) *core.Response) {
	Write(w, action(r.Context(), a.selector, Request(r)))
}

// Request hands over what net/http received, as it came: core parses it.
func Request(r *http.Request) *core.Request {
	scheme, target := "http", r.RequestURI
	if r.TLS != nil {
		scheme = "https"
	}
	if target == "" { // a request that was made rather than received
		target = r.URL.RequestURI()
	}
	return &core.Request{
		Method: r.Method, Target: target, Hosts: []string{r.Host}, Scheme: scheme, RemoteAddr: r.RemoteAddr, Header: r.Header, Body: r.Body,
	}
}

// Write writes an answer of core and adds nothing but its length.
func Write(w http.ResponseWriter, response *core.Response) {
	h := w.Header()
	for name, values := range response.Header {
		h[name] = values
	}
	for _, c := range response.Cookies {
		h.Add("Set-Cookie", c.String())
	}
	if len(response.Body) > 2048 { // net/http would send it in chunks
		h["Content-Length"] = []string{strconv.Itoa(len(response.Body))}
	}
	w.WriteHeader(response.Status)
	_, _ = w.Write(response.Body) // the browser may have left
}
