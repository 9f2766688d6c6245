// Package demo is shared by the four example applications: the configuration, the pages, and the development services.
// Only the router differs between the examples.
package demo

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/examples/internal/local"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// App is the example application without its router.
type App struct {
	// Auth is the configured Auth.
	Auth *core.Auth
	// Mailbox shows the emails; mount it at /mailbox.
	Mailbox http.Handler
	// URL is the public address, Addr the address to listen on.
	URL, Addr string
	// Listener is open, but accepts no connections yet.
	Listener net.Listener

	passwords *password.Provider
	store     database
	provider  *idp.Server
}

// database is what the example needs of a store, in addition to core's contract.
type database interface {
	core.Store
	io.Closer
}

// Start parses the flags and starts everything except the router. -addr sets the address; PORT in the environment sets
// the port on loopback, because the demo's password is in its source. -data sets the folder of the database and the
// secret.
func Start() (*App, error) {
	addr := flag.String("addr", "", "address to listen on (default localhost, port PORT of the environment or 3000); "+
		"a container needs 0.0.0.0:3000")
	data := flag.String("data", ".latchkey", "folder of the database and the secret")
	flag.Parse()
	a := &App{Addr: local.Addr(*addr, os.Getenv("PORT"))}
	a.URL = local.URL(a.Addr)
	// The port first: a second example then reports the used port, and not the locked file of the first one.
	var err error
	if a.Listener, err = local.Listen(a.Addr); err != nil {
		return nil, err
	}
	if err := a.start(*data); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// start opens the example's store in a folder, and the development services.
func (a *App) start(folder string) error {
	secret, err := local.Secret(folder)
	if err != nil {
		return err
	}
	if a.store, err = openStore(folder); err != nil {
		return err
	}
	if a.provider, err = idp.Start(idp.Options{RedirectURIs: []string{a.URL + "/auth/callback/dev"}}); err != nil {
		return err
	}
	if err := a.configure(secret); err != nil {
		return err
	}
	return a.demoUser(context.Background())
}

// configure is the part that you write yourself: the sign-in methods and the store.
func (a *App) configure(secret core.Secret) (err error) {
	box := mailbox.NewWith(providers.WriteEmail)
	a.Mailbox = box
	development := providers.OIDC("dev", a.provider.Issuer(), providers.Options{
		Name: "Development", ClientID: a.provider.ClientID(), ClientSecret: core.Secret(a.provider.ClientSecret()),
	})
	a.passwords = password.New(password.Options{Mail: box})
	mine := account.New(account.Options{
		Mail:   box,
		Delete: func(context.Context, *core.User) error { return nil }, // the example stores no other data of users
	})
	passkey := webauthn.Passkey()
	passkey.InsecureTypedEmail = true // the page shows the address; leave it off if you base decisions on it
	a.Auth, err = core.New(core.Config{
		URL:     a.URL,
		Secrets: []core.Secret{secret},
		Store:   a.store,
		Providers: []core.Provider{
			development, passkey, a.passwords, providers.Email("no-reply@localhost", box.Send),
		},
		Plugins: []core.Plugin{mine},
		Logger:  slog.New(slog.NewTextHandler(os.Stderr, nil)),

		EnableWebAuthn: true,
	})
	return err
}

// The demo user exists without a sign-up. demoHash is the argon2id hash of demoPassword.
const (
	demoEmail, demoPassword = "demo@example.com", "demo"

	demoHash = "$argon2id$v=19$m=19456,t=2,p=1$ZXhhbXBsZS1vZi1hLWhvdQ$p+KsdC3ySuoy2GGrkaN1cc5kQiMA3LyPW1yEx/gyKoQ"
)

// demoUser creates the demo user on the first start. Passwords of a sign-up must be longer.
func (a *App) demoUser(ctx context.Context) error {
	user, err := a.store.UserByEmail(ctx, demoEmail)
	if errors.Is(err, core.ErrNotFound) {
		user, err = a.store.CreateUser(ctx, &core.User{
			ID: core.NewID(), Name: "Demo User", Email: demoEmail, EmailVerified: time.Now(),
		})
	}
	if err != nil {
		return err
	}
	err = a.passwords.Import(ctx, user.ID, demoHash)
	if errors.Is(err, core.ErrConflict) { // it exists, or has changed since
		return nil
	}
	return err
}

// Close closes everything that start has opened.
func (a *App) Close() error {
	err := a.Listener.Close()
	if errors.Is(err, net.ErrClosed) { // closed by the server that used it
		err = nil
	}
	if a.provider != nil {
		err = errors.Join(err, a.provider.Close())
	}
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
	}
	return err
}

// Welcome prints the URL and how to sign in.
func (a *App) Welcome(w io.Writer) {
	_, _ = fmt.Fprintf(w, `
  Open  %[1]s  and sign in one of four ways, all offline:

    Development   pick or type who you are
    Passkey       any address; this browser or your security key makes the passkey
    Password      %[2]s / %[3]s, or sign up: the email is in %[1]s/mailbox
    Email         any address; the link is in %[1]s/mailbox

`, a.URL, demoEmail, demoPassword)
	if !local.Closed(a.Addr) {
		_, _ = fmt.Fprintf(w, "  %s is open to other machines, and the password above is public. "+
			"/mailbox responds to this machine only.\n\n", a.Addr)
	}
}

// Serve serves a net/http handler until the process receives a signal, then lets requests finish.
func (a *App) Serve(h http.Handler) error {
	server := &http.Server{
		Addr: a.Addr, Handler: h,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	}
	a.Welcome(os.Stdout)
	return a.Run(func() error { return server.Serve(a.Listener) }, server.Shutdown)
}

// Run runs serve until it fails or the process receives a signal, then calls shutdown and closes the services.
func (a *App) Run(serve func() error, shutdown func(context.Context) error) error {
	// Pending emails are sent before the store closes.
	return local.Run(serve, shutdown, a.passwords.Flush, func(context.Context) error { return a.Close() })
}

//go:embed demo.css
var stylesheet []byte

// Stylesheet returns the style of the example's own pages, to be served at /demo.css.
func Stylesheet() []byte { return stylesheet }

//go:embed icon.svg
var icon []byte

// Icon returns the site's icon as image/svg+xml. Browsers request /favicon.ico on pages without an icon, such as the
// built-in ones.
func Icon() []byte { return icon }

// ContentPolicy is the Content-Security-Policy of the example's own pages.
const ContentPolicy = "default-src 'none'; style-src 'self'; img-src 'self' https: data:; base-uri 'none'; " +
	"frame-ancestors 'none'"
