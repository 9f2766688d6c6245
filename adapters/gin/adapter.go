// Package authgin serves Latchkey with gin.
//
//	a := authgin.New(auth)
//	a.Mount(r)                                     // sign-in page, callbacks, session JSON under /auth
//	r.Use(a.Hook())                                // authgin.Session(c)
//	r.GET("/account", a.RequireSession(), account)
package authgin

import (
	"github.com/gin-gonic/gin"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// Adapter carries requests between gin and core. It is safe for concurrent use; make it with [New].
type Adapter struct {
	http *authhttp.Adapter
	base string
}

// New returns an Adapter for an *core.Auth, or for a [core.SelectFunc] that chooses one per request.
func New(s core.Selector) *Adapter {
	return &Adapter{http: authhttp.New(s), base: authhttp.BasePath(s)}
}

// Mount registers the auth routes, all methods, below the base path of the *core.Auth, "/auth" for other selectors.
func (a *Adapter) Mount(r gin.IRoutes) { r.Any(a.base+"/*latchkey", a.Handler) }

// Handler answers a request to the auth routes.
func (a *Adapter) Handler(c *gin.Context) { a.http.ServeHTTP(c.Writer, c.Request) }

// Hook makes the session available to the handlers behind it: read on first use, once per request.
func (a *Adapter) Hook() gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Request = c.Request.WithContext(a.http.Begin(c.Writer, c.Request))
		c.Next()
	}
}

// RequireSession lets only requests of somebody who is signed in through: others get 303 to the sign-in page, or 401 where no
// page was asked for. It works with and without the hook in front.
func (a *Adapter) RequireSession() gin.HandlerFunc {
	return func(c *gin.Context) {
		r, ok := a.http.Admit(c.Writer, c.Request)
		if !ok {
			c.Abort()
			return
		}
		c.Request = r
		c.Next()
	}
}

// Session returns who is signed in, nil for nobody; see [core.SessionFrom].
func Session(c *gin.Context) (*core.Session, error) { return core.SessionFrom(c.Request.Context()) }

// SignIn answers a form of the application that starts a sign-in: see [core.SignInAction].
func (a *Adapter) SignIn(c *gin.Context) { a.http.SignIn(c.Writer, c.Request) }

// SignOut answers a form of the application that signs out: see [core.SignOutAction].
func (a *Adapter) SignOut(c *gin.Context) { a.http.SignOut(c.Writer, c.Request) }
