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

	"github.com/gin-gonic/gin"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// Adapter carries requests between gin and core. It is safe for concurrent use; make it with [New].
type Adapter struct{ auth *core.Auth }

// New returns an Adapter for an Auth, of [core.New] or [core.PerRequest].
func New(auth *core.Auth) *Adapter { return &Adapter{auth} }

// Mount registers all methods and all paths below the base path. The application can register its own page below it
// instead of a built-in one, before or after. On a group whose prefix the base path begins with, Mount registers the
// rest. On any other group the routes would be outside the base path: Mount panics.
func (a *Adapter) Mount(r gin.IRoutes) {
	prefix := ""
	if group, ok := r.(interface{ BasePath() string }); ok {
		prefix = group.BasePath()
	}
	for _, path := range []string{"/", "/:action", "/:action/", "/:action/:name", "/:action/:name/*more"} {
		r.Any(a.auth.MountPath(prefix)+path, a.Handler) // one wildcard for all would exclude pages of the application
	}
}

// Handler answers a request to the auth routes.
func (a *Adapter) Handler(c *gin.Context) {
	authhttp.Write(c.Writer, ask(c, a.auth.Handle))
}

// Hook makes the session available to the handlers behind it: read on first use, once per request.
func (a *Adapter) Hook() gin.HandlerFunc {
	return func(c *gin.Context) { a.visit(c, c.Next) }
}

func (a *Adapter) visit(c *gin.Context, next func()) {
	if core.VisitOf(c.Request.Context(), a.auth) != nil { // a hook of the same Auth is in front
		next()
		return
	}
	visit := a.auth.Visit(c.Request.Context(), authhttp.Request(c.Request))
	header := c.Writer.Header() // of this answer: behind a timeout the context may be another visitor's when next returns
	c.Request, c.Writer = c.Request.WithContext(visit), &writer{c.Writer, visit}
	next()
	visit.Commit(header)
}

// RequireSession lets only signed-in visitors through: others get 303 to the sign-in page, or 401 where no page was
// asked for (docs/protocol.md §7.9). It is a hook too, and works behind another.
// Guards are asked after that, in their order: [core.Fresh], or the application's own.
func (a *Adapter) RequireSession(guards ...core.Guard) gin.HandlerFunc {
	return a.RequireSessionWhere(nil, guards...)
}

// RequireSessionWhere is RequireSession for the requests that where picks, such as [core.Under]("/admin"): in front of
// all routes at once. Others pass, and have the hook.
func (a *Adapter) RequireSessionWhere(where func(*core.Request) bool, guards ...core.Guard) gin.HandlerFunc {
	return func(c *gin.Context) {
		a.visit(c, func() {
			at := core.At(where, c.Request.URL.Path, "")
			if _, refusal := core.VisitOf(c.Request.Context(), a.auth).RequireWhere(at, guards...); refusal != nil {
				authhttp.Write(c.Writer, refusal)
				c.Abort()
				return
			}
			c.Next()
		})
	}
}

// Session returns the visitor's session, nil without one, behind the hook; see [core.SessionFrom].
func Session(c *gin.Context) (*core.Session, error) { return core.SessionFrom(c.Request.Context()) }

// Session returns the visitor's session in one call, nil without one, with a hook in front or without. What it sets is
// in the answer's header: call it before the header goes out; see [core.Auth.Session].
func (a *Adapter) Session(c *gin.Context) (*core.Session, error) {
	return a.auth.Session(c.Request.Context(), authhttp.Request(c.Request), c.Writer.Header())
}

// SignIn answers a form of the application that starts a sign-in: see [core.Auth.SignIn].
func (a *Adapter) SignIn(c *gin.Context) {
	authhttp.Write(c.Writer, ask(c, a.auth.SignIn))
}

// SignOut answers a form of the application that signs out: see [core.Auth.SignOut].
func (a *Adapter) SignOut(c *gin.Context) {
	authhttp.Write(c.Writer, ask(c, a.auth.SignOut))
}

// TrySignIn is SignIn for handlers that answer failures themselves: where the sign-in fails it answers nothing and
// returns the error; see [core.Response.Failure].
func (a *Adapter) TrySignIn(c *gin.Context) error {
	return authhttp.WriteOrFail(c.Writer, ask(c, a.auth.SignIn))
}

// TrySignOut is SignOut for handlers that answer failures themselves, as TrySignIn is for sign-ins.
func (a *Adapter) TrySignOut(c *gin.Context) error {
	return authhttp.WriteOrFail(c.Writer, ask(c, a.auth.SignOut))
}

// TrySignInWith is TrySignIn for components: it starts a sign-in with an input of the application in place of a form;
// see [core.Auth.SignInWith]. What is wrong with the input is a *[core.InvalidInputError].
func (a *Adapter) TrySignInWith(c *gin.Context, in core.SignInInput) error {
	return authhttp.WriteOrFail(c.Writer, a.auth.SignInWith(c.Request.Context(), authhttp.Request(c.Request), in))
}

// TrySignOutWith is TrySignInWith for signing out.
func (a *Adapter) TrySignOutWith(c *gin.Context, in core.SignOutInput) error {
	return authhttp.WriteOrFail(c.Writer, a.auth.SignOutWith(c.Request.Context(), authhttp.Request(c.Request), in))
}

// ask calls a method of core that reads the body, which c.ShouldBindBodyWith may have kept in c.
func ask(c *gin.Context, entry func(context.Context, *core.Request) *core.Response) *core.Response {
	if kept, ok := c.Get(gin.BodyBytesKey); ok {
		if body, ok := kept.([]byte); ok {
			return authhttp.AskWithBody(c.Request, body, entry)
		}
	}
	return authhttp.Ask(c.Request, entry)
}

// writer commits a visit before the header goes out. What the handler has not written goes out when the hook has
// committed it.
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

// Unwrap is for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
