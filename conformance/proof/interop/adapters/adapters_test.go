package adapters_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/mysql"
	"github.com/latchkey-go/latchkey/storage/postgres"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// The parts of an adapter's results that the tests check.
type (
	user struct {
		ID            any
		Name, Email   string
		EmailVerified *at
	}
	session struct {
		SessionToken string
		UserID       any
		Expires      at
	}
	sessionAndUser struct {
		Session session
		User    user
	}
	token struct {
		Identifier string
		Expires    at
	}
)

func (u *user) id() string { return fmt.Sprint(u.ID) }

var now = time.Date(2027, 3, 14, 15, 9, 26, 535e6, time.UTC)

// both are Auth.js's adapter and Latchkey's store on one database.
type both struct {
	*testing.T
	theirs *peer
	ours   fullStore
	db     database
	// precision is the precision of session expiry in the tables.
	precision time.Duration
}

// adapters are the databases. tables are the statements that create the adapter's tables. If tables is nil, the adapter
// creates them.
var adapters = map[string]struct {
	database  func(t *testing.T) database
	tables    func(t *testing.T) []string
	precision time.Duration // 0 means milliseconds
}{
	"prisma sqlite":              {database: onSQLite(sqlite.Prisma()), tables: made("sqlite", "prisma")},
	"prisma sqlite unixepoch-ms": {database: onSQLite(sqlite.Prisma()), tables: made("sqlite", "prisma")},
	"prisma postgres":            {database: onPostgres(postgres.Prisma()), tables: made("postgres", "prisma")},
	"drizzle sqlite":             {database: onSQLite(sqlite.Drizzle()), tables: made("sqlite", "drizzle")},
	"drizzle postgres":           {database: onPostgres(postgres.Drizzle()), tables: made("postgres", "drizzle")},
	"drizzle mysql": {
		database: onMariaDB(mysql.Drizzle()), tables: made("mysql", "drizzle"), precision: time.Second,
	},
	"typeorm postgres":   {database: onPostgres(postgres.TypeORM())},
	"typeorm mysql":      {database: onMariaDB(mysql.TypeORM())},
	"pg":                 {database: onPostgres(postgres.AuthJS()), tables: made("postgres", "pg-adapter")},
	"kysely postgres":    {database: onPostgres(postgres.Kysely()), tables: made("postgres", "kysely")},
	"sequelize postgres": {database: onPostgres(postgres.Sequelize())},
	"mongodb":            {database: onMongoDB},
}

func made(engine, adapter string) func(t *testing.T) []string {
	return func(t *testing.T) []string { return ddl(t, engine, adapter) }
}

// begin creates the adapter's tables, signs Ada in with the adapter, and opens the store.
func begin(t *testing.T, name string) *both {
	t.Helper()
	a := adapters[name]
	db := a.database(t)
	if a.tables != nil {
		db.execute(t, a.tables(t)...)
	}
	db.settings.Adapter = name
	b := &both{T: t, theirs: start(t, db.settings), db: db, precision: max(a.precision, time.Millisecond)}
	if a.tables == nil && name != "mongodb" {
		call[any](b.theirs, "push")
	}
	b.signInThere("ada", now.Add(30*24*time.Hour))
	b.ours = db.open(t)
	b.must(b.ours.Migrate(t.Context()))
	return b
}

func (b *both) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *both) gone(what string, err error) {
	b.Helper()
	if !errors.Is(err, core.ErrNotFound) {
		b.Errorf("%s: error %v, want core.ErrNotFound", what, err)
	}
}

// null calls a method of the adapter that must find nothing.
func (b *both) null(method string, args ...any) {
	b.Helper()
	if raw, err := b.theirs.try(method, args...); err != nil || raw != nil && string(raw) != "null" {
		b.Errorf("%s answers %s, error %v, want null", method, raw, err)
	}
}

