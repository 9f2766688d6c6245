package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/conformance/dev/idp"
	"github.com/latchkey-go/latchkey/conformance/dev/mailbox"
	"github.com/latchkey-go/latchkey/conformance/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// site is an application whose pages are made with a client of Auth.js, as it comes from npm, and whose other half is Latchkey.
type site struct {
	setup
	url   string
	mails *mailbox.Mailbox
}

// setup says how a site differs from others.
type setup struct {
	router   string // gin or fiber
	base     string
	strategy core.Strategy
	csrf     core.CSRFPolicy
}

// People who sign in. The development provider knows the first two.
const (
	ada, grace = "ada@example.com", "grace@example.com"
	lovell     = "lovell@example.com" // has a password
	password   = "correct horse battery staple"
)

// serveSite serves a site on loopback until the test ends.
func serveSite(t *testing.T, how setup) *site {
	t.Helper()
	files := clients(t, how.base)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{setup: how, url: fmt.Sprintf("http://localhost:%d", listener.Addr().(*net.TCPAddr).Port), mails: mailbox.New()}
	provider, err := idp.Start(idp.Options{RedirectURIs: []string{s.url + s.base + "/callback/dev"}, AutoSignIn: ada})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = provider.Close() })
	said := &logbook{}
	auth, err := core.New(s.config(t, provider, slog.New(slog.NewTextHandler(said, nil))))
	if err != nil {
		t.Fatal(err)
	}
	serve := serveGin
	if how.router == "fiber" {
		serve = serveFiber
	}
	stop := serve(listener, auth, files, said)
	t.Cleanup(func() {
		_ = stop()
		if t.Failed() {
			t.Logf("the server said:\n%s", said)
		}
	})
	return s
}

func (s *site) config(t *testing.T, provider *idp.Server, logger *slog.Logger) core.Config {
	t.Helper()
	store := memory.New()
	owner, err := store.CreateUser(t.Context(), &core.User{ID: "lovell", Name: "Jim Lovell", Email: lovell})
	if err != nil {
		t.Fatal(err)
	}
	return core.Config{
		URL: s.url, BasePath: s.base, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Getenv: func(string) string { return "" },
		Logger: logger, Store: store, Session: core.SessionConfig{Strategy: s.strategy, UpdateAge: core.Always}, CSRF: s.csrf, EnableWebAuthn: true,
		Providers: []core.Provider{
			providers.OIDC("dev", provider.Issuer(), providers.Options{ClientID: provider.ClientID(), ClientSecret: core.Secret(provider.ClientSecret())}),
			providers.Email("no-reply@localhost", s.mails.Send),
			webauthn.WebAuthn(), // SvelteKit's client takes no other ID than webauthn
			providers.Credentials(func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
				switch {
				case form["email"] != lovell:
					return nil, &core.Error{Type: core.CredentialsSignin, Code: "unknown-address"}
				case form["password"] != password:
					return nil, nil
				}
				return owner, nil
			}),
		},
		// What a page posts with update(data) becomes the session's note: kept in the token, or told once where there is none.
		Callbacks: core.Callbacks{
			JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				if note, ok := noteOf(p.Session); ok && p.Trigger == core.TriggerUpdate {
					return p.Token, p.Token.Extra.Set("note", note)
				}
				return p.Token, nil
			},
			Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
				if p.Token != nil && p.Token.Extra["note"] != nil {
					return p.Session, p.Session.Extra.Set("note", p.Token.Extra["note"])
				}
				if note, ok := noteOf(p.NewSession); ok && p.Trigger == core.TriggerUpdate {
					return p.Session, p.Session.Extra.Set("note", note)
				}
				return p.Session, nil
			},
		},
	}
}

func noteOf(posted []byte) (note string, ok bool) {
	var data struct{ Note *string }
	if json.Unmarshal(posted, &data) != nil || data.Note == nil {
		return "", false
	}
	return *data.Note, true
}

// file is what a site answers at a path of its own.
type file struct{ mediaType, body string }

const head = `<!doctype html><html lang="en" data-base="%s"%s><meta charset="utf-8"><title>Front end</title>` +
	`<main></main><script type="module" src="/%s.js"></script>`

// clients returns the pages of a site by their paths, with the scripts that clients/ is bundled to.
func clients(t *testing.T, base string) map[string]file {
	t.Helper()
	if base == "/api/auth" {
		base = "" // the client's own default must do
	}
	page := func(base, more, script string) file {
		return file{"text/html; charset=utf-8", fmt.Sprintf(head, base, more, script)}
	}
	files := map[string]file{
		"/react":         page(base, "", "react"),
		"/react-members": page(base, ` data-required="true"`, "react"),
		"/sveltekit":     page("", "", "sveltekit"),
		// Its passkey client leaves out the /auth that the other one adds.
		"/sveltekit-passkey": page("/auth", "", "sveltekit"),
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

// bundle joins each page's script with all that it imports, once.
var bundle = sync.OnceValues(func() (scripts map[string]string, err error) {
	scripts = map[string]string{}
	for name, source := range map[string]string{"react.js": "react.jsx", "sveltekit.js": "sveltekit.js"} {
		command := exec.Command("node_modules/.bin/esbuild", source, "--bundle", "--format=esm", "--target=es2022", "--jsx=automatic", "--log-level=warning",
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

func serveGin(listener net.Listener, auth *core.Auth, files map[string]file, said *logbook) (stop func() error) {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(func(c *gin.Context) {
		c.Next()
		said.answered(c.Request.Method, c.Request.URL.Path, c.Writer.Status())
	})
	for path, f := range files {
		r.GET(path, func(c *gin.Context) { c.Data(http.StatusOK, f.mediaType, []byte(f.body)) })
	}
	authgin.New(auth).Mount(r)
	server := &http.Server{Handler: r}
	go func() { _ = server.Serve(listener) }() // ends with Close
	return server.Close
}

func serveFiber(listener net.Listener, auth *core.Auth, files map[string]file, said *logbook) (stop func() error) {
	f := fiber.New(fiber.Config{DisableStartupMessage: true, ReadBufferSize: 32 << 10, DisablePreParseMultipartForm: true})
	f.Use(func(c *fiber.Ctx) error {
		err := c.Next()
		said.answered(c.Method(), c.Path(), c.Response().StatusCode())
		return err
	})
	for path, page := range files {
		f.Get(path, func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderContentType, page.mediaType)
			return c.SendString(page.body)
		})
	}
	authfiber.New(auth).Mount(f)
	go func() { _ = f.Listener(listener) }() // ends with Shutdown
	return func() error { return f.ShutdownWithTimeout(wait) }
}

// logbook keeps what a server says, for a test that fails.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// answered notes a request without its query, which can hold tokens.
func (l *logbook) answered(method, path string, status int) {
	_, _ = fmt.Fprintf(l, "%s %s %d\n", method, path, status)
}

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
