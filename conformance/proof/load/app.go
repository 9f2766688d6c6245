package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"
	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// The user of all measurements, and values that all servers share.
const (
	secret        = "0123456789abcdef0123456789abcdef"
	sessionCookie = "authjs.session-token"
	csrfCookie    = "authjs.csrf-token"
	month         = 30 * 24 * time.Hour

	personID    = "7f1c1b2e-6a53-4b65-9a0e-0f6f9a8f2a11"
	personName  = "Jane Doe"
	personEmail = "jane.doe@example.com"
	personImage = "https://avatars.example.com/u/583231?v=4"
)

// page is a page of the application.
func page(name string) string { return "<!doctype html><p>Hello " + name }

// answerPage writes the page. The net/http servers of Latchkey and of the baseline both use it.
func answerPage(w http.ResponseWriter, name string) {
	w.Header()["Content-Type"] = floorHTML
	_, _ = w.Write([]byte(page(name)))
}

// newAuth returns an Auth with a provider and a form that signs every user in as the same person. If client is nil, the
// Auth uses its default HTTP client.
func newAuth(provider string, store core.Store, client *http.Client) (*core.Auth, error) {
	person := &core.User{ID: personID, Name: personName, Email: personEmail, Image: personImage}
	if store != nil {
		var err error
		if person, err = personIn(store, person); err != nil {
			return nil, err
		}
	}
	return core.New(core.Config{
		Secrets: []core.Secret{secret}, TrustHost: core.True, Store: store,
		HTTPClient: client, Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		Providers: []core.Provider{
			&core.OAuthProvider{
				ID: "op", Name: "OP", Type: core.TypeOAuth, ClientID: "client", ClientSecret: "secret",
				Authorization: core.Endpoint{URL: provider + "/authorize", Params: url.Values{"scope": {"email"}}},
				Token:         core.Endpoint{URL: provider + "/token"}, Userinfo: core.Endpoint{URL: provider + "/userinfo"},
				Checks: []core.Check{core.CheckPKCE, core.CheckState},
			},
			&core.CredentialsProvider{
				Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return person, nil },
			},
		},
	})
}

// personIn returns the person as stored.
func personIn(store core.Store, person *core.User) (*core.User, error) {
	known, err := store.UserByEmail(context.Background(), person.Email)
	if errors.Is(err, core.ErrNotFound) {
		return store.CreateUser(context.Background(), person)
	}
	return known, err
}

// routers serve Latchkey with the adapter of this name.
var routers = map[string]func(*core.Auth, net.Listener) error{
	"stdlib": func(auth *core.Auth, l net.Listener) error { return serveHTTP(withStdlib(auth), l) },
	"gin":    func(auth *core.Auth, l net.Listener) error { return serveHTTP(withGin(auth), l) },
	"echo":   func(auth *core.Auth, l net.Listener) error { return serveHTTP(withEcho(auth), l) },
	"fiber":  func(auth *core.Auth, l net.Listener) error { return withFiber(auth).Listener(l) },
}

// serveHTTP sets no timeouts. They would cost the same on all servers.
func serveHTTP(h http.Handler, l net.Listener) error {
	return http.Serve(l, h)
}

func withStdlib(auth *core.Auth) http.Handler {
	mux, a := http.NewServeMux(), authhttp.New(auth)
	a.Mount(mux)
	mux.Handle("GET /page", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, _ := authhttp.Session(r)
		answerPage(w, s.User.Name)
	})))
	return mux
}

const contentHTML = "text/html; charset=utf-8"

func withGin(auth *core.Auth) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r, a := gin.New(), authgin.New(auth)
	a.Mount(r)
	r.GET("/page", a.RequireSession(), func(c *gin.Context) {
		s, _ := authgin.Session(c)
		c.Data(http.StatusOK, contentHTML, []byte(page(s.User.Name)))
	})
	return r
}

func withEcho(auth *core.Auth) http.Handler {
	e, a := echo.New(), authecho.New(auth)
	a.Mount(e)
	e.GET("/page", func(c echo.Context) error {
		s, err := authecho.Session(c)
		if err != nil {
			return err
		}
		return c.HTML(http.StatusOK, page(s.User.Name))
	}, a.RequireSession())
	return e
}

func withFiber(auth *core.Auth) *fiber.App {
	f := fiber.New(fiber.Config{
		DisableStartupMessage: true, ReadBufferSize: 16 << 10, DisablePreParseMultipartForm: true,
	})
	a := authfiber.New(auth)
	a.Mount(f)
	f.Get("/page", a.RequireSession(), func(c *fiber.Ctx) error {
		s, err := authfiber.Session(c)
		if err != nil {
			return err
		}
		c.Set("Content-Type", contentHTML)
		return c.SendString(page(s.User.Name))
	})
	return f
}

const bareBody = `{"user":{"name":"` + personName + `","email":"` + personEmail + `","image":"` + personImage +
	`"},"expires":"2030-01-20T20:20:20.000Z"}`

// bares are routers with a plain handler that responds with as many bytes as a session.
var bares = map[string]func(net.Listener) error{
	"bare": func(l net.Listener) error {
		return serveHTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(bareBody))
		}), l)
	},
	"bare gin": func(l net.Listener) error {
		gin.SetMode(gin.ReleaseMode)
		r := gin.New()
		r.GET("/", func(c *gin.Context) { c.Data(http.StatusOK, "application/json", []byte(bareBody)) })
		return serveHTTP(r, l)
	},
	"bare echo": func(l net.Listener) error {
		e := echo.New()
		e.GET("/", func(c echo.Context) error { return c.Blob(http.StatusOK, "application/json", []byte(bareBody)) })
		return serveHTTP(e, l)
	},
	"bare fiber": func(l net.Listener) error {
		f := fiber.New(fiber.Config{DisableStartupMessage: true})
		f.Get("/", func(c *fiber.Ctx) error {
			c.Set("Content-Type", "application/json")
			return c.SendString(bareBody)
		})
		return f.Listener(l)
	},
}
