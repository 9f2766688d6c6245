package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	"github.com/latchkey-go/latchkey/storage/mysql"
	"github.com/latchkey-go/latchkey/storage/postgres"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// everything is what the stores of these engines are.
type everything interface {
	store.Store
	store.SessionLister
	store.AccountStore
	store.AuthenticatorStore
	store.AuthenticatorDeleter
	store.Cleaner
	store.RecordStore
	store.UserDeleter
	Close() error
}

// opened is an open store.
type opened struct {
	everything
	// tables is set where there are tables to make.
	tables   *sqlstore.Store
	password string
}

const addresses = "write postgres://user:password@host/db, mysql://user:password@host/db, sqlite:app.db, " +
	"bbolt:app.bolt or redis://user:password@host"

// open opens the store at an address. A file has to be there, so that a misspelt name makes no new one, unless its
// tables are to be made.
func open(address string, makes bool) (*opened, error) {
	if address == "" {
		return nil, errors.New("there is no store: give --store URL, or set LATCHKEY_STORE")
	}
	scheme, rest, _ := strings.Cut(address, ":")
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the store cannot be read: " + addresses) // the error would repeat it
	}
	password, _ := u.User.Password()
	path := strings.TrimPrefix(rest, "//")
	switch scheme {
	case "postgres", "postgresql":
		s, err := postgres.Open(address)
		return inTables(s, err, password)
	case "mysql", "mariadb":
		s, err := mysql.Open(dsn(u))
		return inTables(s, err, password)
	case "sqlite", "bbolt":
		if _, err := os.Stat(path); err != nil && (scheme == "bbolt" || !makes) {
			return nil, fmt.Errorf("there is no file %s", path)
		}
		if scheme == "bbolt" {
			s, err := bboltstore.Open(path)
			return &opened{everything: s}, err
		}
		s, err := sqlite.Open(path)
		return inTables(s, err, "")
	case "redis", "rediss":
		s, err := redisstore.Open(address)
		return &opened{everything: s, password: password}, hidden(err, password)
	}
	return nil, fmt.Errorf("there is no engine for %s: %s", scheme, addresses)
}

func inTables(s *sqlstore.Store, err error, password string) (*opened, error) {
	return &opened{everything: s, tables: s, password: password}, hidden(err, password)
}

// hidden is an error whose text has no password; one that has none anyway stays what it is.
func hidden(err error, password string) error {
	if err == nil || password == "" || !strings.Contains(err.Error(), password) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), password, "[hidden]"))
}

// dsn is the address as the driver of MySQL has it.
func dsn(u *url.URL) string {
	password, _ := u.User.Password()
	host := u.Hostname() + ":" + cmp.Or(u.Port(), "3306")
	if strings.Contains(u.Hostname(), ":") {
		host = "[" + u.Hostname() + "]:" + cmp.Or(u.Port(), "3306")
	}
	query := ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	return u.User.Username() + ":" + password + "@tcp(" + host + ")/" + strings.TrimPrefix(u.Path, "/") + query
}

// schemas are the statements that make the tables, by engine.
var schemas = map[string]func() string{
	"postgres": postgres.Schema, "mysql": mysql.Schema, "mariadb": mysql.Schema, "sqlite": sqlite.Schema,
}

func (c *command) schema() error {
	statements, ok := schemas[c.engine]
	if !ok {
		return fmt.Errorf("schema --engine postgres|mysql|sqlite: %q has no tables, or is no engine", c.engine)
	}
	_, err := fmt.Fprintln(c.out, strings.TrimRight(statements(), "\n"))
	return err
}

// migrate makes what is missing, and tells what that is before it begins: an index over many rows takes a while.
func (c *command) migrate(ctx context.Context, s *opened) error {
	if s.tables == nil {
		return c.say("there are no tables: nothing to do")
	}
	missing, err := s.tables.Missing(ctx)
	if err != nil {
		return err
	}
	if len(missing) == 0 {
		return c.say("nothing is missing")
	}
	for _, what := range missing {
		if err := c.say("missing: %s", what); err != nil {
			return err
		}
	}
	if err := c.say("making %d …", len(missing)); err != nil {
		return err
	}
	if err := c.working(ctx, "making", s.tables.Migrate); err != nil {
		return err
	}
	c.audit("migrate", "")
	return c.say("done")
}