// near compares times with the precision of the tables.
func (b *both) near(what string, got, want time.Time) {
	b.Helper()
	if got.Sub(want).Abs() >= b.precision {
		b.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (a at) time() time.Time { return time.UnixMilli(a.Millis).UTC() }

func email(name string) string { return name + "@example.com" }

// signInThere makes the adapter's calls of a first sign-in in Auth.js: user, account and session. The session token is
// name.
func (b *both) signInThere(name string, expires time.Time) user {
	b.Helper()
	u := call[user](b.theirs, "createUser", map[string]any{
		"id": uuid(), "name": name, "email": email(name), "emailVerified": on(now), "image": nil,
	})
	b.linkThere(u, name)
	call[session](b.theirs, "createSession", map[string]any{"sessionToken": name, "userId": u.ID, "expires": on(expires)})
	return u
}

func (b *both) linkThere(u user, account string) {
	b.Helper()
	call[any](b.theirs, "linkAccount", map[string]any{
		"userId": u.ID, "type": "oidc", "provider": "mock", "providerAccountId": account,
		"access_token": "at-" + account, "expires_at": 1893456000,
		"scope": "openid", "token_type": "bearer",
	})
}

// signInHere does the same with the store.
func (b *both) signInHere(name string, expires time.Time) *core.User {
	b.Helper()
	u, err := b.ours.CreateUser(b.Context(), &core.User{ID: uuid(), Name: name, Email: email(name), EmailVerified: now})
	b.must(err)
	b.must(b.ours.LinkAccount(b.Context(), &core.Account{
		UserID: u.ID, Type: core.TypeOIDC, Provider: "mock", ProviderAccountID: name,
		AccessToken: core.Secret("at-" + name), ExpiresAt: time.Unix(1893456000, 0),
		Scope: "openid", TokenType: "bearer",
	}))
	b.must(b.ours.CreateSession(b.Context(), &store.Session{
		Token: core.Secret(name), UserID: u.ID, Expires: expires,
	}))
	return u
}

func uuid() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails
	raw[6], raw[8] = raw[6]&0x0f|0x40, raw[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])
}

// TestRoundTripOfProxies: on each database, the adapter writes, the store continues, and the adapter continues again.
func TestRoundTripOfProxies(t *testing.T) {
	for name := range adapters {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // starting processes takes most of the time
			b := begin(t, name)
			b.sessions()
			b.users()
			b.tokens()
			b.cleaning()
			b.deletion()
		})
	}
}

// sessions checks that each side reads and extends the other's sessions.
func (b *both) sessions() {
	b.Helper()
	ends, later := now.Add(30*24*time.Hour), now.Add(60*24*time.Hour)
	bob := b.signInHere("bob", ends)

	theirs := call[sessionAndUser](b.theirs, "getSessionAndUser", "bob")
	if theirs.User.id() != bob.ID || theirs.User.Email != bob.Email || fmt.Sprint(theirs.Session.UserID) != bob.ID {
		b.Errorf("our session is one of %+v there, want %s", theirs.User, bob.ID)
	}
	b.near("our session, there", theirs.Session.Expires.time(), ends)
	if theirs.User.EmailVerified == nil {
		b.Errorf("our user's address is not proved there")
	} else {
		b.near("our user's address, there", theirs.User.EmailVerified.time(), now)
	}
	call[any](b.theirs, "updateSession", map[string]any{"sessionToken": "bob", "expires": on(later)})
	stored, u, err := b.ours.SessionAndUser(b.Context(), "bob")
	b.must(err)
	if u.ID != bob.ID {
		b.Errorf("user %s, want %s", u.ID, bob.ID)
	}
	b.near("our session, extended there", stored.Expires, later)

	stored, u, err = b.ours.SessionAndUser(b.Context(), "ada")
	b.must(err)
	if u.Email != email("ada") || u.Name != "ada" || stored.UserID != u.ID {
		b.Errorf("their session is one of %q here", u.ID)
	}
	b.near("their session, here", stored.Expires, ends)
	b.near("their user's address, here", u.EmailVerified, now)
	b.must(b.ours.UpdateSession(b.Context(), "ada", later))
	extended := call[sessionAndUser](b.theirs, "getSessionAndUser", "ada").Session.Expires
	b.near("their session, extended here", extended.time(), later)
}

