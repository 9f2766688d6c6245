// Package wire serves an application through each of the adapters and sends raw HTTP to it, so that tests can send
// requests that no client library would send.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"
	fiberv3 "github.com/gofiber/fiber/v3"
	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// Site is the application of the Auth under test.
type Site struct {
	Auth *core.Auth
	// Mounted mounts the auth routes at their base path, with [Next] for all other paths. Otherwise they handle every
	// path, so that requests for every base path reach core through the adapter.
	Mounted bool
	// SessionPage is the path of a page with the hook. Its body is [SessionPage]. If the path is empty, there is no such
	// page.
	SessionPage string
	// Private is the path of a page for signed-in users. Its body is [Secret]. If the path is empty, there is no such
	// page.
	Private string
	// PrivateGuards are the guards of Private.
	PrivateGuards []core.Guard
	// API is the path of a route for programs and users: GET requires the scope APIScope, POST the scope APIWriteScope.
	// Its body is [Principal]. If it is empty, there is no such route. The well-known routes are mounted with it.
	API, APIScope, APIWriteScope string
	// APIGuard, if not nil, is the guard of GET requests to API instead of APIScope.
	APIGuard core.PrincipalGuard
	// SignIn and SignOut are the paths of the form actions. If they are empty, there are none.
	SignIn, SignOut string
	// Components is the path of a page with the hook that renders the ui components, [Components]. If it is empty, there
	// is no such page.
	Components string
	// ReadTimeout is the server's time limit for reading a request. Zero means no limit.
	ReadTimeout time.Duration
	// WriteTimeout is the server's time limit for writing a response. Zero means no limit.
	WriteTimeout time.Duration
	// Busy, if not nil, counts the requests in progress.
	Busy *sync.WaitGroup
}

// counted counts a request while it is handled.
func (s Site) counted(next http.Handler) http.Handler {
	if s.Busy == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Busy.Add(1)
		defer s.Busy.Done()
		next.ServeHTTP(w, r)
	})
}

// Next is the body of the application's 404 response.
const Next = "next"

// Secret is the body of the private page.
const Secret = "the private page"

// SessionPage returns the body of the application's page, as JSON.
func SessionPage(session *core.Session, err error) any {
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"session": session}
}

// apiGuard returns the guard of GET requests to Site.API.
func (s Site) apiGuard() core.PrincipalGuard {
	if s.APIGuard != nil {
		return s.APIGuard
	}
	return core.Scopes(s.APIScope)
}

// Principal returns who makes a request to Site.API: the ID of the user, the name of the credential and the
// user who impersonates this one.
func Principal(ctx context.Context) string {
	p, err := core.PrincipalFrom(ctx)
	if err != nil || p == nil {
		return fmt.Sprintf("no principal: %v", err)
	}
	text := fmt.Sprintf("user %q, credential %q, session %t", p.UserID, p.Name, p.Session != nil)
	if p.Actor != "" {
		text += fmt.Sprintf(", actor %q", p.Actor)
	}
	return text
}

// Components renders the ui components of an application's page: sign-in as a button and as a link, sign-out, and the
// current user. A component that fails is omitted. Without a hook, all are omitted.
func Components(ctx context.Context) []byte {
	var page bytes.Buffer
	if _, hooked := ui.StateFrom(ctx); !hooked {
		return nil
	}
	for _, component := range []templ.Component{
		ui.SignIn(""), ui.SignIn("a"), ui.SignOut(), ui.SignOutWith(ui.SignOutOptions{Confirm: true}), ui.Avatar(),
	} {
		var part bytes.Buffer
		if err := component.Render(ctx, &part); err == nil {
			page.Write(part.Bytes())
		}
	}
	return page.Bytes()
}

const htmlType = "text/html; charset=utf-8"

// Adapters returns the names that [Serve] accepts.
func Adapters() []string { return append(Routers(), "echov5", "fiberv3") }

// Routers returns one adapter for each router, for slow tests: the adapters for two versions of a router share nearly
// all of their code.
func Routers() []string { return []string{"stdlib", "gin", "echo", "fiber"} }

// OnFasthttp reports whether the adapter's router is built on fasthttp, which does not support HTTP/2.
func OnFasthttp(adapter string) bool { return strings.HasPrefix(adapter, "fiber") }

