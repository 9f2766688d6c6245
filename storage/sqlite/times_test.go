package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// The forms of time that Prisma writes, and the form of SQLite itself.
func asText(at time.Time) string   { return at.UTC().Format("'2006-01-02T15:04:05.000+00:00'") }
func asMillis(at time.Time) string { return fmt.Sprint(at.UnixMilli()) }
func byEngine(at time.Time) string { return at.UTC().Format("'2006-01-02 15:04:05'") }

var noon = time.Date(2026, 11, 21, 12, 0, 0, 648e6, time.UTC)

// prisma creates the tables of Prisma's adapter with one user, and with sessions from rows of token and time.
func prisma(t *testing.T, sessions ...string) (path string) {
	t.Helper()
	ddl, err := os.ReadFile("testdata/prisma.sql")
	if err != nil {
		t.Fatal(err)
	}
	path = file(t)
	execute(t, path, string(ddl), `INSERT INTO "User" (id, email, updatedAt) VALUES ('ada', 'ada@example.com', 0)`)
	execute(t, path, sessions...)
	return path
}

func sessionRow(token, expires string) string {
	const insert = `INSERT INTO "Session" (sessionToken, userId, expires, updatedAt) VALUES ('%s', 'ada', %s, 0)`
	return fmt.Sprintf(insert, token, expires)
}

func tokenRow(expires string) string {
	return `INSERT INTO "VerificationToken" VALUES ('i', 't', ` + expires + `)`
}

// column returns one text from the first row of a query.
func column(t *testing.T, path, query string) (value string) {
	t.Helper()
	db, err := sql.Open("sqlite", sqlite.DSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// TestPrismaTimes checks that the store writes times in the form that Prisma compares in this database.
func TestPrismaTimes(t *testing.T) {
	text, millis := "2026-11-21T12:00:00.648+00:00", asMillis(noon)
	for name, row := range map[string]struct {
		rows   []string
		layout sqlite.Layout
		want   string
	}{
		"empty tables": {nil, sqlite.Prisma(), text},
		"texts":        {[]string{sessionRow("s", asText(noon))}, sqlite.Prisma(), text},
		"milliseconds": {[]string{sessionRow("s", asMillis(noon))}, sqlite.Prisma(), millis},
		"both": {
			[]string{sessionRow("s", asMillis(noon)), sessionRow("t", asText(noon.Add(-time.Hour)))},
			sqlite.Prisma(), text,
		},
		"texts in a token": {[]string{tokenRow(asText(noon))}, sqlite.Prisma(), text},
		"texts in a token, milliseconds in a session": {
			[]string{tokenRow(asText(noon)), sessionRow("s", asMillis(noon))}, sqlite.Prisma(), text,
		},
		"milliseconds in a token": {[]string{tokenRow(asMillis(noon))}, sqlite.Prisma(), millis},
		"texts in a user":         {[]string{`UPDATE "User" SET emailVerified = ` + asText(noon)}, sqlite.Prisma(), text},
		"milliseconds in a user": {
			[]string{`UPDATE "User" SET emailVerified = ` + asMillis(noon)}, sqlite.Prisma(), millis,
		},
		"said to be milliseconds": {nil, withTimes(sqlstore.MillisTimes), millis},
		"said to be texts": {
			[]string{sessionRow("s", asMillis(noon))}, withTimes(sqlstore.OffsetTimes), text,
		},
		"texts, said to be milliseconds": {
			[]string{sessionRow("s", asText(noon))}, withTimes(sqlstore.MillisTimes), millis,
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := prisma(t, row.rows...)
			migrated := open(t, path, row.layout)
			unmigrated, err := sqlite.Open(path, sqlite.Options{Layout: row.layout})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = unmigrated.Close() }()
			for i, s := range []*sqlite.Store{unmigrated, migrated} {
				token := fmt.Sprint("new", i)
				session := &store.Session{Token: core.Secret(token), UserID: "ada", Expires: noon}
				if err := s.CreateSession(t.Context(), session); err != nil {
					t.Fatal(err)
				}
				query := `SELECT CAST(expires AS TEXT) FROM "Session" WHERE sessionToken = '` + token + `'`
				if got := column(t, path, query); got != row.want {
					t.Errorf("a new session ends at %s, want %s", got, row.want)
				}
				link := &store.VerificationToken{Identifier: token, Token: "hash", Expires: noon}
				if err := s.CreateVerificationToken(t.Context(), link); err != nil {
					t.Fatal(err)
				}
				query = `SELECT CAST(expires AS TEXT) FROM "VerificationToken" WHERE identifier = '` + token + `'`
				if got := column(t, path, query); got != row.want {
					t.Errorf("a new token ends at %s, want %s", got, row.want)
				}
				u, err := s.User(t.Context(), "ada")
				if err != nil {
					t.Fatal(err)
				}
				u.EmailVerified = noon
				if _, err := s.UpdateUser(t.Context(), u); err != nil {
					t.Fatal(err)
				}
				if got := column(t, path, `SELECT CAST(emailVerified AS TEXT) FROM "User"`); got != row.want {
					t.Errorf("an address was verified at %s, want %s", got, row.want)
				}
				got := column(t, path, `SELECT CAST(updatedAt AS TEXT) FROM "User"`)
				if len(got) != len(row.want) || strings.Contains(got, "+00:00") != (row.want == text) {
					t.Errorf("a user was updated at %s, want the form of %s", got, row.want)
				}
			}
		})
	}
}

