package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"
	"github.com/labstack/echo/v4"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// site is an application with the unmodified Auth.js client from npm on its pages, and with Latchkey as the server.
type site struct {
	setup
	url, auth string // origin of the pages, and of the auth routes
	mails     *mailbox.Mailbox
	said      logbook
}

// setup is the configuration of a site.
type setup struct {
	router   string // stdlib, gin, echo or fiber
	base     string
	strategy core.Strategy
	csrf     core.CSRFPolicy
	typed    bool // a new user with a passkey gets the typed address
	apart    bool // the pages and the auth routes have different origins
}

// Users. The development provider knows the first two.
const (
	ada, grace = "ada@example.com", "grace@example.com"
	lovell     = "lovell@example.com" // has a password
	password   = "correct horse battery staple"
)

// serveSite serves a site on loopback until the test ends.
func serveSite(t *testing.T, how setup) *site {
	t.Helper()
	s := &site{setup: how, mails: mailbox.New()}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the server said:\n%s", &s.said)
		}
	})
	listener, origin := listen(t)
	s.url, s.auth = origin, origin
	files := clients(t, how.base, origin+how.base)
	if how.apart {
		elsewhere, origin := listen(t)
		s.url = origin
		t.Cleanup(serveHTTP(elsewhere, s.pages(files, http.NotFoundHandler())))
		files = nil
	}
	provider, err := idp.Start(idp.Options{RedirectURIs: []string{s.auth + s.base + "/callback/dev"}, AutoSignIn: ada})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = provider.Close() })
	auth, err := core.New(s.config(t, provider, slog.New(slog.NewTextHandler(&s.said, nil))))
	if err != nil {
		t.Fatal(err)
	}
	if how.router == "fiber" {
		t.Cleanup(s.serveFiber(listener, auth, files))
	} else {
		t.Cleanup(serveHTTP(listener, s.pages(files, s.routes(auth))))
	}
	return s
}

func listen(t *testing.T) (listener net.Listener, origin string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener, fmt.Sprintf("http://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
}

func (s *site) config(t *testing.T, provider *idp.Server, logger *slog.Logger) core.Config {
	t.Helper()
	store := memory.New()
	owner, err := store.CreateUser(t.Context(), &core.User{ID: "lovell", Name: "Jim Lovell", Email: lovell})
	if err != nil {
		t.Fatal(err)
	}
	passkeys := webauthn.WebAuthn() // SvelteKit's client supports only the ID webauthn
	passkeys.InsecureTypedEmail = s.typed
	config := core.Config{
		URL: s.auth, BasePath: s.base, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: logger, Store: store,
		Session: core.SessionConfig{Strategy: s.strategy, UpdateAge: core.UpdateAlways}, CSRF: s.csrf, EnableWebAuthn: true,
		Providers: []core.Provider{
			providers.OIDC("dev", provider.Issuer(), providers.Options{
				ClientID: provider.ClientID(), ClientSecret: core.Secret(provider.ClientSecret()),
			}),
			providers.Email("no-reply@localhost", s.mails.Send),
			passkeys,
			providers.Credentials(func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
				switch {
				case form["remember"] == "true":
					return nil, &core.Error{Type: core.ErrCredentialsSignin, Code: "remembered-" + form["email"] + form["otp"]}
				case form["email"] != lovell:
					return nil, &core.Error{Type: core.ErrCredentialsSignin, Code: "unknown-address"}
				case form["password"] != password:
					return nil, nil
				}
				return owner, nil
			}),
		},
		// The data of update(data) becomes the session's note. The token stores it. Without a token, the response
		// contains it once.
		Callbacks: core.Callbacks{Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			note, ok := noteOf(p.Update)
			if p.Token != nil {
				note = ""
				ok = p.Token.Extra.Get("note", &note)
			}
			if ok {
				return p.Session, p.Session.Extra.Set("note", note)
			}
			return p.Session, nil
		}},
	}
	if s.strategy == core.StrategyJWT {
		config.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if note, ok := noteOf(p.Update); ok {
				return p.Token, p.Token.Extra.Set("note", note)
			}
			return p.Token, nil
		}
	}
	if s.apart { // redirects to the pages are allowed, and their scripts may send requests
		config.TrustedOrigins = []string{s.url}
		config.Callbacks.Redirect = func(ctx context.Context, p core.RedirectParams) (string, error) {
			if p.URL == s.url || strings.HasPrefix(p.URL, s.url+"/") {
				return p.URL, nil
			}
			return core.SameOrigin(ctx, p)
		}
	}
	return config
}

