// Package authgin serves Latchkey with gin.
//
//	a := authgin.New(auth)
//	a.Mount(r)                                     // sign-in page, callbacks, session JSON under /auth
//	r.Use(a.Hook())                                // authgin.Session(c)
//	r.GET("/account", a.RequireSession(), account)
package authgin

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// Adapter translates requests and responses between gin and core. It is safe for concurrent use. Create it with [New].
type Adapter struct{ auth *core.Auth }

// New returns an Adapter for auth, which was created with [core.New] or [core.PerRequest].
func New(auth *core.Auth) *Adapter { return &Adapter{auth} }

// Mount registers all methods and all paths below the base path. The application can replace a built-in page with its
// own: it registers the path of the page before or after Mount.
//
// If r is a group, its prefix must be the beginning of the base path: Mount registers the rest of the path on it. For
// any other group the routes would be outside the base path, and Mount panics.
func (a *Adapter) Mount(r gin.IRoutes) {
	prefix := ""
	if group, ok := r.(interface{ BasePath() string }); ok {
		prefix = group.BasePath()
	}
	for _, path := range []string{"/", "/:action", "/:action/", "/:action/:name", "/:action/:name/*more"} {
		r.Any(a.auth.MountPath(prefix)+path, a.Handler) // a single wildcard would conflict with pages of the application
	}
}

// MountWellKnown registers the documents outside of the base path, such as /.well-known/change-password, for GET and
// HEAD requests. They depend on the plugins and providers; see [core.Auth.WellKnownPaths].
func (a *Adapter) MountWellKnown(r *gin.Engine) {
	for _, path := range a.auth.WellKnownPaths() {
		r.Match([]string{"GET", "HEAD"}, strings.Replace(path, "*", "*name", 1), a.Handler)
	}
}

// Handler handles a request to the auth routes.
func (a *Adapter) Handler(c *gin.Context) {
	authhttp.Write(c.Writer, call(c, a.auth.Handle))
}

// Hook is a middleware that makes the session available to the handlers after it. The session is read on first use,
// once per request.
func (a *Adapter) Hook() gin.HandlerFunc {
	return func(c *gin.Context) { a.visit(c, c.Next) }
}

func (a *Adapter) visit(c *gin.Context, next func()) {
	if core.VisitOf(c.Request.Context(), a.auth) != nil { // another hook of the same Auth has run
		next()
		return
	}
	visit := a.auth.Visit(c.Request.Context(), authhttp.Request(c.Request))
	header := c.Writer.Header() // of this response: after a timeout, c may already serve another request when next returns
	c.Request, c.Writer = c.Request.WithContext(visit), &writer{c.Writer, visit}
	next()
	visit.Commit(header)
}

// RequireSession is a middleware that lets only signed-in users through. Without a session, page requests are
// redirected to the sign-in page with 303, and other requests get 401 (docs/protocol.md §7.9).
//
// The guards run after that check, in order: [core.RecentSignIn], or guards of the application. RequireSession includes
// [Adapter.Hook], and also works after it.
func (a *Adapter) RequireSession(guards ...core.Guard) gin.HandlerFunc {
	return a.RequireSessionWhere(nil, guards...)
}

// RequireSessionWhere is RequireSession for the requests that where selects, for example [core.PathPrefix]("/admin").
// Use it to protect paths in one middleware for all routes. Other requests pass, and their handlers can read the
// session.
func (a *Adapter) RequireSessionWhere(where func(*core.Request) bool, guards ...core.Guard) gin.HandlerFunc {
	return a.guard(func(v *core.Visit, c *gin.Context) *core.Response {
		_, refusal := v.RequireWhere(core.At(where, c.Request.URL.Path, ""), guards...)
		return refusal
	})
}

// RequirePrincipal is a middleware for programs and users: it lets requests through that have a session or a valid
// credential of a plugin, such as an API key, and that all guards allow, for example [core.Scopes].
// [core.PrincipalFrom] returns who makes the request. It includes [Adapter.Hook].
func (a *Adapter) RequirePrincipal(guards ...core.PrincipalGuard) gin.HandlerFunc {
	return a.guard(func(v *core.Visit, _ *gin.Context) *core.Response {
		_, refusal := v.RequirePrincipal(guards...)
		return refusal
	})
}

