// Command board is a small product: a board on which a team tracks its tasks. Users sign in with a password, an email
// link, a passkey or a provider. The board has invitations, roles, an account page, API tokens and live pages.
// README.md explains it file by file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/examples/internal/local"
)

func main() {
	addr := flag.String("addr", "", "address to listen on (default localhost, port PORT of the environment or 3000)")
	data := flag.String("data", ".latchkey", "folder of the database and the secret")
	flag.Parse()
	if err := run(local.Addr(*addr, os.Getenv("PORT")), *data); err != nil {
		log.Fatal(err)
	}
}

// run opens the application's resources, serves it until the process receives a signal, and closes everything in order.
func run(addr, folder string) error {
	listener, err := local.Listen(addr)
	if err != nil {
		return err
	}
	secret, err := local.Secret(folder)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	s, err := open(setup{
		url: local.URL(addr), folder: folder, secret: secret, now: time.Now,
		log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	welcome(os.Stdout, addr)
	server := newServer(s)
	return local.Run(func() error { return server.Serve(listener) },
		server.Shutdown,        // requests finish, and live pages end
		s.ways.passwords.Flush, // pending emails are sent
		func(context.Context) error { return s.Close() }, // no request uses the store any more
	)
}

// newServer returns a server with timeouts. Live pages have no timeout: they end when the server shuts down.
func newServer(s *site) *http.Server {
	server := &http.Server{
		Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	}
	server.RegisterOnShutdown(s.live.close)
	return server
}

// site is the application.
type site struct {
	auth   *core.Auth
	ways   ways
	people *people
	cards  *cards
	live   *live
	setup

	db       *bbolt.DB
	provider *idp.Server
}

// setup has the parameters of the application.
type setup struct {
	url, folder string // public URL, and data folder
	secret      core.Secret
	now         func() time.Time
	log         *slog.Logger
}

// open opens the database and the development provider, and configures the application.
func open(told setup) (s *site, err error) {
	s = &site{live: newLive(), setup: told}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	s.db, err = bbolt.Open(filepath.Join(s.folder, "board.bolt"), 0o600, &bbolt.Options{Timeout: 5 * time.Second})
	if err != nil {
		return s, fmt.Errorf("open the database: %w", err)
	}
	s.provider, err = idp.Start(idp.Options{RedirectURIs: []string{s.url + "/auth/callback/dev"}})
	if err != nil {
		return s, err
	}
	s.cards = newCards(s.db)
	if err := s.configure(); err != nil {
		return s, err
	}
	return s, s.seed(context.Background())
}

// Close closes everything that open has opened.
func (s *site) Close() error {
	var all []error
	if s.provider != nil {
		all = append(all, s.provider.Close())
	}
	if s.db != nil {
		all = append(all, s.db.Close())
	}
	return errors.Join(all...)
}

// welcome prints the URL and how to sign in.
func welcome(w io.Writer, addr string) {
	_, _ = fmt.Fprintf(w, `
  Open  %[1]s  and sign in, all offline:

    Password      %[2]s / %[3]s, who owns the board; or sign up: emails are in %[1]s/mailbox
    Development   pick or type who you are: a guest, until the owner accepts you

`, local.URL(addr), demoEmail, demoPassword)
	if host, _, _ := net.SplitHostPort(addr); !local.Closed(addr) {
		_, _ = fmt.Fprintf(w, "  %q is open to other machines, and the password above is public.\n\n", host)
	}
}
