// Readme is the first program of the README.
package main

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

func main() {
	// reads AUTH_SECRET, AUTH_URL, AUTH_GITHUB_ID and AUTH_GITHUB_SECRET
	auth, err := core.New(core.Config{Providers: []core.Provider{providers.GitHub()}})
	if err != nil {
		panic(err) // lists every configuration error and its fix
	}
	r := gin.Default()
	a := authgin.New(auth)
	a.Mount(r)
	r.GET("/account", a.RequireSession(), func(c *gin.Context) {
		session, _ := authgin.Session(c)
		c.String(200, "Hello, %s", session.User.Name)
	})
	server := &http.Server{Addr: "localhost:3000", Handler: r, ReadHeaderTimeout: 5 * time.Second}
	panic(server.ListenAndServe())
}