// guard returns a middleware with the hook that sends the response of check, or calls the next handler if it is nil.
func (a *Adapter) guard(check func(*core.Visit, *gin.Context) *core.Response) gin.HandlerFunc {
	return func(c *gin.Context) {
		a.visit(c, func() {
			if refusal := check(core.VisitOf(c.Request.Context(), a.auth), c); refusal != nil {
				authhttp.Write(c.Writer, refusal)
				c.Abort()
				return
			}
			c.Next()
		})
	}
}

// Session returns the user's session, or nil if there is none. It needs the hook; see [core.SessionFrom].
func Session(c *gin.Context) (*core.Session, error) { return core.SessionFrom(c.Request.Context()) }

// LoadSession returns the user's session, or nil if there is none. It needs no hook. It may set response headers, so
// call it before the header is written; see [core.Auth.Session].
func (a *Adapter) LoadSession(c *gin.Context) (*core.Session, error) {
	return a.auth.Session(c.Request.Context(), authhttp.Request(c.Request), c.Writer.Header())
}

// SignIn handles the POST of a sign-in form in the application's own pages: see [core.Auth.SignIn].
func (a *Adapter) SignIn(c *gin.Context) {
	authhttp.Write(c.Writer, call(c, a.auth.SignIn))
}

// SignOut handles the POST of a sign-out form in the application's own pages: see [core.Auth.SignOut].
func (a *Adapter) SignOut(c *gin.Context) {
	authhttp.Write(c.Writer, call(c, a.auth.SignOut))
}

// StartSignIn starts a sign-in in a handler of the application that writes error responses itself. in is the input. If
// in is nil, the input is the form in the request, as in SignIn. If the sign-in fails, StartSignIn writes no response
// and returns the error (see [core.Response.Failure]), which is a *[core.InvalidInputError] for an invalid input.
func (a *Adapter) StartSignIn(c *gin.Context, in *core.SignInInput) error {
	return authhttp.WriteOrFail(c.Writer, call(c, func(ctx context.Context, r *core.Request) *core.Response {
		return a.auth.SignInWith(ctx, r, in)
	}))
}

// EndSession signs the user out in a handler of the application that writes error responses itself. in is the input. If
// it is nil, the fields of the form are used.
func (a *Adapter) EndSession(c *gin.Context, in *core.SignOutInput) error {
	return authhttp.WriteOrFail(c.Writer, call(c, func(ctx context.Context, r *core.Request) *core.Response {
		return a.auth.SignOutWith(ctx, r, in)
	}))
}

// call runs entry, which reads the request body. If c.ShouldBindBodyWith has read the body before, entry gets the copy
// that it saved in c.
func call(c *gin.Context, entry func(context.Context, *core.Request) *core.Response) *core.Response {
	if kept, ok := c.Get(gin.BodyBytesKey); ok {
		if body, ok := kept.([]byte); ok {
			return authhttp.AskWithBody(c.Request, body, entry)
		}
	}
	return authhttp.Ask(c.Request, entry)
}

// writer commits a visit before the header is written. If the handler has written nothing, gin writes the header after
// the hook has committed the visit.
type writer struct {
	gin.ResponseWriter
	visit *core.Visit
}

func (w *writer) commit() { w.visit.Commit(w.Header()) }

// WriteHeaderNow implements [gin.ResponseWriter].
func (w *writer) WriteHeaderNow() { w.commit(); w.ResponseWriter.WriteHeaderNow() }

// Write implements [http.ResponseWriter].
func (w *writer) Write(b []byte) (int, error) { w.commit(); return w.ResponseWriter.Write(b) }

// WriteString implements [io.StringWriter].
func (w *writer) WriteString(s string) (int, error) {
	w.commit()
	return w.ResponseWriter.WriteString(s)
}

// Flush implements [http.Flusher].
func (w *writer) Flush() { w.commit(); w.ResponseWriter.Flush() }

// Hijack implements [http.Hijacker].
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.commit()
	return w.ResponseWriter.Hijack()
}

// Unwrap supports [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
