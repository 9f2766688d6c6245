package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
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

// site is the application around the Auth under test. Most scenarios have none: the routes hang at the root, so that scenarios of
// every base path reach core through the adapter. Those of a framework mount them, beside a page of the application's.
type site struct {
	selector    core.Selector
	mounted     bool
	sessionPage string // answers {"session": …}
}

// next is what the application answers where nothing of ours is mounted.
const next = "next"

// ways are how a request can reach the Auth under test.
var ways = map[string]send{
	"core": viaCore,
	"stdlib": viaHTTP(func(s site) http.Handler {
		a := authhttp.New(s.selector)
		if !s.mounted {
			return a
		}
		mux := http.NewServeMux()
		a.Mount(mux)
		mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, next)
		})
		if s.sessionPage != "" {
			mux.Handle(s.sessionPage, a.Hook()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				session, err := authhttp.Session(r)
				w.Header().Set("Content-Type", "application/json")
				_ = json.NewEncoder(w).Encode(sessionPage(session, err))
			})))
		}
		return mux
	}),
	"gin": viaHTTP(func(s site) http.Handler {
		gin.SetMode(gin.ReleaseMode)
		r, a := gin.New(), authgin.New(s.selector)
		if !s.mounted {
			r.NoRoute(a.Handler)
			return r
		}
		a.Mount(r)
		r.NoRoute(func(c *gin.Context) { c.String(http.StatusNotFound, next) })
		if s.sessionPage != "" {
			r.GET(s.sessionPage, a.Hook(), func(c *gin.Context) { c.JSON(http.StatusOK, sessionPage(authgin.Session(c))) })
		}
		return r
	}),
	"echo": viaHTTP(func(s site) http.Handler {
		e, a := echo.New(), authecho.New(s.selector)
		if !s.mounted {
			e.RouteNotFound("/*", a.Handler)
			return e
		}
		a.Mount(e)
		e.RouteNotFound("/*", func(c echo.Context) error { return c.String(http.StatusNotFound, next) })
		if s.sessionPage != "" {
			e.GET(s.sessionPage, func(c echo.Context) error { return c.JSON(http.StatusOK, sessionPage(authecho.Session(c))) }, a.Hook())
		}
		return e
	}),
	"fiber": func(ctx context.Context, s site, r wireRequest) (answer, error) {
		f, a := fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 64 << 10}), authfiber.New(s.selector)
		if s.mounted {
			a.Mount(f)
			if s.sessionPage != "" {
				f.Get(s.sessionPage, a.Hook(), func(c *fiber.Ctx) error { return c.JSON(sessionPage(authfiber.Session(c))) })
			}
			f.Use(func(c *fiber.Ctx) error { return c.Status(http.StatusNotFound).SendString(next) })
		} else {
			f.Use(a.Handler)
		}
		return exchange(ctx, r, func(l net.Listener) func() error {
			go func() { _ = f.Listener(l) }()
			return f.Shutdown
		})
	},
}

// sessionPage is the body of the application's page.
func sessionPage(session *core.Session, err error) any {
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	return map[string]any{"session": session}
}

func viaHTTP(handler func(site) http.Handler) send {
	return func(ctx context.Context, s site, r wireRequest) (answer, error) {
		server := &http.Server{Handler: handler(s), ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
		return exchange(ctx, r, func(l net.Listener) func() error {
			go func() { _ = server.Serve(l) }()
			return server.Close
		})
	}
}

// exchange serves one request on a listener of its own, TLS where the recorded URL says https, and reads the raw answer.
func exchange(ctx context.Context, r wireRequest, serve func(net.Listener) (stop func() error)) (out answer, err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return out, err
	}
	address := listener.Addr().String()
	scheme, rest, _ := strings.Cut(r.url, "://")
	if scheme == "https" {
		certificate, err := selfSigned()
		if err != nil {
			return out, err
		}
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	}
	stop := serve(listener)
	defer func() { err = errors.Join(err, stop()) }()

	var conn net.Conn
	if scheme == "https" {
		conn, err = tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	if err != nil {
		return out, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	host, path, _ := strings.Cut(rest, "/")
	var b strings.Builder
	fmt.Fprintf(&b, "%s /%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", r.method, path, host)
	for name, values := range r.header {
		for _, value := range values {
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	if r.hasBody || r.method == http.MethodPost {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.body))
	}
	b.WriteString("\r\n" + r.body)
	if _, err := io.WriteString(conn, b.String()); err != nil {
		return out, err
	}
	request := &http.Request{Method: r.method}
	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		return out, err
	}
	defer func() { _ = response.Body.Close() }()
	out.wire = true
	out.status, out.header, out.cookies = response.StatusCode, response.Header, response.Header["Set-Cookie"]
	delete(out.header, "Set-Cookie")
	out.body, err = io.ReadAll(response.Body)
	return out, err
}

// selfSigned makes a certificate for one connection.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
