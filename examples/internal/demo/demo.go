// Package demo is what the four example applications share: the configuration, the pages, and the development services
// around them. Only the router differs from one example to the next.
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

	"github.com/latchkey-go/latchkey/account"
	"github.com/latchkey-go/latchkey/conformance/app/idp"
	"github.com/latchkey-go/latchkey/conformance/app/mailbox"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/examples/internal/local"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// App is the example application without its router.
type App struct {
	// Auth is the configuration of the example.
	Auth *core.Auth
	// Mailbox shows the mails; mount it at /mailbox.
	Mailbox http.Handler
	// URL is the public address, Addr the address to listen on.
	URL, Addr string
	// Listener is open, and nobody accepts its connections yet.
	Listener net.Listener

	passwords *password.Provider
	store     database
	provider  *idp.Server
}

// database is what the example asks of a store beyond core's contract.
type database interface {
	core.Store
	io.Closer
}

// Start reads the flags and starts everything but the router. -addr says where to listen, PORT in the environment on
// which port of this machine alone: the demo's password is in its source. -data says where the database and the secret
// are kept.
func Start() (*App, error) {
	addr := flag.String("addr", "", "address to listen on (default localhost, port PORT of the environment or 3000); "+
		"a container needs 0.0.0.0:3000")
	data := flag.String("data", ".latchkey", "folder of the database and the secret")
	flag.Parse()
	a := &App{Addr: local.Addr(*addr, os.Getenv("PORT"))}
	a.URL = local.URL(a.Addr)
	// First, so that whoever starts a second example reads about the port, and not about the file that the first one has.
	var err error
	if a.Listener, err = local.Listen(a.Addr); err != nil {
		return nil, err
	}
	if err := a.start(*data); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// start opens what the example keeps in a folder, and the services around it.
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

// configure is what an application writes itself: its ways to sign in, and where people are kept.
func (a *App) configure(secret core.Secret) (err error) {
	box := mailbox.NewWith(providers.WriteLetter)
	a.Mailbox = box
	development := providers.OIDC("dev", a.provider.Issuer(), providers.Options{
		Name: "Development", ClientID: a.provider.ClientID(), ClientSecret: core.Secret(a.provider.ClientSecret()),
	})
	a.passwords = password.New(password.Options{Mail: box.Mailer()})
	mine := account.New(account.Options{
		Mail:   box.Mailer(),
		Delete: func(context.Context, *core.User) error { return nil }, // the example keeps nothing of people itself
	})
	passkey := webauthn.Passkey()
	passkey.InsecureTypedEmail = true // the page greets by it; an application that decides by addresses leaves it off
	a.Auth, err = core.New(core.Config{
		URL:     a.URL,
		Secrets: []core.Secret{secret},
		Store:   a.store,
		Providers: []core.Provider{
			development, passkey, a.passwords, providers.Email("no-reply@localhost", box.Send),
		},
		Parts:  []core.Part{mine},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),

		EnableWebAuthn: true,
	})
	return err
}

// The one user who need not sign up. demoHash is argon2id of demoPassword.
const (
	demoEmail, demoPassword = "demo@example.com", "demo"

	demoHash = "$argon2id$v=19$m=19456,t=2,p=1$ZXhhbXBsZS1vZi1hLWhvdQ$p+KsdC3ySuoy2GGrkaN1cc5kQiMA3LyPW1yEx/gyKoQ"
)

// demoUser makes the user with a password, on the first start. What people sign up with themselves has to be longer.
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
	if errors.Is(err, core.ErrConflict) { // there already, or changed since
		return nil
	}
	return err
}

// Close stops what has been started.
func (a *App) Close() error {
	err := a.Listener.Close()
	if errors.Is(err, net.ErrClosed) { // by the server that used it
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

// Welcome says where to go and what to type.
func (a *App) Welcome(w io.Writer) {
	_, _ = fmt.Fprintf(w, `
  Open  %[1]s  and sign in one of four ways, all offline:

    Development   pick or type who you are
    Passkey       any address; this browser or your security key makes the passkey
    Password      %[2]s / %[3]s, or sign up: the email is in %[1]s/mailbox
    Email         any address; the link is in %[1]s/mailbox

`, a.URL, demoEmail, demoPassword)
	if !local.Closed(a.Addr) {
		_, _ = fmt.Fprintf(w, "  %s is open to other machines, and everybody knows the password above. "+
			"/mailbox answers this machine alone.\n\n", a.Addr)
	}
}

// Serve serves a net/http handler until the process is told to stop, then lets requests finish.
func (a *App) Serve(h http.Handler) error {
	server := &http.Server{
		Addr: a.Addr, Handler: h,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	}
	a.Welcome(os.Stdout)
	return a.Run(func() error { return server.Serve(a.Listener) }, server.Shutdown)
}

// Run runs serve until it fails or the process is told to stop, then calls shutdown and closes the services.
func (a *App) Run(serve func() error, shutdown func(context.Context) error) error {
	// Letters that were promised go out before the store closes.
	return local.Run(serve, shutdown, a.passwords.Flush, func(context.Context) error { return a.Close() })
}

//go:embed demo.css
var stylesheet []byte

// Stylesheet is the style of the example's own pages, to be served at /demo.css.
func Stylesheet() []byte { return stylesheet }

//go:embed icon.svg
var icon []byte

// Icon is the picture of the site, an image/svg+xml. Browsers ask for /favicon.ico on pages that name none, as the
// built-in ones.
func Icon() []byte { return icon }

// ContentPolicy is the Content-Security-Policy of the example's own pages.
const ContentPolicy = "default-src 'none'; style-src 'self'; img-src 'self' https: data:; base-uri 'none'; " +
	"frame-ancestors 'none'"
