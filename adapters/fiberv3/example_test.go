package authfiber_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/gofiber/fiber/v3"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
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
	app := fiber.New(fiber.Config{ReadBufferSize: 16 << 10, DisablePreParseMultipartForm: true})
	a := authfiber.New(auth)
	a.Mount(app) // sign-in page, callbacks and the rest, under /auth
	app.Get("/members", a.RequireSession(), func(c fiber.Ctx) error {
		session, _ := authfiber.Session(c) // RequireSession has already read it
		return c.SendString("Hello, " + session.User.Name)
	})

	answer, err := app.Test(httptest.NewRequest(http.MethodGet, "/members", nil))
	if err != nil {
		log.Fatal(err)
	}
	_ = answer.Body.Close()
	fmt.Println(answer.StatusCode, answer.Header.Get("WWW-Authenticate"))
	// Output: 401 Bearer realm="http://example.com"
}
