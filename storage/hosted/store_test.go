package hosted_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/conformance/rig/tables"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/hosted"
	"github.com/latchkey-go/latchkey/storage/internal/dbtest"
)

func open(t testing.TB, s *tables.Server) *hosted.Store { return openPrefix(t, s, "") }

func openPrefix(t testing.TB, s *tables.Server, prefix string) *hosted.Store {
	t.Helper()
	store, err := hosted.New(hosted.Config{
		DatabaseURL: s.URL + tables.Path, Branch: tables.Branch, APIKey: tables.APIKey, Prefix: prefix,
	})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t testing.TB, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error %v, want %v", err, target)
	}
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store { return open(t, tables.New(t, "svc_")) })
	t.Logf("hosted: %d cases", storetest.Count())
}

func TestPrefix(t *testing.T) {
	storetest.Run(t, func(t *testing.T) core.Store {
		return openPrefix(t, tables.New(t, "nextauth_"), "nextauth_")
	})
}

// TestContinues uses records as Auth.js's adapter writes them.
func TestContinues(t *testing.T) {
	s := tables.New(t, "svc_")
	const at = "2030-01-02T03:04:05.678Z"
	insert := func(table, id string, fields map[string]any) {
		fields["id"] = id
		must(t, s.Insert("svc_"+table, fields))
	}
	insert("users", "rec_u", map[string]any{"name": "Ada", "email": "ada@example.com", "emailVerified": at})
	insert("accounts", "rec_a", map[string]any{
		"type": "oauth", "provider": "github", "providerAccountId": "4711", "access_token": "at",
		"expires_at": json.Number("1893456000"), "scope": "user", "user": "rec_u",
	})
	insert("users_accounts", "rec_ua", map[string]any{"user": "rec_u", "account": "rec_a"})
	insert("sessions", "rec_s", map[string]any{"sessionToken": "s1", "expires": at, "user": "rec_u"})
	insert("users_sessions", "rec_us", map[string]any{"user": "rec_u", "session": "rec_s"})
	insert("verificationTokens", "rec_t", map[string]any{"identifier": "ada@example.com", "token": "hash", "expires": at})
	dbtest.CheckExisting(t, open(t, s), dbtest.Existing{UserID: "rec_u", Session: "s1"})
}

// TestOlderDatabase uses a database without the table of records.
func TestOlderDatabase(t *testing.T) {
	opened, s := filled(t, 3)
	s.Drop("svc_records")
	n, err := opened.DeleteExpired(t.Context(), time.Unix(2e9, 0))
	must(t, err)
	must(t, opened.DeleteUser(t.Context(), "u1"))
	if n != 3 || s.Rows() != 0 {
		t.Errorf("%d sessions expired, %d rows are left", n, s.Rows())
	}
	_, err = opened.Record(t.Context(), "note", "k")
	if err == nil || errors.Is(err, core.ErrNotFound) || !strings.Contains(err.Error(), "no such table") {
		t.Errorf("error %v", err)
	}
}

func filled(t *testing.T, n int) (*hosted.Store, *tables.Server) {
	t.Helper()
	s := tables.New(t, "svc_")
	opened := open(t, s)
	_, err := opened.CreateUser(t.Context(), &core.User{ID: "u1", Email: "ada@example.com"})
	must(t, err)
	for i := range n {
		token := core.Secret(fmt.Sprint("s", i))
		session := &store.Session{Token: token, UserID: "u1", Expires: time.Unix(1e9, 0)}
		must(t, opened.CreateSession(t.Context(), session))
	}
	return opened, s
}

func TestCosts(t *testing.T) {
	store, s := filled(t, 10)
	before := s.Requests()
	for i := range 10 {
		_, _, err := store.SessionAndUser(t.Context(), fmt.Sprint("s", i))
		must(t, err)
	}
	if n := s.Requests() - before; n != 10 {
		t.Errorf("%d requests for 10 sessions read", n)
	}
	before = s.Requests()
	for i := range 10 {
		must(t, store.UpdateSession(t.Context(), fmt.Sprint("s", i), time.Unix(2e9, 0)))
	}
	if n := s.Requests() - before; n != 10 {
		t.Errorf("%d requests for 10 sessions extended", n)
	}
}

func TestMany(t *testing.T) {
	store, s := filled(t, 450) // more than two pages
	list, err := store.Sessions(t.Context(), "u1")
	must(t, err)
	if len(list) != 450 {
		t.Errorf("%d sessions listed", len(list))
	}
	must(t, store.UpdateSession(t.Context(), "s0", time.Unix(2e9, 0)))
	n, err := store.DeleteExpired(t.Context(), time.Unix(15e8, 0))
	must(t, err)
	if n != 449 {
		t.Errorf("%d expired", n)
	}
	must(t, store.DeleteUser(t.Context(), "u1"))
	if n := s.Rows(); n != 0 {
		t.Errorf("%d rows left of a deleted user", n)
	}
}