// Serve serves a site through an adapter until stop is called. stop also closes the listener.
func Serve(adapter string, s Site, l net.Listener) (stop func() error, err error) {
	var handler http.Handler
	switch adapter {
	case "stdlib":
		handler = viaStdlib(s)
	case "gin":
		handler = viaGin(s)
	case "echo":
		handler = viaEcho(s)
	case "fiber":
		f := viaFiber(s)
		return serveFasthttp(f.Server(), f.Shutdown, func() error { return f.Listener(l) }), nil
	case "echov5":
		handler = viaEchoV5(s)
	case "fiberv3":
		f := viaFiberV3(s)
		return serveFasthttp(f.Server(), f.Shutdown, func() error {
			return f.Listener(l, fiberv3.ListenConfig{DisableStartupMessage: true})
		}), nil
	default:
		return nil, fmt.Errorf("there is no adapter %q", adapter)
	}
	server := &http.Server{
		Handler: s.counted(handler), ReadHeaderTimeout: s.headerTimeout(), ReadTimeout: s.ReadTimeout,
		WriteTimeout: s.WriteTimeout, IdleTimeout: patience,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() { _ = server.Serve(l) }()
	return server.Close, nil
}

// serveFasthttp runs serve until stop is called. stop returns when the last request has been answered. It does not wait
// for shutdown to return, because shutdown checks the connections only every tenth of a second, which would add a
// minute to a full replay.
func serveFasthttp(
	server interface{ GetOpenConnectionsCount() int32 }, shutdown func() error, serve func() error,
) (stop func() error) {
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = serve()
	}()
	return func() error {
		ended := make(chan error, 1)
		go func() { ended <- shutdown() }()
		select {
		case <-served: // only then all connections are counted
		case err := <-ended:
			return err
		}
		for {
			select {
			case err := <-ended:
				return err
			case <-time.After(time.Millisecond):
				if server.GetOpenConnectionsCount() <= 0 {
					return nil
				}
			}
		}
	}
}

// headerTimeout returns the server's time limit for reading the header of a request.
func (s Site) headerTimeout() time.Duration {
	if s.ReadTimeout > 0 {
		return min(s.ReadTimeout, patience)
	}
	return patience
}

func viaStdlib(s Site) http.Handler {
	a := authhttp.New(s.Auth)
	if !s.Mounted {
		return a
	}
	mux := http.NewServeMux()
	a.Mount(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, Next)
	})
	if s.SessionPage != "" {
		mux.Handle(s.SessionPage, a.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			session, err := authhttp.Session(r)
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(SessionPage(session, err))
		})))
	}
	if s.Private != "" {
		mux.Handle(s.Private, a.Require(s.PrivateGuards...)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, Secret)
		})))
	}
	if s.API != "" {
		a.MountWellKnown(mux)
		api := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, Principal(r.Context())) }
		mux.Handle("GET "+s.API, a.RequirePrincipal(s.apiGuard())(http.HandlerFunc(api)))
		mux.Handle("POST "+s.API, a.RequirePrincipal(core.Scopes(s.APIWriteScope))(http.HandlerFunc(api)))
	}
	if s.Components != "" {
		mux.Handle(s.Components, a.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			page := Components(r.Context())
			w.Header().Set("Content-Type", htmlType)
			_, _ = w.Write(page)
		})))
	}
	if s.SignIn != "" {
		mux.HandleFunc("POST "+s.SignIn, a.SignIn)
	}
	if s.SignOut != "" {
		mux.HandleFunc("POST "+s.SignOut, a.SignOut)
	}
	return mux
}