func noteOf(posted []byte) (note string, ok bool) {
	var data struct{ Note *string }
	if json.Unmarshal(posted, &data) != nil || data.Note == nil {
		return "", false
	}
	return *data.Note, true
}

// file is a response of the site's own pages.
type file struct{ mediaType, body string }

const head = `<!doctype html><html lang="en" %s><meta charset="utf-8"><title>Front end</title><main></main>` +
	`<script type="module" src="/%s.js"></script>`

// clients returns the pages of a site by path, with the bundled scripts of clients/.
func clients(t *testing.T, base, auth string) map[string]file {
	t.Helper()
	if base == "/api/auth" {
		base = "" // the client's default must work
	}
	page := func(data, script string) file {
		return file{"text/html; charset=utf-8", fmt.Sprintf(head, data, script)}
	}
	files := map[string]file{
		"/react":         page(`data-base="`+base+`"`, "react"),
		"/react-members": page(`data-required="true" data-base="`+base+`"`, "react"),
		"/sveltekit":     page(`data-base=""`, "sveltekit"),
		// This passkey client does not add /auth, unlike the other one.
		"/sveltekit-passkey": page(`data-base="/auth"`, "sveltekit"),
		"/spa":               page(`data-auth="`+auth+`"`, "spa"),
		"/own":               {"text/html; charset=utf-8", fmt.Sprintf(ownPage, auth)},
		"/favicon.ico":       {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`},
	}
	engines.Packages(t, "clients")
	scripts, err := bundle()
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range scripts {
		files["/"+name] = file{"text/javascript; charset=utf-8", script}
	}
	return files
}

// bundle combines each page's script with its imports, once.
var bundle = sync.OnceValues(func() (scripts map[string]string, err error) {
	scripts = map[string]string{}
	for name, source := range map[string]string{
		"react.js": "react.jsx", "sveltekit.js": "sveltekit.js", "spa.js": "spa.js",
	} {
		command := exec.Command("node_modules/.bin/esbuild", source,
			"--bundle", "--format=esm", "--target=es2022", "--jsx=automatic", "--log-level=warning",
			"--alias:$app/paths=./app-paths.js", "--define:process.env={}", `--define:process.env.NODE_ENV="production"`)
		var complaint bytes.Buffer
		command.Dir, command.Stderr = "clients", &complaint
		script, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("esbuild %s: %w\n%s", source, err, &complaint)
		}
		scripts[name] = string(script)
	}
	return scripts, nil
})

// serveHTTP serves until stop is called.
func serveHTTP(listener net.Listener, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return func() { _ = server.Close() }
}

// pages serves files and passes other requests to next.
func (s *site) pages(files map[string]file, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		if !ok {
			s.said.asked(r.Method, r.URL.Path)
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", f.mediaType)
		_, _ = io.WriteString(w, f.body)
	})
}

// routes returns the auth routes on a net/http router.
func (s *site) routes(auth *core.Auth) http.Handler {
	switch s.router {
	case "gin":
		gin.SetMode(gin.ReleaseMode)
		r := gin.New()
		authgin.New(auth).Mount(r)
		return r
	case "echo":
		e := echo.New()
		authecho.New(auth).Mount(e)
		return e
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	return mux
}

func (s *site) serveFiber(listener net.Listener, auth *core.Auth, files map[string]file) (stop func()) {
	f := fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 32 << 10, DisablePreParseMultipartForm: true})
	f.Use(func(c *fiber.Ctx) error {
		if page, ok := files[c.Path()]; ok {
			c.Set(fiber.HeaderContentType, page.mediaType)
			return c.SendString(page.body)
		}
		s.said.asked(c.Method(), c.Path())
		return c.Next()
	})
	authfiber.New(auth).Mount(f)
	go func() { _ = f.Listener(listener) }() // ends with Shutdown
	return func() { _ = f.ShutdownWithTimeout(wait) }
}

// logbook records a server's log for failed tests.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// asked logs a request without its query, which may contain tokens.
func (l *logbook) asked(method, path string) { _, _ = fmt.Fprintf(l, "%s %s\n", method, path) }

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