// TestMeeting runs many concurrent sign-ins of one user: each reads and writes the same records.
func TestMeeting(t *testing.T) {
	opened, _ := filled(t, 0)
	must(t, opened.LinkAccount(t.Context(), &core.Account{UserID: "u1", Provider: "p", ProviderAccountID: "1"}))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			err := opened.InTransaction(t.Context(), func(ctx context.Context, tx core.Store) error {
				u, err := tx.UserByAccount(ctx, "p", "1")
				if err != nil {
					return err
				}
				a := &core.Account{Provider: "p", ProviderAccountID: "1", AccessToken: core.Secret(fmt.Sprint(i))}
				if err := tx.(store.AccountStore).UpdateAccount(ctx, a); err != nil {
					return err
				}
				token := core.Secret(fmt.Sprint("s", i))
				session := &store.Session{Token: token, UserID: u.ID, Expires: time.Unix(1e9, 0)}
				return tx.(store.SessionStore).CreateSession(ctx, session)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for others, want := range map[int]bool{1: true, 1000: false} { // an overtaken transaction runs again
		begun := 0
		err := opened.InTransaction(t.Context(), func(ctx context.Context, tx core.Store) error {
			u, err := tx.User(ctx, "u1")
			if err != nil {
				return err
			}
			if begun++; begun <= others {
				changed := *u
				changed.Name = fmt.Sprintf("%d changes by others, the %d. now", others, begun)
				if _, err := opened.UpdateUser(ctx, &changed); err != nil {
					return err
				}
			}
			u.Image = "i"
			_, err = tx.UpdateUser(ctx, u)
			return err
		})
		if (err == nil) != want || errors.Is(err, core.ErrNotFound) || errors.Is(err, core.ErrConflict) {
			t.Errorf("%d changes by others, %d attempts: error %v", others, begun, err)
		}
	}
}

func TestTransactions(t *testing.T) {
	opened, _ := filled(t, 1)
	errTest := errors.New("the test says no")
	var kept core.Store
	must(t, opened.InTransaction(t.Context(), func(ctx context.Context, outer core.Store) error {
		kept = outer
		tx := outer.(*hosted.Store)
		u, err := tx.CreateUser(ctx, &core.User{ID: "u2", Name: "before"})
		must(t, err)
		must(t, tx.CreateSession(ctx, &store.Session{Token: "t1", UserID: "u2", Expires: time.Unix(1e9, 0)}))
		u.Name = "after"
		_, err = tx.UpdateUser(ctx, u)
		must(t, err)
		_, got, err := tx.SessionAndUser(ctx, "t1")
		must(t, err)
		if got.Name != "after" {
			t.Errorf("name %q", got.Name)
		}
		must(t, tx.UpdateSession(ctx, "t1", time.Unix(2e9, 0)))
		must(t, tx.UpdateSession(ctx, "s0", time.Unix(2e9, 0)))
		want(t, tx.UpdateSession(ctx, "none", time.Unix(2e9, 0)), core.ErrNotFound)
		inner := tx.InTransaction(ctx, func(ctx context.Context, tx core.Store) error {
			if _, err := tx.CreateUser(ctx, &core.User{ID: "u3"}); err != nil {
				return err
			}
			return errTest
		})
		want(t, inner, errTest)
		n, err := tx.DeleteSessions(ctx, "u1")
		if n != 1 {
			t.Errorf("%d deleted", n)
		}
		return err
	}))
	session, got, err := opened.SessionAndUser(t.Context(), "t1")
	must(t, err)
	if got.Name != "after" || !session.Expires.Equal(time.Unix(2e9, 0)) {
		t.Errorf("name %q, until %v", got.Name, session.Expires)
	}
	_, err = opened.User(t.Context(), "u3")
	want(t, err, core.ErrNotFound)
	_, err = opened.DeleteSession(t.Context(), "s0")
	want(t, err, core.ErrNotFound)
	if _, err := kept.CreateUser(t.Context(), &core.User{ID: "u4"}); err == nil {
		t.Error("a transaction that was over took a user")
	}
}

const secret = "5ecret-value-of-somebody"

// trouble contains the checks for a failing database.
const trouble = storetest.Trouble("hosted")

// TestOutages simulates the failures of a database behind HTTP. The store must recover automatically.
func TestOutages(t *testing.T) {
	status := func(code int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
			return true
		}
	}
	repeat := func(code int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			body, _ := io.ReadAll(io.LimitReader(r.Body, 400))
			answer, _ := json.Marshal(map[string]string{"message": "cannot do " + string(body)})
			return status(code, string(answer))(w, r)
		}
	}
	hangUp := func(w http.ResponseWriter, _ *http.Request) bool {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
		return true
	}
	for name, before := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"500": repeat(500), "503": status(503, ""), "429": status(429, `{"message":"too many requests"}`),
		"401": status(401, `{"message":"invalid API key"}`), "400": repeat(400),
		"404":     status(404, `{"message":"table [svc_users] not found"}`),
		"no JSON": status(200, "<html>"), "cut off": status(200, `{"records":[`), "hangs up": hangUp,
		"slow": func(_ http.ResponseWriter, r *http.Request) bool {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			store, s := filled(t, 1)
			s.Hook(before, nil)
			for operation, call := range trouble.Calls(store, secret, secret) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				if name == "slow" {
					cancel()
					ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
				}
				err := call(ctx)
				cancel()
				trouble.Check(t, operation, err, secret, tables.APIKey)
				if name == "slow" {
					want(t, err, context.DeadlineExceeded)
				}
			}
			s.Hook(nil, nil)
			_, _, err := store.SessionAndUser(t.Context(), "s0")
			must(t, err)
		})
	}
	t.Run("stopped", func(t *testing.T) {
		store, s := filled(t, 1)
		s.Close()
		for operation, call := range trouble.Calls(store, secret, secret) {
			trouble.Check(t, operation, call(t.Context()), secret, tables.APIKey)
		}
	})
}

