// Command sqlc is an application whose users, accounts and sessions are in its own tables. sqlc generates the queries,
// and [Store] translates between them and Latchkey. Sign in with any address; the link is in /mailbox.
//
// After a change of schema.sql or query.sql, run sqlc generate in this directory (github.com/sqlc-dev/sqlc).
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"html"
	"log"
	"net/http"
	"os"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/examples/internal/local"
	"github.com/latchkey-go/latchkey/examples/sqlc/db"
	"github.com/latchkey-go/latchkey/providers"
)

//go:embed schema.sql
var schema string

// Open opens the application's database. It creates a missing file, which only its owner can read, and the tables in an
// empty one.
func Open(ctx context.Context, path string) (*Store, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	// Foreign keys delete the logins and devices of a deleted person. SQLite allows one writer at a time: on one
	// connection, calls wait for each other in order, and none fails because the file is locked.
	const settings = "?_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_txlock=immediate"
	pool, err := sql.Open("sqlite", "file:"+path+settings)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	var tables int
	err = pool.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = 'people'").Scan(&tables)
	if err == nil && tables == 0 {
		_, err = pool.ExecContext(ctx, schema)
	}
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &Store{pool, db.New(pool)}, nil
}

// Close closes the database.
func (s *Store) Close() error { return s.pool.Close() }

// open configures sign-in links and sessions in the application's tables.
func open(store *Store, mails *mailbox.Mailbox, url string, secret core.Secret) (*core.Auth, error) {
	return core.New(core.Config{
		URL: url, Secrets: []core.Secret{secret}, Store: store,
		Session:   core.SessionConfig{Strategy: core.StrategyDatabase},
		Providers: []core.Provider{providers.Email("people@example.com", mails.Send)},
	})
}

func routes(auth *core.Auth, mails *mailbox.Mailbox) http.Handler {
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /mailbox", mails)
	mux.Handle("GET /{$}", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r) // the guard has read it
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, "<!doctype html><html lang=en><title>People</title><p>Hello, %s. "+
			"<a href=/auth/signout>Sign out</a></p>", html.EscapeString(session.User.Email))
	})))
	return a.Hook(mux)
}

func run(addr, path string) error {
	secret, err := local.Secret(".latchkey")
	if err != nil {
		return err
	}
	store, err := Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	mails := mailbox.New()
	auth, err := open(store, mails, "", secret)
	if err != nil {
		return err
	}
	listener, err := local.Listen(local.Addr(addr, os.Getenv("PORT")))
	if err != nil {
		return err
	}
	log.Printf("open %s", local.URL(listener.Addr().String())) //nolint:gosec // its own address
	server := &http.Server{Handler: routes(auth, mails), ReadHeaderTimeout: 5 * time.Second}
	return local.Run(func() error { return server.Serve(listener) }, server.Shutdown)
}

func main() {
	addr := flag.String("addr", "", "address to listen on (default localhost:$PORT, or localhost:3000)")
	path := flag.String("data", "people.db", "file of the database")
	flag.Parse()
	if err := run(*addr, *path); err != nil {
		log.Fatal(err)
	}
}