// TestPrismaTimesInTransaction checks that the first write of a process can be in a sign-in transaction, on a handle
// with one connection.
func TestPrismaTimesInTransaction(t *testing.T) {
	path := prisma(t, sessionRow("s", asMillis(noon)))
	db, err := sql.Open("sqlite", sqlite.DSN(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	open(t, path, sqlite.Prisma()) // adds the store's own columns
	s, err := sqlite.New(db, sqlite.Options{Layout: sqlite.Prisma()})
	if err != nil {
		t.Fatal(err)
	}
	err = s.InTransaction(t.Context(), func(ctx context.Context, tx core.Store) error {
		return tx.(store.SessionStore).CreateSession(ctx, &store.Session{Token: "new", UserID: "ada", Expires: noon})
	})
	if err != nil {
		t.Fatal(err)
	}
	const query = `SELECT CAST(expires AS TEXT) FROM "Session" WHERE sessionToken = 'new'`
	if got := column(t, path, query); got != asMillis(noon) {
		t.Errorf("a new session ends at %s", got)
	}
}

// TestExpiredInBothForms checks that rows with times in both forms, and with SQLite's CURRENT_TIMESTAMP, are deleted
// when they have expired and not before, regardless of the form that the store writes.
func TestExpiredInBothForms(t *testing.T) {
	forms := map[string]func(time.Time) string{"text": asText, "millis": asMillis, "engine": byEngine}
	rest := noon.Sub(noon.Truncate(time.Second)) // CURRENT_TIMESTAMP has whole seconds
	for name, layout := range map[string]sqlite.Layout{
		"found": sqlite.Prisma(), "milliseconds": withTimes(sqlstore.MillisTimes),
		"texts": withTimes(sqlstore.OffsetTimes), "texts with Z": withTimes(sqlstore.ISOTimes),
	} {
		t.Run(name, func(t *testing.T) {
			var rows []string
			for form, write := range forms {
				for token, at := range map[string]time.Time{
					"live": noon.Add(time.Hour), "ends now": noon,
					"ended": noon.Add(-time.Millisecond), "long ended": noon.Add(-40 * 24 * time.Hour),
				} {
					if form == "engine" {
						at = at.Add(-rest)
						if token == "ended" {
							at = at.Add(-time.Second)
						}
					}
					rows = append(rows, sessionRow(form+" "+token, write(at)))
				}
				const insert = `INSERT INTO "VerificationToken"
					VALUES ('%[1]s live', 't', %[2]s), ('%[1]s ended', 't', %[3]s)`
				live, ended := write(noon.Add(time.Hour)), write(noon.Add(-time.Hour))
				rows = append(rows, fmt.Sprintf(insert, form, live, ended))
			}
			path := prisma(t, rows...)
			s := open(t, path, layout)
			n, err := s.DeleteExpired(t.Context(), noon.Truncate(time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			if want := 3*2 + 1 + 3; n != want { // without its fraction of a second, SQLite's time is before now
				t.Errorf("%d rows went, want %d", n, want)
			}
			for form := range forms {
				for _, token := range []string{"live", "ends now", "ended", "long ended"} {
					there := column(t, path, `SELECT COUNT(*) FROM "Session" WHERE sessionToken = '`+form+" "+token+`'`)
					if want := token == "live" || token == "ends now" && form != "engine"; (there == "1") != want {
						t.Errorf("session %s %s: there %s", form, token, there)
					}
				}
			}
		})
	}
}

func withTimes(times sqlstore.Times) sqlite.Layout {
	l := sqlite.Prisma()
	l.Times = times
	return l
}

// TestSessionsInBothForms checks that sessions in both forms are read, and listed in the order of their expiries.
func TestSessionsInBothForms(t *testing.T) {
	path := prisma(t,
		sessionRow("third", asText(noon.Add(3*time.Hour))), sessionRow("second", asMillis(noon.Add(2*time.Hour))),
		sessionRow("first", asText(noon.Add(time.Hour))), sessionRow("fourth", asMillis(noon.Add(4*time.Hour))))
	s := open(t, path, sqlite.Prisma())
	list, err := s.Sessions(t.Context(), "ada")
	if err != nil || len(list) != 4 {
		t.Fatalf("%d sessions, error %v", len(list), err)
	}
	for i, want := range []string{"first", "second", "third", "fourth"} {
		if string(list[i].Token) != want || !list[i].Expires.Equal(noon.Add(time.Duration(i+1)*time.Hour)) {
			t.Errorf("session %d is %s, which ends at %v", i, string(list[i].Token), list[i].Expires)
		}
	}
}