// TestLostResponses loses responses after the database has applied the request. The request must not be retried.
func TestLostResponses(t *testing.T) {
	opened, s := filled(t, 1)
	token := &store.VerificationToken{Identifier: "a", Token: "t", Expires: time.Unix(1e9, 0)}
	must(t, opened.CreateVerificationToken(t.Context(), token))
	for operation, call := range map[string]func(ctx context.Context) error{
		"create user": func(ctx context.Context) error {
			_, err := opened.CreateUser(ctx, &core.User{ID: "u2", Email: "u2@example.com"})
			return err
		},
		"use verification token": func(ctx context.Context) error {
			_, err := opened.UseVerificationToken(ctx, "a", "t")
			return err
		},
		"delete session": func(ctx context.Context) error { _, err := opened.DeleteSession(ctx, "s0"); return err },
	} {
		var lost atomic.Int64
		s.Hook(nil, func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/transaction") {
				return false
			}
			lost.Add(1)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
			return true
		})
		trouble.Check(t, operation, call(t.Context()), secret, tables.APIKey)
		if n := lost.Load(); n != 1 {
			t.Errorf("%s: asked %d times", operation, n)
		}
	}
	s.Hook(nil, nil)
	_, err := opened.User(t.Context(), "u2")
	must(t, err)
}

func TestRefused(t *testing.T) {
	good := hosted.Config{DatabaseURL: "https://team.region.example/db/app", Branch: "main", APIKey: "hunter22"}
	for name, change := range map[string]func(*hosted.Config){
		"no URL":    func(c *hosted.Config) { c.DatabaseURL = "" },
		"no path":   func(c *hosted.Config) { c.DatabaseURL = "https://team.example" },
		"slash":     func(c *hosted.Config) { c.DatabaseURL = "https://team.example//" },
		"password":  func(c *hosted.Config) { c.DatabaseURL = "https://a:hunter22@h/db/app" },
		"a scheme":  func(c *hosted.Config) { c.DatabaseURL = "postgres://h/db" },
		"in clear":  func(c *hosted.Config) { c.DatabaseURL = "http://h.example/db/app" },
		"no branch": func(c *hosted.Config) { c.Branch = "" },
		"no key":    func(c *hosted.Config) { c.APIKey = "" },
		"a prefix":  func(c *hosted.Config) { c.Prefix = "a/b" },
	} {
		c := good
		change(&c)
		if _, err := hosted.New(c); err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	opened, err := hosted.New(good)
	if err != nil {
		t.Fatal(err)
	}
	if branch, databaseURL := opened.GetConfig(); branch != good.Branch || databaseURL != good.DatabaseURL {
		t.Errorf("GetConfig: %q, %q", branch, databaseURL)
	}
	store, _ := filled(t, 0)
	for _, id := range []string{"", "a b", "a/b", strings.Repeat("a", 256)} {
		if _, err := store.CreateUser(t.Context(), &core.User{ID: id}); err == nil || errors.Is(err, core.ErrConflict) {
			t.Errorf("id %.20q: error %v", id, err)
		}
	}
}

// TestReadme checks that the README lists every table and column.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	must(t, err)
	for name, columns := range tables.New(t, "svc_").Columns() {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("README.md does not list the table %s", name)
		}
		for column, c := range columns {
			line := fmt.Sprintf("`%s` %s", column, c.Kind)
			if c.Unique {
				line += " unique"
			}
			if c.Kind == "link" {
				line = fmt.Sprintf("`%s` link to `%s`", column, c.To)
			}
			if !strings.Contains(string(text), line) {
				t.Errorf("README.md does not list %s: %s", name, line)
			}
		}
	}
}

func ExampleNew() {
	store, err := hosted.New(hosted.Config{
		DatabaseURL: "https://team.region.example/db/app", Branch: "main", APIKey: core.Secret(os.Getenv("DATABASE_API_KEY")),
	})
	if err != nil {
		return // report the error
	}
	_ = store // core.Config{Store: store}
}

func TestSealed(t *testing.T) { dbtest.Sealed(t, (*hosted.Store)(nil)) }