func viaGin(s Site) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r, a := gin.New(), authgin.New(s.Auth)
	if !s.Mounted {
		r.NoRoute(a.Handler)
		return r
	}
	a.Mount(r)
	r.NoRoute(func(c *gin.Context) { c.String(http.StatusNotFound, Next) })
	if s.SessionPage != "" {
		r.GET(s.SessionPage, a.Hook(), func(c *gin.Context) { c.JSON(http.StatusOK, SessionPage(authgin.Session(c))) })
	}
	if s.Private != "" {
		r.Any(s.Private, a.RequireSession(s.PrivateGuards...), func(c *gin.Context) { c.String(http.StatusOK, Secret) })
	}
	if s.API != "" {
		a.MountWellKnown(r)
		api := func(c *gin.Context) { c.String(http.StatusOK, Principal(c.Request.Context())) }
		r.GET(s.API, a.RequirePrincipal(s.apiGuard()), api)
		r.POST(s.API, a.RequirePrincipal(core.Scopes(s.APIWriteScope)), api)
	}
	if s.Components != "" {
		r.GET(s.Components, a.Hook(), func(c *gin.Context) {
			c.Data(http.StatusOK, htmlType, Components(c.Request.Context()))
		})
	}
	if s.SignIn != "" {
		r.POST(s.SignIn, a.SignIn)
	}
	if s.SignOut != "" {
		r.POST(s.SignOut, a.SignOut)
	}
	return r
}

func viaEcho(s Site) http.Handler {
	e, a := echo.New(), authecho.New(s.Auth)
	if !s.Mounted {
		e.RouteNotFound("/*", a.Handler)
		return e
	}
	a.Mount(e)
	e.RouteNotFound("/*", func(c echo.Context) error { return c.String(http.StatusNotFound, Next) })
	if s.SessionPage != "" {
		e.GET(s.SessionPage, func(c echo.Context) error {
			return c.JSON(http.StatusOK, SessionPage(authecho.Session(c)))
		}, a.Hook())
	}
	if s.Private != "" {
		private := func(c echo.Context) error { return c.String(http.StatusOK, Secret) }
		e.Any(s.Private, private, a.RequireSession(s.PrivateGuards...))
	}
	if s.API != "" {
		a.MountWellKnown(e)
		api := func(c echo.Context) error { return c.String(http.StatusOK, Principal(c.Request().Context())) }
		e.GET(s.API, api, a.RequirePrincipal(s.apiGuard()))
		e.POST(s.API, api, a.RequirePrincipal(core.Scopes(s.APIWriteScope)))
	}
	if s.Components != "" {
		e.GET(s.Components, func(c echo.Context) error {
			return c.Blob(http.StatusOK, htmlType, Components(c.Request().Context()))
		}, a.Hook())
	}
	if s.SignIn != "" {
		e.POST(s.SignIn, a.SignIn)
	}
	if s.SignOut != "" {
		e.POST(s.SignOut, a.SignOut)
	}
	return e
}

func viaFiber(s Site) *fiber.App {
	a := authfiber.New(s.Auth)
	f := fiber.New(fiber.Config{
		DisableStartupMessage: true, ReadBufferSize: 64 << 10, DisablePreParseMultipartForm: true,
		ReadTimeout: s.ReadTimeout, WriteTimeout: s.WriteTimeout, IdleTimeout: patience, StreamRequestBody: true,
	})
	if s.Busy != nil {
		f.Use(func(c *fiber.Ctx) error {
			s.Busy.Add(1)
			defer s.Busy.Done()
			return c.Next()
		})
	}
	if !s.Mounted {
		f.Use(a.Handler)
		return f
	}
	a.Mount(f)
	if s.SessionPage != "" {
		f.Get(s.SessionPage, a.Hook(), func(c *fiber.Ctx) error { return c.JSON(SessionPage(authfiber.Session(c))) })
	}
	if s.Private != "" {
		f.All(s.Private, a.RequireSession(s.PrivateGuards...), func(c *fiber.Ctx) error { return c.SendString(Secret) })
	}
	if s.API != "" {
		a.MountWellKnown(f)
		api := func(c *fiber.Ctx) error { return c.SendString(Principal(c.UserContext())) }
		f.Get(s.API, a.RequirePrincipal(s.apiGuard()), api)
		f.Post(s.API, a.RequirePrincipal(core.Scopes(s.APIWriteScope)), api)
	}
	if s.Components != "" {
		f.Get(s.Components, a.Hook(), func(c *fiber.Ctx) error {
			return c.Type("html", "utf-8").Send(Components(c.UserContext()))
		})
	}
	if s.SignIn != "" {
		f.Post(s.SignIn, a.SignIn)
	}
	if s.SignOut != "" {
		f.Post(s.SignOut, a.SignOut)
	}
	f.Use(func(c *fiber.Ctx) error { return c.Status(http.StatusNotFound).SendString(Next) })
	return f
}
