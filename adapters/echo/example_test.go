package authecho_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
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
	e, a := echo.New(), authecho.New(auth)
	a.Mount(e) // sign-in page, callbacks and the rest, under /auth
	e.GET("/members", func(c echo.Context) error {
		session, _ := authecho.Session(c) // RequireSession has already read it
		return c.String(http.StatusOK, "Hello, "+session.User.Name)
	}, a.RequireSession())

	answer := httptest.NewRecorder()
	e.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/members", nil))
	fmt.Println(answer.Code, answer.Header().Get("WWW-Authenticate"))
	// Output: 401 Bearer realm="http://example.com"
}