// users checks that both sides find the same user by account and by address, and see each other's changes.
func (b *both) users() {
	b.Helper()
	for _, name := range []string{"ada", "bob"} {
		u, err := b.ours.UserByEmail(b.Context(), email(name))
		b.must(err)
		byAccount, err := b.ours.UserByAccount(b.Context(), "mock", name)
		b.must(err)
		account := map[string]string{"provider": "mock", "providerAccountId": name}
		theirs := call[user](b.theirs, "getUserByEmail", email(name))
		theirsByAccount := call[user](b.theirs, "getUserByAccount", account)
		if byAccount.ID != u.ID || theirs.id() != u.ID || theirsByAccount.id() != u.ID {
			b.Errorf("%s is %s, %s, %s and %s", name, u.ID, byAccount.ID, theirs.id(), theirsByAccount.id())
		}
		list, err := b.ours.Accounts(b.Context(), u.ID)
		b.must(err)
		if len(list) != 1 || list[0].AccessToken != core.Secret("at-"+name) ||
			list[0].ExpiresAtUnix() != 1893456000 || list[0].Type != core.TypeOIDC {
			b.Errorf("%s has %d accounts, or other tokens", name, len(list))
		}
		_, err = b.ours.CreateUser(b.Context(), &core.User{ID: uuid(), Email: email(name)})
		if !errors.Is(err, core.ErrConflict) {
			b.Errorf("a second user with the address of %s: error %v", name, err)
		}
		err = b.ours.LinkAccount(b.Context(), &core.Account{
			UserID: u.ID, Type: core.TypeOIDC, Provider: "mock", ProviderAccountID: name,
		})
		if !errors.Is(err, core.ErrConflict) {
			b.Errorf("the account of %s a second time: error %v", name, err)
		}

		call[any](b.theirs, "updateUser", map[string]any{
			"id": theirs.ID, "name": name + " of theirs", "emailVerified": on(now.Add(time.Hour)),
		})
		u, err = b.ours.User(b.Context(), u.ID)
		b.must(err)
		if u.Name != name+" of theirs" || u.Email != email(name) {
			b.Errorf("changed there: %s, %s", u.Name, u.Email)
		}
		b.near("address proved there", u.EmailVerified, now.Add(time.Hour))
		u.Name, u.EmailVerified = name+" of ours", now.Add(2*time.Hour)
		b.must(u.Extra.Set("role", "admin"))
		_, err = b.ours.UpdateUser(b.Context(), u)
		b.must(err)
		theirs = call[user](b.theirs, "getUser", u.ID)
		if theirs.Name != name+" of ours" || theirs.Email != email(name) || theirs.EmailVerified == nil {
			b.Errorf("changed here: %+v", theirs)
			continue
		}
		b.near("address proved here", theirs.EmailVerified.time(), now.Add(2*time.Hour))
		call[any](b.theirs, "updateUser", map[string]any{"id": theirs.ID, "name": name})
		if u, err = b.ours.User(b.Context(), u.ID); err != nil || u.Extra.Text("role") != "admin" {
			b.Errorf("a further member of a user is %q after a change there, error %v", u.Extra.Text("role"), err)
		}
	}
}

// tokens checks that each side uses the other's tokens once.
func (b *both) tokens() {
	b.Helper()
	b.tokenThere("theirs", now)
	got, err := b.ours.UseVerificationToken(b.Context(), email("ada"), "theirs")
	b.must(err)
	b.near("their token", got.Expires, now)
	_, err = b.ours.UseVerificationToken(b.Context(), email("ada"), "theirs")
	b.gone("their token, used twice", err)
	b.null("useVerificationToken", map[string]string{"identifier": email("ada"), "token": "theirs"})

	b.tokenHere("ours", now)
	used := call[token](b.theirs, "useVerificationToken", map[string]string{"identifier": email("ada"), "token": "ours"})
	b.near("our token", used.Expires.time(), now)
	b.null("useVerificationToken", map[string]string{"identifier": email("ada"), "token": "ours"})
	_, err = b.ours.UseVerificationToken(b.Context(), email("ada"), "ours")
	b.gone("our token, used there", err)
}

func (b *both) tokenThere(token string, expires time.Time) {
	b.Helper()
	call[any](b.theirs, "createVerificationToken", map[string]any{
		"identifier": email("ada"), "token": token, "expires": on(expires),
	})
}

func (b *both) tokenHere(token string, expires time.Time) {
	b.Helper()
	b.must(b.ours.CreateVerificationToken(b.Context(), &store.VerificationToken{
		Identifier: email("ada"), Token: token, Expires: expires,
	}))
}

