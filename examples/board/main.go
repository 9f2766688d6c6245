// Command board is a small product: a board on which a team writes down what it does. People sign in with a password, a
// link by mail, a passkey or a provider, are invited, have roles, an account page and a token for the API, and see the
// board change while they look at it. docs/demo.md walks through it file by file.
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

	"github.com/latchkey-go/latchkey/conformance/app/idp"
	"github.com/latchkey-go/latchkey/core"
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

// run opens what the board needs, serves it until the process is told to stop, and closes everything in order.
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
		s.ways.passwords.Flush, // letters that were promised go out
		func(context.Context) error { return s.Close() }, // nobody uses the store any more
	)
}

// newServer is a server with deadlines. Live pages have no end of their own: they are told when the server ends.
func newServer(s *site) *http.Server {
	server := &http.Server{
		Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
	}
	server.RegisterOnShutdown(s.live.close)
	return server
}

// site is the application: who may come in, what the board is about, and who looks at it now.
type site struct {
	auth  *core.Auth
	ways  ways
	team  *team
	cards *cards
	live  *live
	setup

	db       *bbolt.DB
	provider *idp.Server
}

// setup is what the application is told at its start.
type setup struct {
	url, folder string // where people find it, and where it keeps everything
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

// Close closes what open has opened.
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

// welcome says where to go and what to type.
func welcome(w io.Writer, addr string) {
	_, _ = fmt.Fprintf(w, `
  Open  %[1]s  and sign in, all offline:

    Password      %[2]s / %[3]s, who owns the board; or sign up: letters are in %[1]s/mailbox
    Development   pick or type who you are: a guest, until the owner makes more of you

`, local.URL(addr), demoEmail, demoPassword)
	if host, _, _ := net.SplitHostPort(addr); !local.Closed(addr) {
		_, _ = fmt.Fprintf(w, "  %q is open to other machines, and everybody knows the password above.\n\n", host)
	}
}
