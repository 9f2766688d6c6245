package authgin_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
)

// A page for signed-in users. Without a session, a program gets 401, and a browser is redirected to the sign-in page.
func Example() {
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a secret of the example, 32 bytes or more"},
		URL:     "http://example.com",
		Providers: []core.Provider{&core.OAuthProvider{ // for example providers.GitHub()
			ID: "acme", Type: core.TypeOIDC, Issuer: "https://login.acme.example", ClientID: "id", ClientSecret: "secret",
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	r, a := gin.New(), authgin.New(auth)
	a.Mount(r) // sign-in page, callbacks and the rest, under /auth
	r.GET("/members", a.RequireSession(), func(c *gin.Context) {
		session, _ := authgin.Session(c) // RequireSession has already read it
		c.String(http.StatusOK, "Hello, %s", session.User.Name)
	})

	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/members", nil))
	fmt.Println(answer.Code, answer.Header().Get("WWW-Authenticate"))
	// Output: 401 Bearer realm="http://example.com"
}