// cleaning checks that each side deletes the expired rows of both, and nothing else.
func (b *both) cleaning() {
	b.Helper()
	u, err := b.ours.UserByEmail(b.Context(), email("ada"))
	b.must(err)
	theirs := call[user](b.theirs, "getUserByEmail", email("ada"))
	ends := map[string]time.Time{
		"live": now.Add(time.Hour), "ended": now.Add(-time.Hour), "long ended": now.Add(-400 * 24 * time.Hour),
	}
	fill := func() {
		for name, expires := range ends {
			call[any](b.theirs, "createSession", map[string]any{
				"sessionToken": name + " theirs", "userId": theirs.ID, "expires": on(expires),
			})
			b.must(b.ours.CreateSession(b.Context(), &store.Session{
				Token: core.Secret(name + " ours"), UserID: u.ID, Expires: expires,
			}))
			b.tokenThere(name+" theirs", expires)
			b.tokenHere(name+" ours", expires)
		}
	}
	want := []string{"ada", "bob", "live ours", "live theirs"}
	check := func(side string) {
		b.Helper()
		if live := call[[]string](b.theirs, "live", on(now)); !slices.Equal(live, want) {
			b.Errorf("%s cleaned: live sessions %q, want %q", side, live, want)
		}
		for name, expires := range ends {
			for _, of := range []string{" ours", " theirs"} {
				_, err := b.ours.DeleteSession(b.Context(), name+of)
				if there := err == nil; there != expires.After(now) {
					b.Errorf("%s cleaned: session %q is there: %v, error %v", side, name+of, there, err)
				}
				_, err = b.ours.UseVerificationToken(b.Context(), email("ada"), name+of)
				if there := err == nil; there != expires.After(now) {
					b.Errorf("%s cleaned: token %q is there: %v, error %v", side, name+of, there, err)
				}
			}
		}
	}
	fill()
	if live := call[[]string](b.theirs, "live", on(now)); !slices.Equal(live, want) {
		b.Errorf("live sessions %q, want %q", live, want)
	}
	if n := call[int](b.theirs, "expire", on(now)); n != 4 {
		b.Errorf("Auth.js's side deleted %d sessions, want 4", n)
	}
	check("Auth.js's side")
	fill()
	if n, err := b.ours.DeleteExpired(b.Context(), now); n != 8 || err != nil {
		b.Errorf("DeleteExpired removed %d rows, error %v, want 4 sessions and 4 tokens", n, err)
	}
	check("Latchkey")
}

// deletion checks that each side sees the other's deletions.
func (b *both) deletion() {
	b.Helper()
	call[any](b.theirs, "deleteSession", "bob")
	_, _, err := b.ours.SessionAndUser(b.Context(), "bob")
	b.gone("our session, ended there", err)
	_, err = b.ours.DeleteSession(b.Context(), "ada")
	b.must(err)
	b.null("getSessionAndUser", "ada")

	bob := call[user](b.theirs, "getUserByEmail", email("bob"))
	call[any](b.theirs, "unlinkAccount", map[string]string{"provider": "mock", "providerAccountId": "bob"})
	_, err = b.ours.UserByAccount(b.Context(), "mock", "bob")
	b.gone("an account unlinked there", err)
	call[any](b.theirs, "deleteUser", bob.ID)
	_, err = b.ours.User(b.Context(), bob.id())
	b.gone("a user deleted there", err)

	ada, err := b.ours.UserByEmail(b.Context(), email("ada"))
	b.must(err)
	b.must(b.ours.DeleteUser(b.Context(), ada.ID))
	b.null("getUser", ada.ID)
	b.null("getUserByEmail", email("ada"))
	b.null("getUserByAccount", map[string]string{"provider": "mock", "providerAccountId": "ada"})
}

// prismaPush contains the statements of `prisma db push` for columns and indexes that are not in the models. The tool
// itself needs a program that npm does not provide.
var prismaPush = []string{
	`ALTER TABLE "User" DROP COLUMN extra`, `ALTER TABLE "Account" DROP COLUMN extra`,
	`ALTER TABLE "Account" DROP COLUMN authorization_details`,
	`DROP INDEX "Account_user"`, `DROP INDEX "Session_user"`, `DROP INDEX "Session_expires"`,
	`DROP INDEX "VerificationToken_expires"`, `DROP TABLE latchkey_schema`,
}

// TestSchemaTool runs the schema tool of Auth.js's adapter, which removes what it does not know. The running store
// reports the fix, the next start applies it, and all users stay signed in.
func TestSchemaTool(t *testing.T) {
	for name, byHand := range map[string][]string{
		"typeorm postgres": nil, "typeorm mysql": nil, "drizzle sqlite": nil,
		"prisma sqlite": prismaPush, "prisma postgres": prismaPush,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, name)
			b.signInHere("bob", now.Add(time.Hour))
			if byHand != nil {
				b.db.execute(t, byHand...)
			} else {
				call[any](b.theirs, "push")
			}
			_, _, err := b.ours.SessionAndUser(t.Context(), "bob")
			if err == nil || !strings.Contains(err.Error(), "call store.Migrate(ctx)") {
				t.Errorf("the tool has dropped nothing, or the error does not say what to do: %v", err)
			}
			restarted := b.db.open(t)
			b.must(restarted.Migrate(t.Context()))
			for _, s := range []fullStore{restarted, b.ours} {
				for _, token := range []string{"ada", "bob"} {
					if _, u, err := s.SessionAndUser(t.Context(), token); err != nil || u.Email != email(token) {
						t.Errorf("session of %s: user %v, error %v", token, u, err)
					}
				}
			}
			b.users()
		})
	}
}
