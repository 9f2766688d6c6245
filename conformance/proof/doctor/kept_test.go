package doctor_test

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/mail"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/accesstoken"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/smtp"
	"github.com/latchkey-go/latchkey/storage/memory"
	sqlitestore "github.com/latchkey-go/latchkey/storage/sqlite"
)

// quiet is for servers that expect clients to disconnect.
var quiet = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)

// sqliteAfter returns a store with tables that a developer has modified.
func (w *world) sqliteAfter(statements ...string) *sqlitestore.Store {
	w.Helper()
	path := w.TempDir() + "/app.db"
	made := w.sqlite(path)
	if err := made.Migrate(w.Context()); err != nil {
		w.Fatal(err)
	}
	db, err := sql.Open("sqlite", sqlitestore.DSN(path))
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, s := range statements {
		if _, err := db.ExecContext(w.Context(), s); err != nil {
			w.Fatal(err)
		}
	}
	return made
}

// keptSetups have problems of stores, mail, pages and plugins.
var keptSetups = []setup{
	{name: "store-without-tables", make: func(w *world) core.Config {
		c := w.sound()
		c.Store = w.sqlite(w.TempDir() + "/app.db")
		return c
	}},
	{name: "second-factors-alone", make: func(w *world) core.Config {
		c := w.sound()
		c.Store = memory.New()
		c.Plugins = []core.Plugin{
			secondfactor.New(secondfactor.Options{Required: secondfactor.Always, Remember: 365 * 24 * time.Hour}),
		}
		return c
	}},
	{name: "second-factors-with-an-account-page", make: func(w *world) core.Config {
		c := w.sound()
		c.Store = memory.New()
		c.Plugins = []core.Plugin{
			secondfactor.New(secondfactor.Options{Required: secondfactor.Always, Support: "mailto:help@app.example.org"}),
			account.New(account.Options{Mail: mailbox.New()}),
		}
		return c
	}},
	{name: "access-tokens-of-a-lost-secret", make: func(w *world) core.Config {
		c := w.sound()
		c.Store, c.URL = memory.New(), "http://localhost:3000"
		tokens := func() *accesstoken.Tokens {
			return accesstoken.New(accesstoken.Options{Audiences: []accesstoken.Audience{{ID: "https://orders.example"}}})
		}
		before, issuer := c, tokens()
		before.Secrets, before.Plugins = []core.Secret{"a-lost-secret-of-more-than-32-bytes-"}, []core.Plugin{issuer}
		if _, err := core.New(before); err != nil {
			w.Fatal(err)
		}
		if _, _, err := issuer.Issue(w.Context(), accesstoken.Claims{
			UserID: "ada", Audience: "https://orders.example",
		}); err != nil {
			w.Fatal(err)
		}
		c.Plugins = []core.Plugin{tokens()}
		return c
	}},
	{name: "store-shares-addresses", make: func(w *world) core.Config {
		c := w.sound()
		c.Store = w.sqliteAfter("DROP INDEX IF EXISTS users_email",
			`INSERT INTO users (id, email) VALUES ('1', 'ada@example.org'), ('2', 'ada@example.org')`)
		return c
	}},
	{name: "store-with-capitals-in-addresses", make: func(w *world) core.Config {
		c := w.sound()
		c.Store = w.sqliteAfter(`INSERT INTO users (id, email) VALUES ('1', 'Ada@example.org'), ('2', 'bob@example.org')`)
		return c
	}},
	{name: "store-without-a-column", make: func(w *world) core.Config {
		c := w.sound()
		c.Store = w.sqliteAfter("ALTER TABLE users RENAME COLUMN image TO picture")
		return c
	}},
	{name: "store-without-records", make: func(w *world) core.Config {
		c := w.sound()
		c.Store = w.sqliteAfter("DROP TABLE latchkey_records")
		return c
	}},
	{name: "store-nil", make: func(w *world) core.Config {
		c := w.sound()
		var none *sqlitestore.Store
		c.Store = none
		return c
	}},
	{name: "store-closed", make: func(w *world) core.Config {
		c := w.sound()
		s := w.bbolt()
		_ = s.Close()
		c.Store = s
		return c
	}},
	{name: "store-in-memory", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, c.Store = site, memory.New()
		return c
	}},
	{name: "store-and-a-jwt-callback", make: func(w *world) core.Config {
		c := w.sound()
		c.Store = w.migrated()
		c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) { return p.Token, nil }
		return c
	}},
	{name: "links-without-a-store", make: func(w *world) core.Config {
		return w.with(&core.EmailProvider{Send: func(context.Context, core.Email) error { return nil }})
	}},
	{name: "passwords-without-mail", make: func(w *world) core.Config {
		c := w.with(password.New(password.Options{}))
		c.Store = w.bbolt()
		return c
	}},
	{name: "passwords-into-a-mailbox", make: func(w *world) core.Config {
		box := mailbox.New()
		c := w.with(password.New(password.Options{Mail: box}))
		c.Store, c.Plugins = w.bbolt(), []core.Plugin{account.New(account.Options{Mail: box})}
		return c
	}},
	{name: "account-without-a-store", make: func(w *world) core.Config {
		c := w.sound()
		c.Plugins = []core.Plugin{account.New(account.Options{})}
		return c
	}},
	{name: "mail-sound", make: func(w *world) core.Config {
		server, client := w.certificate()
		s := w.mailServer(mail.Options{TLS: server, User: "app", Password: phrase})
		return w.mailing(credentials(s.Addr), smtp.Options{TLS: client})
	}},
	{name: "mail-password-of-another", make: func(w *world) core.Config {
		server, client := w.certificate()
		s := w.mailServer(mail.Options{TLS: server, User: "app", Password: "another"})
		return w.mailing(credentials(s.Addr), smtp.Options{TLS: client})
	}},
	{name: "mail-in-the-clear", make: func(w *world) core.Config {
		s := w.mailServer(mail.Options{User: "app", Password: phrase})
		return w.mailing(credentials(s.Addr), smtp.Options{})
	}},
	{name: "mail-certificate-of-another", make: func(w *world) core.Config {
		server, _ := w.certificate()
		return w.mailing(credentials(w.mailServer(mail.Options{TLS: server}).Addr), smtp.Options{})
	}},
	{name: "mail-server-down", make: func(w *world) core.Config {
		return w.mailing(credentials(w.closed()), smtp.Options{})
	}},
	{name: "mail-server-silent", timeout: time.Second, make: func(w *world) core.Config {
		return w.mailing(credentials(w.deaf()), smtp.Options{})
	}},
	{name: "mail-server-is-none", make: func(w *world) core.Config {
		return w.mailing("mail.example.org:587", smtp.Options{})
	}},
	{name: "page-in-a-circle", make: func(w *world) core.Config {
		c := w.sound()
		c.Pages.SignIn, c.Pages.Error = "/auth/signin", "https://www.example.net/oops"
		return c
	}},
	{name: "of-a-developer", make: func(w *world) core.Config {
		c := w.sound()
		c.URL, c.Debug, c.InsecureNoLimits = site, true, true
		c.CSRF = core.InsecureSkipCSRFCheck()
		return c
	}},
}
