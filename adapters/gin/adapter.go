// Package authgin serves Latchkey with gin.
//
//	a := authgin.New(auth)
//	a.Mount(r)                                     // sign-in page, callbacks, session JSON under /auth
//	r.Use(a.Hook())                                // authgin.Session(c)
//	r.GET("/account", a.RequireSession(), account)
package authgin

import (
	"bufio"
	"net"
	"net/http"

	"github.com/gin-gonic/gin"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// Adapter carries requests between gin and core. It is safe for concurrent use; make it with [New].
type Adapter struct {
	http *authhttp.Adapter
	base string
}

// New returns an Adapter for an *core.Auth, or for a [core.PerRequest] that chooses one.
func New(s core.Selector) *Adapter {
	return &Adapter{http: authhttp.New(s), base: s.BasePath()}
}

// Mount registers the auth routes, all methods, below the base path. On a group whose prefix the base path begins with it registers
// the rest; on any other group the routes would lie outside the base path: Mount panics.
func (a *Adapter) Mount(r gin.IRoutes) {
	path := a.base
	if group, ok := r.(interface{ BasePath() string }); ok {
		path = core.MountPath(a.base, group.BasePath())
	}
	r.Any(path+"/*latchkey", a.Handler)
}

// Handler answers a request to the auth routes.
func (a *Adapter) Handler(c *gin.Context) { a.http.ServeHTTP(c.Writer, c.Request) }

// Hook makes the session available to the handlers behind it: read on first use, once per request.
func (a *Adapter) Hook() gin.HandlerFunc {
	return func(c *gin.Context) {
		if !a.http.Visited(c.Request.Context()) {
			a.visit(c, c.Next)
		}
	}
}

func (a *Adapter) visit(c *gin.Context, next func()) {
	visit := a.http.Begin(c.Request)
	header := c.Writer.Header() // of this answer: behind a timeout the context may be another visitor's when next returns
	c.Request, c.Writer = c.Request.WithContext(visit), &writer{c.Writer, visit}
	next()
	visit.Commit(header)
}

// RequireSession lets only signed-in visitors through: others get 303 to the sign-in page, or 401 where no page was
// asked for (docs/protocol.md §7.9). It works with and without the hook in front.
func (a *Adapter) RequireSession() gin.HandlerFunc {
	return func(c *gin.Context) {
		guarded := func() {
			if a.http.Admit(c.Request.Context(), c.Writer) {
				c.Next()
			} else {
				c.Abort()
			}
		}
		if a.http.Visited(c.Request.Context()) {
			guarded()
			return
		}
		a.visit(c, guarded)
	}
}

// Session returns the visitor's session, nil without one; see [core.SessionFrom].
func Session(c *gin.Context) (*core.Session, error) { return core.SessionFrom(c.Request.Context()) }

// SignIn answers a form of the application that starts a sign-in: see [core.SignInAction].
func (a *Adapter) SignIn(c *gin.Context) { a.http.SignIn(c.Writer, c.Request) }

// SignOut answers a form of the application that signs out: see [core.SignOutAction].
func (a *Adapter) SignOut(c *gin.Context) { a.http.SignOut(c.Writer, c.Request) }

// writer commits a visit before the header goes out. What the handler has not written goes out when the hook has committed it.
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
