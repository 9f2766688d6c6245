package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	driver "github.com/go-sql-driver/mysql"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

func TestMain(m *testing.M) { os.Exit(engines.Main(m)) }

// terminal runs the program and records its output.
type terminal struct {
	*testing.T
	env      map[string]string
	answer   string
	out, log bytes.Buffer
	letters  []core.Email
}

// Send implements core.Mailer.
func (c *terminal) Send(_ context.Context, l core.Email) error {
	c.letters = append(c.letters, l)
	return nil
}

func (c *terminal) run(args ...string) (string, error) {
	c.Helper()
	c.out.Reset()
	program := &command{
		in: strings.NewReader(c.answer), out: &c.out, log: &c.log, mail: c,
		getenv: func(name string) string { return c.env[name] }, clock: time.Now, slice: time.Minute,
		ticks: func() (<-chan time.Time, func()) { return nil, func() {} },
	}
	err := program.run(c.Context(), args)
	return c.out.String(), err
}

// must runs a command that must succeed.
func (c *terminal) must(args ...string) string {
	c.Helper()
	out, err := c.run(args...)
	if err != nil {
		c.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

func newTerminal(t *testing.T, address string) *terminal {
	return &terminal{T: t, env: map[string]string{
		"LATCHKEY_STORE": address, "AUTH_SECRET": "Gq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8", "USER": "grace",
		"AUTH_URL": "https://app.example.org",
	}}
}

// people creates a user with an account, a session and a record in the store.
func people(t *testing.T, address string) (id string) {
	t.Helper()
	s, err := open(address, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	u, err := s.CreateUser(t.Context(), &core.User{
		ID: core.NewID(), Name: "Ada", Email: "ada@example.org", EmailVerified: time.Now().Truncate(time.Second),
	})
	if err != nil {
		t.Fatal(err)
	}
	sessions, ok := s.everything.(store.SessionStore)
	if !ok {
		t.Fatalf("%T keeps no sessions", s.everything)
	}
	for _, err := range []error{
		s.LinkAccount(t.Context(), &core.Account{
			UserID: u.ID, Provider: "github", ProviderAccountID: "4711", Type: core.TypeOAuth, AccessToken: "canary-token",
		}),
		sessions.CreateSession(t.Context(), &store.Session{
			Token: "canary-session", UserID: u.ID, Expires: time.Now().Add(time.Hour),
		}),
		sessions.CreateSession(t.Context(), &store.Session{
			Token: "canary-expired", UserID: u.ID, Expires: time.Now().Add(-2 * time.Hour),
		}),
		s.LinkAccount(t.Context(), &core.Account{
			UserID: u.ID, Provider: "passkey", ProviderAccountID: "key", Type: core.TypeWebAuthn,
		}),
		s.CreateAuthenticator(t.Context(), &store.Authenticator{
			CredentialID: "key", UserID: u.ID, ProviderAccountID: "key", CredentialPublicKey: "canary",
			CredentialDeviceType: "singleDevice",
		}),
		s.CreateRecord(t.Context(), &store.Record{
			Kind: "passkey", Key: "named", UserID: u.ID, Value: json.RawMessage(`{}`),
		}),
		s.CreateRecord(t.Context(), &store.Record{
			Kind: "totp", Key: u.ID, UserID: u.ID, Value: json.RawMessage(`"canary"`),
		}),
		s.CreateRecord(t.Context(), &store.Record{
			Kind: "api-key", Key: "canary-key", UserID: u.ID, Value: json.RawMessage(`"canary"`),
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return u.ID
}

// TestStores tests all commands on each database: tables, doctor, clean-up, and the user commands.
func TestStores(t *testing.T) {
	for _, row := range []struct {
		name    string
		address func(t testing.TB) string
		tables  bool
	}{
		{"sqlite", func(t testing.TB) string { return "sqlite:" + t.TempDir() + "/app.db" }, true},
		{"bbolt", func(t testing.TB) string { return "bbolt:" + bolt(t) }, false},
		{"postgres", engines.Postgres, true},
		{"mysql", mariaDB, true},
		{"redis", engines.Redis, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			address := row.address(t)
			c := newTerminal(t, address)
			if row.tables {
				if out, err := c.run("doctor"); row.name != "sqlite" && (err == nil || !strings.Contains(out, "missing: table")) {
					t.Errorf("before migrate: %v\n%s", err, out)
				}
				if out := c.must("migrate"); !strings.Contains(out, "missing: table users") || !strings.Contains(out, "done") {
					t.Errorf("migrate says %s", out)
				}
			}
			if out := c.must("migrate"); !strings.Contains(out, "nothing") {
				t.Errorf("a second migrate says %s", out)
			}
			if out := c.must("doctor"); !strings.Contains(out, "1 ok, 0 wrong") {
				t.Errorf("doctor says %s", out)
			}
			id := people(t, address)
			if out := c.must("clean-up"); out != "1 rows deleted, no expired rows left\n" {
				t.Errorf("clean-up says %s", out)
			}
			c.manages(id)
		})
	}
}

// manages runs all user commands on a user. The last one deletes the user.
func (c *terminal) manages(id string) {
	c.Helper()
	if out := c.must("users", "find", "ADA@example.org"); !strings.HasPrefix(out, id+"  ada@example.org (verified ") {
		c.Errorf("find says %s", out)
	}
	for args, want := range map[string]string{
		"list": id + "  ada@example.org (", "find ada@*": id + "  ada@example.org (", "find *": id, "find ADA*": "no users\n",
		"find b*": "no users\n",
	} {
		out := c.must(append([]string{"users"}, strings.Fields(args)...)...)
		if !strings.HasPrefix(out, want) || strings.Count(out, "\n") != 1 {
			c.Errorf("users %s says %s, want %s", args, out, want)
		}
	}
	out := c.must("users", "show", id)
	for _, want := range []string{"account  github  4711", "session  until ", "records  api-key: 1"} {
		if !strings.Contains(out, want) {
			c.Errorf("show lacks %q: %s", want, out)
		}
	}
	if strings.Contains(out, "canary") {
		c.Errorf("show has a secret: %s", out)
	}
	for _, answer := range []string{"", "n\n", "maybe\n"} {
		c.answer = answer
		if out, err := c.run("users", "delete", id); !errors.Is(err, errNo) || !strings.Contains(out, "ada@example.org") {
			c.Errorf("an answer %q: %v, %s", answer, err, out)
		}
	}
	if c.log.Len() > 0 && strings.Contains(c.log.String(), "users") {
		c.Errorf("the audit has what was not done: %s", c.log.String())
	}
	c.answer = "y\n"
	if out := c.must("users", "sign-out", "ada@example.org"); !strings.Contains(out, "ended: 1") {
		c.Errorf("sign-out says %s", out)
	}
	if out := c.must("users", "show", id); strings.Contains(out, "session  until") {
		c.Errorf("after sign-out: %s", out)
	}
	c.resetsFactors(id)
	c.revokesKeys(c.env["LATCHKEY_STORE"], id)
	c.must("users", "reset-password", id, "--yes")
	if len(c.letters) != 1 || c.letters[0].Kind != mailkind.Reset || c.letters[0].To != "ada@example.org" ||
		!strings.HasPrefix(string(c.letters[0].URL), "https://app.example.org/auth/password/reset?token=") {
		c.Errorf("%d letters", len(c.letters))
	}
	c.bans(id)
	c.letters = nil
	c.deletes(id, c.creates())
	if _, err := c.run("users", "find", id); err == nil || !strings.Contains(err.Error(), "there is no user") {
		c.Errorf("after delete: %v", err)
	}
	for _, action := range []string{"sign-out", "reset-factors", "reset-password", "ban", "unban", "delete"} {
		if !strings.Contains(c.log.String(), `"action":"latchkey users `+action+`","user":"`+id+`","by":"grace"`) {
			c.Errorf("the audit lacks %s: %s", action, c.log.String())
		}
	}
}

// bolt returns a bbolt file like one that an application created.
func bolt(t testing.TB) string {
	t.Helper()
	path := t.TempDir() + "/app.bolt"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mariaDB returns the address of a database on the shared server.
func mariaDB(t testing.TB) string {
	t.Helper()
	config, err := driver.ParseDSN(engines.MariaDB(t))
	if err != nil {
		t.Fatal(err)
	}
	u := url.URL{
		Scheme: "mysql", User: url.UserPassword(config.User, config.Passwd), Host: config.Addr, Path: "/" + config.DBName,
	}
	return u.String()
}

func TestSchema(t *testing.T) {
	c := newTerminal(t, "")
	for _, engine := range []string{"postgres", "mysql", "mariadb", "sqlite"} {
		if out := c.must("schema", "--engine", engine); !strings.Contains(out, "CREATE TABLE") ||
			!strings.Contains(out, "latchkey_records") {
			t.Errorf("%s: %s", engine, out)
		}
	}
	for _, engine := range []string{"", "redis", "oracle"} {
		if _, err := c.run("schema", "--engine", engine); err == nil {
			t.Errorf("%q has a schema", engine)
		}
	}
}

// TestAddresses: an address that cannot be opened gives a clear error without the password.
func TestAddresses(t *testing.T) {
	there := t.TempDir()
	for address, want := range map[string]string{
		"":                               "LATCHKEY_STORE",
		"oracle://ada:canary1@host/app":  "no database driver for oracle",
		"oracle2://ada:canary1@host/app": "cannot be read",
		"canary1":                        "cannot be read", "canary1:canary2@tcp(host)/app": "cannot be read",
		"host=127.0.0.1 port=1 user=app password=canary1":              "refused",
		"host=127.0.0.1 port=1 user=app password='canary1 \\'canary2'": "refused",
		"host=127.0.0.1 port=one user=app password=canary1":            "cannot be read",
		"password=canary1": "",
		"host = 127.0.0.1 port = 1 password = 'canary1":            "cannot be read",
		"postgres://127.0.0.1:1/app?user=a&password=canary1":       "refused",
		"postgres://ada:can%61ry1@127.0.0.1:1/app?sslmode=canary1": "",
		"sqlite:postgres://ada:canary1@host/app":                   "there is no such file",
		"bbolt:host=db password=canary1":                           "there is no such file",
		"postgres://ada:canary1@127.0.0.1:1/app":                   "refused",
		"mysql://ada:canary1@127.0.0.1:1/app":                      "refused",
		"redis://ada:canary1@127.0.0.1:1":                          "refused",
		"postgres://ada:canary1@host:not-a-port/a":                 "cannot be read",
		"sqlite:" + there + "/misspelt.db":                         "there is no file",
		"bbolt:" + there + "/misspelt.bolt":                        "there is no file",
	} {
		c := newTerminal(t, address)
		out, err := c.run("users", "find", "ada@example.org")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(out+err.Error(), "canary") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if files, err := os.ReadDir(there); err != nil || len(files) > 0 {
		t.Errorf("%d files were made, %v", len(files), err)
	}
}

func TestDSN(t *testing.T) {
	for address, want := range map[string]string{
		"mysql://ada:p%40ss@db.test/app":               "ada:p@ss@tcp(db.test:3306)/app",
		"mysql://ada@[::1]:3307/app?tls=skip-verify":   "ada:@tcp([::1]:3307)/app?tls=skip-verify",
		"mariadb://ada:pass@db.test:3310/app?tls=true": "ada:pass@tcp(db.test:3310)/app?tls=true",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if got := dsn(u); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

func TestArguments(t *testing.T) {
	c := newTerminal(t, "sqlite:"+t.TempDir()+"/app.db")
	if out := c.must(); out != usage {
		t.Errorf("got %s", out)
	}
	if out := c.must("--help"); out != usage {
		t.Errorf("got %s", out)
	}
	for _, args := range [][]string{
		{"nothing"}, {"users"}, {"users", "find"}, {"users", "promote", "ada@example.org"}, {"migrate", "now"},
		{"migrate", "--forced"},
	} {
		if _, err := c.run(args...); err == nil || !strings.Contains(err.Error(), "users sign-out") {
			t.Errorf("%v: %v", args, err)
		}
	}
	c.must("migrate")
	people(t, c.env["LATCHKEY_STORE"])
	delete(c.env, "AUTH_SECRET")
	if _, err := c.run("users", "reset-password", "ada@example.org", "--yes"); err == nil ||
		!strings.Contains(err.Error(), "AUTH_SECRET") {
		t.Errorf("a reset with another secret: %v", err)
	}
}

// TestHidden: secrets are removed from an error of the database that repeats its connection string.
func TestHidden(t *testing.T) {
	says := errors.New("cannot connect to redis://ada:canary1@host")
	if got := hidden(says, "canary1"); got == nil || strings.Contains(got.Error(), "canary") {
		t.Errorf("got %v", got)
	}
	for _, password := range []string{"", "another"} {
		if got := hidden(says, password); !errors.Is(got, says) {
			t.Errorf("%q: got %v", password, got)
		}
	}
	if hidden(nil, "canary1") != nil {
		t.Error("an error out of nothing")
	}
}

// TestAddressTypedByOthers: names and addresses of users may contain control characters of a terminal.
func TestAddressTypedByOthers(t *testing.T) {
	address := "bbolt:" + bolt(t)
	s, err := open(address, false)
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.CreateUser(t.Context(), &core.User{
		ID: "7", Name: "Eve\nadmin\x1b[2J\u009b1m\u202e", Email: "eve\x1b[8m@example.org",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.LinkAccount(t.Context(), &core.Account{
		UserID: u.ID, Type: core.TypeOAuth, Provider: "hub", ProviderAccountID: "1\r\x1b]0;x\a",
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := newTerminal(t, address)
	c.answer = "no\n"
	for _, args := range [][]string{{"users", "find", "7"}, {"users", "show", "7"}, {"users", "delete", "7"}} {
		out, err := c.run(args...)
		if err != nil && !errors.Is(err, errNo) {
			t.Fatal(err)
		}
		if strings.ContainsFunc(strings.ReplaceAll(out, "\n", ""), func(r rune) bool { return !unicode.IsPrint(r) }) ||
			strings.Count(out, "\n") > 2 || !strings.Contains(out, "?[") {
			t.Errorf("%v prints %q", args, out)
		}
	}
}

// TestNoPasswordInOutput passes a store's address where another argument belongs. No output contains the password.
func TestNoPasswordInOutput(t *testing.T) {
	const address = "postgres://ada:canary1@127.0.0.1:1/app"
	file := "sqlite:" + t.TempDir() + "/app.db"
	newTerminal(t, file).must("migrate")
	for _, args := range [][]string{
		{address}, {"migrate", address}, {"users", "find", address}, {"users", "find", "password=canary1"},
		{"users", address, "ada@example.org"}, {"users", "find", "--yes=" + address, "ada@example.org"},
		{"users", "find", "--" + address, "ada@example.org"}, {"doctor", "--json=" + address}, {"doctor", "--store", address},
		{"users", "find", "--id", address}, {"users", "find", "--id=" + address}, {"schema", "--engine", address},
	} {
		c := newTerminal(t, file)
		out, err := c.run(args...)
		if strings.Contains(out+c.log.String(), "canary") || err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %s, %v", args, out, err)
		}
	}
}

// keyword returns the keyword form of a PostgreSQL address.
func keyword(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	parts := []string{"host=" + u.Hostname(), "user=" + u.User.Username(), "dbname=" + strings.TrimPrefix(u.Path, "/")}
	if u.Port() != "" {
		parts = append(parts, "port="+u.Port())
	}
	if password != "" {
		parts = append(parts, "password='"+password+"'")
	}
	for name, values := range u.Query() {
		parts = append(parts, name+"="+values[0])
	}
	return strings.Join(parts, " ")
}

// TestKeywordForm opens PostgreSQL by an address in keyword form.
func TestKeywordForm(t *testing.T) {
	c := newTerminal(t, keyword(t, engines.Postgres(t)))
	c.must("migrate")
	if out := c.must("doctor"); !strings.Contains(out, "1 ok, 0 wrong") {
		t.Errorf("doctor says %s", out)
	}
}

// TestTheUserThatWasTyped acts on the user with the typed address, and on no user if the address is ambiguous.
func TestTheUserThatWasTyped(t *testing.T) {
	for _, row := range []struct {
		name      string
		addresses []string // of the users 0, 1, …
		args      []string
		want      string // the user's number, or part of the error
	}{
		{"as typed", []string{"Ada@Example.com"}, []string{"Ada@Example.com"}, "0"},
		{"in canonical form", []string{"ada@example.com"}, []string{"ADA@Example.com"}, "0"},
		{"two users", []string{"Ada@Example.com", "ada@example.com"}, []string{"Ada@Example.com"}, "two users"},
		{"the canonical of two", []string{"Ada@Example.com", "ada@example.com"}, []string{"ada@example.com"}, "1"},
		{"other capitals", []string{"Ada@Example.com"}, []string{"ADA@example.com"}, "there is no user"},
		{"an address that is none", []string{"ada@[10.0.0.1]"}, []string{"ada@[10.0.0.1]"}, "0"},
		{"an ID", []string{"ada@example.com"}, []string{"id-0"}, "0"},
		{"an ID with an at-sign", []string{"ada@example.com", "bob@example.com"}, []string{"--id", "bob@id"}, "2"},
		{"an ID behind", []string{"ada@example.com"}, []string{"bob@id", "--id"}, "2"},
		{"an ID as a value", []string{"ada@example.com"}, []string{"--id=bob@id"}, "2"},
		{"an ID that is none", []string{"ada@example.com"}, []string{"--id", "ada@example.com"}, "there is no user"},
	} {
		t.Run(row.name, func(t *testing.T) {
			address := "bbolt:" + bolt(t)
			s, err := open(address, false)
			if err != nil {
				t.Fatal(err)
			}
			addUser := func(id, email string) {
				if _, err := s.CreateUser(t.Context(), &core.User{ID: id, Email: email}); err != nil {
					t.Fatal(err)
				}
			}
			for i, email := range row.addresses {
				addUser("id-"+strconv.Itoa(i), email)
			}
			addUser("bob@id", "other@example.com")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			c := newTerminal(t, address)
			out, err := c.run(append([]string{"users", "find"}, row.args...)...)
			want := map[string]string{"0": "id-0 ", "1": "id-1 ", "2": "bob@id "}[row.want]
			switch {
			case want != "":
				if err != nil || !strings.HasPrefix(out, want) {
					t.Errorf("find says %q, %v", out, err)
				}
			case err == nil || !strings.Contains(err.Error(), row.want):
				t.Errorf("find says %q, %v", out, err)
			case row.want == "two users" && (!strings.Contains(err.Error(), "id-0") || !strings.Contains(err.Error(), "id-1")):
				t.Errorf("the error does not name both: %v", err)
			}
			if row.want != "two users" {
				return
			}
			if _, err := c.run("users", "delete", row.args[0], "--yes"); err == nil {
				t.Error("one of two users was deleted")
			}
			for _, id := range []string{"id-0", "id-1"} {
				c.must("users", "find", id)
			}
		})
	}
}

// TestEmails lists the addresses that are not in canonical form.
func TestEmails(t *testing.T) {
	c := newTerminal(t, "sqlite:"+t.TempDir()+"/app.db")
	c.must("migrate")
	if out := c.must("emails"); out != "all addresses are in canonical form\n" {
		t.Errorf("emails says %s", out)
	}
	s, err := open(c.env["LATCHKEY_STORE"], false)
	if err != nil {
		t.Fatal(err)
	}
	for id, email := range map[string]string{
		"a": "Ada@Example.com", "b": "ada@example.com", "c": "Bob@example.com", "d": "dan@example.com", "e": "no address",
	} {
		if _, err := s.CreateUser(t.Context(), &core.User{ID: id, Email: email}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := c.run("emails")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	slices.Sort(lines)
	want := []string{
		"a  Ada@Example.com  should be ada@example.com, which user b has too",
		"c  Bob@example.com  should be bob@example.com",
		"e  no address  is not a plain address: no sign-in matches it",
	}
	if !slices.Equal(lines, want) || err == nil || !strings.HasSuffix(err.Error(), ": 3") {
		t.Errorf("emails says\n%s\n%v", out, err)
	}
	if out, err := c.run("doctor"); err == nil || !strings.Contains(out, "3 users have addresses") {
		t.Errorf("doctor says %s, %v", out, err)
	}
	if _, err := newTerminal(t, "bbolt:"+bolt(t)).run("emails"); !errors.Is(err, errNoList) {
		t.Errorf("a store without a list: %v", err)
	}
}
