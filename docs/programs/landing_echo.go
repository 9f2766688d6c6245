package main

import (
	"github.com/labstack/echo/v5"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

func main() {
	// reads AUTH_SECRET, AUTH_URL, AUTH_GITHUB_ID and AUTH_GITHUB_SECRET
	auth, err := core.New(core.Config{Providers: []core.Provider{providers.GitHub()}})
	if err != nil {
		panic(err) // lists every configuration error and its fix
	}
	a, e := authecho.New(auth), echo.New()
	a.Mount(e)
	e.GET("/account", func(c *echo.Context) error {
		session, _ := authecho.Session(c)
		return c.String(200, "Hello, "+session.User.Name)
	}, a.RequireSession())
	panic(e.Start("localhost:3000"))
}
