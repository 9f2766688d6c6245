package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	"github.com/latchkey-go/latchkey/storage/mysql"
	"github.com/latchkey-go/latchkey/storage/postgres"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// everything is implemented by all stores that this program opens.
type everything interface {
	store.Store
	store.SessionLister
	store.AccountStore
	store.AuthenticatorStore
	store.AuthenticatorDeleter
	store.Cleaner
	store.RecordStore
	store.RecordLister
	store.UserFinder
	store.UserDeleter
	Close() error
}

// tables is a store on an SQL database.
type tables interface {
	everything
	Migrate(ctx context.Context) error
	Missing(ctx context.Context) ([]string, error)
}

// opened is an open store.
type opened struct {
	everything
	// tables is nil if the database has no tables.
	tables tables
	// secrets are the passwords in the store's address, both encoded and decoded.
	secrets []string
}

const addresses = "write postgres://user:password@host/db, host=db dbname=app user=app password=… (PostgreSQL), " +
	"mysql://user:password@host/db, sqlite:app.db, bbolt:app.bolt or redis://user:password@host"

// errAddress does not contain the address, in which a password may be anywhere.
var errAddress = errors.New("the address of the store cannot be read: " + addresses)

// conninfo matches PostgreSQL's keyword form: host=db user=app password=…
var conninfo = regexp.MustCompile(`^\s*[A-Za-z_]+\s*=`)

// open opens the store at address. A missing file is an error, so that a misspelled name creates no file. If makes is
// set, open creates the file.
func open(address string, makes bool) (*opened, error) {
	if address == "" {
		return nil, errors.New("there is no store: set LATCHKEY_STORE, or give --store URL")
	}
	secrets := secretsIn(address)
	if conninfo.MatchString(address) {
		s, err := postgres.Open(address, postgres.Options{})
		if err != nil {
			return nil, errAddress
		}
		return inTables(s, nil, secrets)
	}
	scheme, rest, _ := strings.Cut(address, ":")
	switch scheme {
	case "sqlite", "bbolt":
		return openFile(scheme, strings.TrimPrefix(rest, "//"), makes)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errAddress
	}
	switch scheme {
	case "postgres", "postgresql":
		s, err := postgres.Open(address, postgres.Options{})
		return inTables(s, err, secrets)
	case "mysql", "mariadb":
		s, err := mysql.Open(dsn(u), mysql.Options{})
		return inTables(s, err, secrets)
	case "redis", "rediss":
		s, err := redisstore.Open(address, redisstore.Options{})
		return &opened{everything: s, secrets: secrets}, hidden(err, secrets...)
	}
	if !strings.HasPrefix(rest, "//") || strings.ContainsFunc(scheme, notLetter) {
		return nil, errAddress
	}
	return nil, fmt.Errorf("no database driver for %s: %s", scheme, addresses)
}

func notLetter(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }

// openFile opens a store that is one file.
func openFile(scheme, path string, makes bool) (*opened, error) {
	if _, err := os.Stat(path); err != nil && (scheme == "bbolt" || !makes) {
		if strings.ContainsAny(path, "@=") { // perhaps the address of another store
			return nil, errors.New("there is no such file")
		}
		return nil, fmt.Errorf("there is no file %s", path)
	}
	if scheme == "bbolt" {
		s, err := bboltstore.Open(path)
		return &opened{everything: s}, err
	}
	s, err := sqlite.Open(path, sqlite.Options{})
	return inTables(s, err, nil)
}

func inTables(s tables, err error, secrets []string) (*opened, error) {
	return &opened{everything: s, tables: s, secrets: secrets}, hidden(err, secrets...)
}

// hidden removes the secrets from the text of an error. An error without secrets is returned unchanged.
func hidden(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	said := err.Error()
	if text := hide(said, secrets); text != said {
		return errors.New(text)
	}
	return err
}

// hide replaces secrets in text. It starts with the longest, because one secret may contain another.
func hide(text string, secrets []string) string {
	byLength := slices.SortedFunc(slices.Values(secrets), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, secret := range byLength {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[hidden]")
		}
	}
	return text
}

// secretsIn returns the passwords in address, both encoded and decoded: the password of a URL, of its query, and of
// PostgreSQL's keyword form. It also returns the value of PGPASSWORD.
func secretsIn(address string) (secrets []string) {
	add := func(spelled string) {
		secrets = append(secrets, spelled)
		for _, unescape := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
			if meant, err := unescape(spelled); err == nil {
				secrets = append(secrets, meant, url.QueryEscape(meant), url.PathEscape(meant))
			}
		}
	}
	add(os.Getenv("PGPASSWORD"))
	if _, rest, ok := strings.Cut(address, "://"); ok {
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			_, password, _ := strings.Cut(rest[:at], ":")
			add(password)
		}
	}
	for _, found := range passwordMembers.FindAllStringSubmatch(address, -1) {
		value := cmp.Or(found[1], found[2])
		add(value)
		add(strings.NewReplacer(`\\`, `\`, `\'`, `'`).Replace(value))
	}
	return slices.DeleteFunc(secrets, func(s string) bool { return s == "" })
}

// passwordMembers matches password=… and sslpassword=… in a query or in the keyword form, where the value may be
// quoted.
var passwordMembers = regexp.MustCompile(`(?i)password\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s&\\]|\\.)+))`)

// dsn converts the URL to the form of the MySQL driver.
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

// schemas returns the statements that create the tables, for each database.
var schemas = map[string]func() string{
	"postgres": postgres.Schema, "mysql": mysql.Schema, "mariadb": mysql.Schema, "sqlite": sqlite.Schema,
}

func (c *command) schema() error {
	statements, ok := schemas[c.engine]
	if !ok {
		return errors.New("usage: schema --engine postgres|mysql|sqlite (other databases have no tables)")
	}
	_, err := fmt.Fprintln(c.out, strings.TrimRight(statements(), "\n"))
	return err
}

// migrate creates missing tables, columns and indexes. It lists them first, because an index over many rows takes long.
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
