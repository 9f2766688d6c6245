package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/plugins/apikey"
)

// TestBan bans a user who is signed in in two processes and has an API key, and lifts the ban.
func TestBan(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSite(t, strategy)
		other := s.process()
		root, ada, adaThere := s.as("root"), s.as("ada"), other.as("ada")
		key := s.key("ada")
		if ada.get("/me").status != 200 || adaThere.get("/me").status != 200 || key() != 200 {
			t.Fatal("ada cannot use the site before the ban")
		}
		r := root.post("ban", "user", "ada", "reason", " Spam ", "until", "2030-02-01", "by", "grace", "at", "2020-01-01")
		s.is(r, "200")
		want := `"reason":"Spam","by":"root","at":"2030-01-02T03:04:05Z","until":"2030-02-01T00:00:00Z"`
		if !strings.Contains(r.body, want) {
			t.Errorf("the ban is %s, want %s", r.body, want)
		}
		if got, want := s.events(), "admin.banned ok ada by root: Spam"; got != want {
			t.Errorf("the events are %q, want %q", got, want)
		}
		s.wait(10 * time.Second) // Revocation.Every of the other process
		if ada.get("/me").status == 200 || adaThere.get("/me").status == 200 {
			t.Error("a session of a banned user works")
		}
		if key() != http.StatusUnauthorized {
			t.Error("an API key of a banned user works")
		}
		for _, p := range []*site{s, other} {
			if p.browser().signIn("ada") == 200 {
				t.Error("a banned user signed in")
			}
			if _, err := p.auth.NewSession(t.Context(), &core.Request{
				Method: "GET", Target: "/", Hosts: []string{"localhost"}, Scheme: "http", Header: http.Header{},
			}, &core.User{ID: "ada"}); !errors.Is(
				err, core.ErrAccessDenied) {
				t.Errorf("NewSession for a banned user: %v", err)
			}
		}
		if got, want := s.events(), "signin refused banned\nsignin refused banned"; got != want {
			t.Errorf("the events are %q, want %q", got, want)
		}
		_, _, err := other.keys.Create(t.Context(), apikey.NewKey{UserID: "ada", Name: "x", Scopes: []string{"read"}})
		if !errors.Is(err, core.ErrAccessDenied) {
			t.Errorf("an API key for a banned user: %v", err)
		}
		if keys, err := s.keys.Of(t.Context(), "ada"); err != nil || len(keys) > 0 {
			t.Errorf("a banned user has the keys %v (%v)", keys, err)
		}
		if s.browser().signIn("bob") != 200 {
			t.Error("another user cannot sign in")
		}
		s.is(root.post("unban", "user", "ada", "reason", "Mistake"), "200")
		s.is(root.post("unban", "user", "ada", "reason", "Mistake"), "409 not_banned")
		if got, want := s.events(), "admin.unbanned ok ada by root: Mistake"; got != want {
			t.Errorf("the events are %q, want %q", got, want)
		}
		if other.browser().signIn("ada") != 200 {
			t.Error("a user whose ban was lifted cannot sign in")
		}
		if ada.get("/me").status == 200 {
			t.Error("lifting a ban restored a session")
		}
		s.is(root.post("ban", "user", "ada", "reason", "Again", "until", "2030-01-03T00:00:00Z"), "200")
		s.wait(24 * time.Hour)
		if s.browser().signIn("ada") != 200 {
			t.Error("a user whose ban has ended cannot sign in")
		}
		if err := s.admins.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left, _, err := s.rows.ListRecords(t.Context(), "banning", "", "", 10); err != nil || len(left) > 0 {
			t.Errorf("the task left %d records (%v)", len(left), err)
		}
	})
}

// TestBanDuringSignIn bans a user after the sign-in gate has passed: the session that is stored afterwards does not
// work.
func TestBanDuringSignIn(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSite(t, strategy)
		other := s.process()
		ban := func() {
			if err := other.admins.Ban(t.Context(), "ada", admin.Ban{Reason: "Spam"}); err != nil {
				t.Error(err)
			}
		}
		s.rows.after(ban)
		if s.browser().signIn("ada") == 200 {
			t.Error("a user who was banned during the sign-in is signed in")
		}
		if strategy == core.StrategyDatabase {
			if left, err := s.rows.Sessions(t.Context(), "ada"); err != nil || len(left) > 0 {
				t.Errorf("%d sessions are left (%v)", len(left), err)
			}
		}
	})
}

// TestSessions ends one session, and all.
func TestSessions(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSite(t, strategy)
		root, first := s.as("root"), s.as("ada")
		s.wait(time.Minute)
		second := s.as("ada")
		var user struct {
			Sessions []struct{ ID string }
			Data     map[string]any
		}
		if err := json.Unmarshal([]byte(root.get("/auth/admin/user?user=ada").body), &user); err != nil {
			t.Fatal(err)
		}
		if len(user.Sessions) != 2 || user.Data["apiKeys"] == nil {
			t.Fatalf("the user is %+v", user)
		}
		s.is(root.post("end-sessions", "user", "bob", "session", user.Sessions[0].ID, "reason", "x"), "404 not_found")
		s.is(root.post("end-sessions", "user", "ada", "session", user.Sessions[0].ID, "reason", "Lost"), "200")
		if a, b := first.get("/me").status, second.get("/me").status; (a == 200) == (b == 200) {
			t.Errorf("after one session was ended, the statuses are %d and %d", a, b)
		}
		s.is(root.post("end-sessions", "user", "ada", "reason", "Lost"), "200")
		if first.get("/me").status == 200 || second.get("/me").status == 200 {
			t.Error("a session of all that were ended works")
		}
		want := "admin.sessions.ended ok ada by root: Lost"
		if got := s.events(); got != want+"\n"+want {
			t.Errorf("the events are %q", got)
		}
		if s.browser().signIn("ada") != 200 {
			t.Error("the user cannot sign in again")
		}
	})
}

// TestList finds users on pages.
func TestList(t *testing.T) {
	t.Parallel()
	s := newSite(t, core.StrategyDatabase)
	for i := range 60 {
		_, err := s.rows.CreateUser(t.Context(), &core.User{
			ID: "many-" + time.Duration(i).String(), Email: "many." + time.Duration(i).String() + "@example.org",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	root := s.as("root")
	list := func(query string) (ids []string, next string) {
		t.Helper()
		var page struct {
			Users []struct{ ID string }
			Next  string
		}
		r := root.get("/auth/admin?" + query)
		if err := json.Unmarshal([]byte(r.body), &page); err != nil || r.status != 200 {
			t.Fatalf("%s: %d %s", query, r.status, r.body)
		}
		for _, u := range page.Users {
			ids = append(ids, u.ID)
		}
		return ids, page.Next
	}
	seen, next := list("")
	for next != "" {
		var more []string
		more, next = list("cursor=" + next)
		seen = append(seen, more...)
	}
	if len(seen) != 64 {
		t.Errorf("the pages have %d users, want 64", len(seen))
	}
	for query, want := range map[string]string{
		"q=ada": "ada", "q=ADA@Example.com": "ada", "q=bob@": "bob", "q=nobody": "", "q=a%00": "", "q=%ff": "",
	} {
		if ids, _ := list(query); strings.Join(ids, " ") != want {
			t.Errorf("%s finds %v, want %s", query, ids, want)
		}
	}
	s.rows.empty = 20
	if ids, next := list(""); len(ids) != 25 || next == "" {
		t.Errorf("after empty pages of the store, the first page has %d users", len(ids))
	}
	ids, next := list("q=many.")
	if len(ids) != 25 || next == "" {
		t.Fatalf("a prefix finds %d users, and the next page %q", len(ids), next)
	}
	if ids, _ := list("q=many.&cursor=" + next); len(ids) != 25 {
		t.Errorf("the second page has %d users", len(ids))
	}
	s.is(root.get("/auth/admin?cursor="+next), "400 cursor_invalid")
	s.is(root.get("/auth/admin?q=many.&cursor=many.1"), "400 cursor_invalid")
	s.is(root.get("/auth/admin/user?user=nobody"), "404 not_found")
	s.is(root.get("/auth/admin/user?user=%00"), "404 not_found")
}

// TestAttacks checks that only administrators read and change users, and that some changes are refused to all.
func TestAttacks(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSite(t, strategy, func(c *core.Config, _ *admin.Options) { c.Session.Bearer = true })
		root, ada := s.as("root"), s.as("ada")
		for _, id := range []string{"bob", "nobody", "root", ""} {
			for _, r := range []reply{
				ada.get("/auth/admin"), ada.get("/auth/admin?q=" + id), ada.get("/auth/admin/user?user=" + id),
				ada.post("ban", "user", id, "reason", "x"), ada.post("unban", "user", id), ada.post("end-sessions", "user", id),
			} {
				s.is(r, "403 forbidden")
			}
		}
		s.is(s.browser().get("/auth/admin"), "401 session_required")
		for verb, wants := range map[string][]string{
			"ban":          {"422 reason_invalid", "403 own_account", "403 administrator", "404 not_found"},
			"unban":        {"422 reason_invalid", "403 own_account", "403 administrator", "404 not_found"},
			"end-sessions": {"422 reason_invalid", "403 own_account", "403 administrator", "404 not_found"},
		} {
			s.is(root.post(verb, "user", "ada"), wants[0])
			s.is(root.post(verb, "user", "ada", "reason", "a\nb"), wants[0])
			s.is(root.post(verb, "user", "ada", "reason", strings.Repeat("x", 201)), wants[0])
			s.is(root.post(verb, "user", "root", "reason", "x"), wants[1])
			s.is(root.post(verb, "user", "grace", "reason", "x"), wants[2])
			s.is(root.post(verb, "user", "nobody", "reason", "x"), wants[3])
		}
		for _, until := range []string{"2030-01-01", "tomorrow", "9999-01-01"} {
			s.is(root.post("ban", "user", "ada", "reason", "x", "until", until), "422 until_invalid")
		}
		for _, verb := range []string{"send-reset", "reset-link", "reset-factors", "verify-email", "delete", "invite"} {
			if r := root.post(verb, "user", "ada", "reason", "x"); r.status != http.StatusNotFound {
				t.Errorf("%s without its option has status %d", verb, r.status)
			}
		}
		r := root.send("POST", "/auth/admin/ban", strings.NewReader(`{"user":"ada","reason":"x"}`),
			"Content-Type", "application/json", "Accept", "application/json")
		s.is(r, "403 missing_csrf")
		token := ""
		for _, c := range root.Jar.Cookies(s.parsed()) {
			if strings.Contains(c.Name, "session-token") {
				token = c.Value
			}
		}
		bearer := s.browser()
		s.is(bearer.get("/auth/admin", "Authorization", "Bearer "+token), "403 browser_required")
		s.is(bearer.send("POST", "/auth/admin/ban", strings.NewReader(`{"user":"ada","reason":"x"}`), "Authorization",
			"Bearer "+token, "Content-Type", "application/json", "Accept", "application/json"), "403 missing_csrf")
		if s.events() != "" || ada.get("/me").status != 200 {
			t.Error("a refused request changed something")
		}
		*s.root = []string{"grace"} // root is no administrator any more
		s.is(root.get("/auth/admin"), "403 forbidden")
		s.is(root.post("ban", "user", "ada", "reason", "x"), "403 forbidden")
	})
}

// TestFresh checks that a change needs a recent sign-in, and two factors with Options.Strong.
func TestFresh(t *testing.T) {
	t.Parallel()
	s := newSite(t, core.StrategyDatabase)
	root := s.as("root")
	s.wait(16 * time.Minute)
	s.is(root.get("/auth/admin"), "200")
	s.is(root.post("ban", "user", "ada", "reason", "x"), "401 reauth_required")
	strong := newSite(t, core.StrategyDatabase, func(_ *core.Config, o *admin.Options) { o.Strong = true })
	root = strong.as("root")
	strong.is(root.get("/auth/admin"), "200")
	strong.is(root.post("ban", "user", "ada", "reason", "x"), "401 reauth_required")
}

// TestFaults checks that a user is banned although the store fails afterwards, and that the task ends the rest.
func TestFaults(t *testing.T) {
	t.Parallel()
	s := newSite(t, core.StrategyDatabase)
	for _, op := range []string{"end sessions", "end api-key"} {
		root, ada, key := s.as("root"), s.as("ada"), s.key("ada")
		s.rows.failing(op)
		s.is(root.post("ban", "user", "ada", "reason", "Spam"), "500 server_error")
		if got, want := s.events(), "admin.banned failed ada by root: Spam"; got != want {
			t.Errorf("%s: the events are %q, want %q", op, got, want)
		}
		if s.browser().signIn("ada") == 200 {
			t.Errorf("%s: a banned user signed in", op)
		}
		s.rows.failing("")
		if err := s.admins.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left, _, _ := s.rows.ListRecords(t.Context(), "banning", "", "", 10); len(left) != 1 {
			t.Errorf("%s: the task did not wait", op)
		}
		s.wait(3 * time.Minute)
		if err := s.admins.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ada.get("/me").status == 200 || key() == 200 {
			t.Errorf("%s: a session or a key works after the task", op)
		}
		if err := s.admins.Unban(t.Context(), "ada", "root", "x"); err != nil {
			t.Fatal(err)
		}
		s.events()
	}
	s.rows.failing("create banning")
	s.is(s.as("root").post("ban", "user", "ada", "reason", "Spam"), "500 server_error")
	if s.browser().signIn("ada") != 200 {
		t.Error("the user is banned without a record for the task")
	}
	s.rows.failing("read ban")
	if s.browser().signIn("ada") == 200 {
		t.Error("a user signed in although the store could not say whether they are banned")
	}
}

// TestUnbanWaits lifts a ban while the task ends the user's sessions again. Otherwise the task could end a session that
// starts after the ban.
func TestUnbanWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t, core.StrategyDatabase)
	if err := s.admins.Ban(t.Context(), "ada", admin.Ban{Reason: "x"}); err != nil {
		t.Fatal(err)
	}
	s.wait(3 * time.Minute)
	ended := false
	s.rows.ending = func() {
		ended, s.rows.ending = true, nil
		unban := func() error {
			impatient, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer end()
			return s.admins.Unban(impatient, "ada", "", "x")
		}
		if err := unban(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Unban meanwhile: %v", err)
		}
		if err := s.admins.Ban(t.Context(), "ada", admin.Ban{Reason: "y"}); err != nil {
			t.Fatal(err)
		}
		if err := unban(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Unban of another ban meanwhile: %v", err)
		}
	}
	if err := s.admins.Finish(t.Context()); err != nil || !ended {
		t.Errorf("the task ended sessions: %t (%v)", ended, err)
	}
	if err := s.admins.Unban(t.Context(), "ada", "", "x"); err != nil {
		t.Errorf("Unban after the task: %v", err)
	}
	if b, err := s.admins.BanOf(t.Context(), "ada"); err != nil || b != nil {
		t.Errorf("the ban is %+v (%v)", b, err)
	}
}

// TestMalformedBan lifts a ban that cannot be read.
func TestMalformedBan(t *testing.T) {
	t.Parallel()
	s := newSite(t, core.StrategyDatabase)
	malformed := &store.Record{Kind: "ban", Key: "ada", UserID: "ada", Value: []byte(`{"at": "yesterday"}`)}
	if err := s.rows.CreateRecord(t.Context(), malformed); err != nil {
		t.Fatal(err)
	}
	if _, err := s.admins.BanOf(t.Context(), "ada"); err == nil {
		t.Error("a malformed ban counts as none")
	}
	if err := s.admins.Unban(t.Context(), "ada", "", "x"); err != nil || s.browser().signIn("ada") != 200 {
		t.Errorf("Unban: %v", err)
	}
}

// TestCost counts the reads of bans: two for a sign-in, none for a request with a session.
func TestCost(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSite(t, strategy)
		ada, key := s.browser(), s.key("ada")
		s.rows.count()
		if ada.signIn("ada") != 200 {
			t.Fatal("ada cannot sign in")
		}
		if n := s.rows.count(); n != 2 {
			t.Errorf("a sign-in and a request read %d bans, want 2", n)
		}
		ada.get("/me")
		ada.get("/auth/session")
		key()
		if n := s.rows.count(); n != 0 {
			t.Errorf("requests of a signed-in user and with a key read %d bans", n)
		}
	})
}

// TestCreate checks that administrators create users, with a reason and an address that no user has.
func TestCreate(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		var s *site
		s = newSite(t, strategy, func(_ *core.Config, o *admin.Options) {
			o.Create = func(ctx context.Context, email string) (*core.User, error) {
				switch email {
				case "fails@example.com":
					return nil, errors.New("the directory is unavailable")
				case "nothing@example.com":
					return nil, nil
				}
				return s.rows.CreateUser(ctx, &core.User{ID: core.NewID(), Email: email})
			}
		})
		root, ada := s.as("root"), s.as("ada")
		s.is(ada.post("create", "email", "eve@example.com", "reason", "x"), "403 forbidden")
		s.is(root.post("create", "email", "eve@example.com"), "422 reason_invalid")
		s.is(root.post("create", "email", "eve", "reason", "x"), "422 email_invalid")
		s.is(root.post("create", "email", "Ada@Example.com", "reason", "x"), "409 email_taken")
		if got := s.events(); got != "" {
			t.Errorf("the events of refusals are %s", got)
		}
		for _, address := range []string{"fails@example.com", "nothing@example.com"} {
			if r := root.post("create", "email", address, "reason", "x"); r.status != http.StatusInternalServerError {
				t.Errorf("%s: the status is %d", address, r.status)
			}
		}
		if got := s.events(); got != "admin.created failed  by root: x\nadmin.created failed  by root: x" {
			t.Errorf("the events of failures are %s", got)
		}
		r := root.post("create", "email", "Eve@Example.com", "reason", "Ticket 7", "id", "root", "emailVerified", "1")
		s.is(r, "200")
		var made struct{ Done, User string }
		if err := json.Unmarshal([]byte(r.body), &made); err != nil || made.Done != "created" {
			t.Fatalf("the response is %s (%v)", r.body, err)
		}
		u, err := s.rows.User(t.Context(), made.User)
		if err != nil || u.Email != "eve@example.com" || !u.EmailVerified.IsZero() {
			t.Errorf("the user is %+v (%v)", u, err)
		}
		if got := s.events(); got != "admin.created ok "+made.User+" by root: Ticket 7" {
			t.Errorf("the events are %s", got)
		}
		if page := root.page("/auth/admin").body; !strings.Contains(page, "Create user") {
			t.Error("the page has no form")
		}
		if r := root.submit("create", "email", "dan@example.com", "reason", "x"); !strings.Contains(
			r.body, "User created.") || !strings.Contains(r.body, "dan@example.com") {
			t.Errorf("after the form the page is %d %s", r.status, r.body)
		}
		s.wait(16 * time.Minute)
		s.is(root.post("create", "email", "old@example.com", "reason", "x"), "401 reauth_required")
	})
}

// TestSupport makes the changes that depend on the options.
func TestSupport(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		var calls []string
		call := func(name string) func(context.Context, string) error {
			return func(_ context.Context, id string) error {
				calls = append(calls, name+" "+id)
				return nil
			}
		}
		refuses := false
		s := newSite(t, strategy, func(_ *core.Config, o *admin.Options) {
			o.SendReset, o.ResetFactors, o.Invite, o.VerifyEmail = call("reset"), call("factors"), call("invite"), true
			o.ResetLink = func(_ context.Context, id string) (core.Secret, error) {
				return core.Secret("https://app.example/reset?token=" + id), nil
			}
			o.Delete = func(ctx context.Context, u *core.User) error {
				if refuses {
					return &core.Problem{Status: 409, Code: "unpaid"}
				}
				return call("delete")(ctx, u.ID)
			}
		})
		for _, u := range []core.User{{ID: "new", Email: "new@example.com"}, {ID: "anon"}} {
			if _, err := s.rows.CreateUser(t.Context(), &u); err != nil {
				t.Fatal(err)
			}
		}
		root, ada, key := s.as("root"), s.as("ada"), s.key("ada")
		for _, verb := range []string{"send-reset", "reset-factors", "verify-email", "delete", "invite"} {
			s.is(ada.post(verb, "user", "bob", "reason", "x", "email", "bob@example.com"), "403 forbidden")
		}
		page := root.page("/auth/admin/user?user=new").body + root.page("/auth/admin").body
		for _, text := range []string{
			"Send password reset link", "Mark email as verified", "Reset two-step verification", "type “new@example.com”",
			"Send invitation",
		} {
			if !strings.Contains(page, text) {
				t.Errorf("the pages lack %q", text)
			}
		}
		for _, row := range []struct{ verb, user, field, value, want string }{
			{"send-reset", "ada", "", "", "200"},
			{"send-reset", "anon", "", "", "409 no_email"},
			{"send-reset", "grace", "", "", "403 administrator"},
			{"reset-link", "ada", "", "", "409 has_email"},
			{"reset-link", "grace", "", "", "403 administrator"},
			{"reset-link", "anon", "", "", "200"},
			{"reset-factors", "ada", "", "", "200"},
			{"verify-email", "new", "", "", "200"},
			{"verify-email", "ada", "", "", "409 already_verified"},
			{"verify-email", "anon", "", "", "409 no_email"},
			{"delete", "ada", "confirm", "ada", "422 confirmation_required"},
			{"delete", "grace", "confirm", "grace@example.com", "403 administrator"},
			{"delete", "root", "confirm", "root@example.com", "403 own_account"},
			{"delete", "ada", "confirm", "ada@example.com", "200"},
			{"delete", "ada", "confirm", "ada@example.com", "404 not_found"},
			{"invite", "", "email", "No address", "422 email_invalid"},
			{"invite", "", "email", "Eve@Example.com", "200"},
		} {
			s.is(root.post(row.verb, "user", row.user, "reason", "Ticket 7", row.field, row.value), row.want)
		}
		s.is(root.post("invite", "email", "eve@example.com"), "422 reason_invalid")
		if got, want := strings.Join(calls, ", "), "reset ada, factors ada, delete ada, invite eve@example.com"; got != want {
			t.Errorf("the calls are %s, want %s", got, want)
		}
		want := "admin.reset.sent ok ada by root: Ticket 7\nadmin.reset.sent ok anon by root: Ticket 7\n" +
			"admin.factors.reset ok ada by root: Ticket 7\n" +
			"admin.email.verified ok new by root: Ticket 7\nadmin.deleted ok ada by root: Ticket 7\n" +
			"admin.invited ok  by root: Ticket 7"
		if got := s.events(); got != want {
			t.Errorf("the events are %s, want %s", got, want)
		}
		if u, err := s.rows.User(t.Context(), "new"); err != nil || u.EmailVerified.IsZero() {
			t.Errorf("the address is not verified: %+v (%v)", u, err)
		}
		if _, err := s.rows.User(t.Context(), "ada"); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("the user was not deleted: %v", err)
		}
		if ada.get("/me").status == 200 || key() == 200 {
			t.Error("a session or a key of a deleted user works")
		}
		refuses = true
		s.is(root.post("delete", "user", "bob", "reason", "x", "confirm", "bob@example.com"), "409 unpaid")
		if got, want := s.events(), "admin.deleted refused bob by root: x"; got != want {
			t.Errorf("the events are %s, want %s", got, want)
		}
		if s.browser().signIn("bob") != 200 {
			t.Error("a refused deletion deleted the user")
		}
		refuses = false
		root = s.as("root")
		if page := root.page("/auth/admin/user?user=anon"); !strings.Contains(page.body, "Create password reset link") ||
			strings.Contains(root.page("/auth/admin/user?user=bob").body, "Create password reset link") {
			t.Errorf("the form for a link is on the wrong page: %s", page.body)
		}
		const link = "https://app.example/reset?token=anon"
		if page := root.submit("reset-link", "user", "anon", "reason", "x"); !strings.Contains(page.body, link) {
			t.Errorf("the page has no link: %s", page.body)
		}
		if page := root.page("/auth/admin/user?user=anon"); strings.Contains(page.body, link) {
			t.Error("the link is shown again")
		}
		deleted := root.submit("delete", "user", "bob", "reason", "x", "confirm", "bob@example.com")
		if !strings.Contains(deleted.body, "User deleted.") || !strings.Contains(deleted.body, "Email or user ID") {
			t.Errorf("the page after a deletion is %d %s", deleted.status, deleted.body)
		}
	})
}

// shared is a plugin with data that users share.
type shared struct {
	calls []string
	veto  error
}

func (p *shared) Attach(*core.PluginHost) error { return nil }

func (p *shared) CheckDelete(_ context.Context, u *core.User) error {
	p.calls = append(p.calls, "check "+u.ID)
	return p.veto
}

func (p *shared) ForgetUser(_ context.Context, u *core.User) error {
	p.calls = append(p.calls, "forget "+u.ID)
	return nil
}

// TestDeleteShared deletes users with data that other users share, now and later.
func TestDeleteShared(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		data := &shared{veto: &core.Problem{Status: 409, Code: "last_owner"}}
		s := newSite(t, strategy, func(c *core.Config, o *admin.Options) {
			c.Plugins = append(c.Plugins, data)
			o.Delete = func(_ context.Context, u *core.User) error {
				data.calls = append(data.calls, "delete "+u.ID)
				return nil
			}
			o.ScheduleDelete = func(_ context.Context, id string) (time.Time, error) {
				data.calls = append(data.calls, "schedule "+id)
				return time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC), nil
			}
		})
		root, ada, key := s.as("root"), s.as("ada"), s.key("ada")
		fields := []string{"user", "ada", "reason", "Request", "confirm", "ada@example.com"}
		for _, verb := range []string{"delete", "schedule-delete"} {
			s.is(root.post(verb, fields...), "409 last_owner")
			s.is(root.post(verb, "user", "ada", "reason", "x", "confirm", "ada"), "422 confirmation_required")
		}
		if ada.get("/me").status != 200 || key() != 200 {
			t.Fatal("a refused deletion ended something")
		}
		data.veto = nil
		page := root.page("/auth/admin/user?user=ada").body
		if !strings.Contains(page, "Schedule deletion") || !strings.Contains(page, "Delete user") {
			t.Error("the page lacks a form")
		}
		r := root.post("schedule-delete", fields...)
		if s.is(r, "200"); !strings.Contains(r.body, `"due":"2030-02-01T00:00:00Z"`) {
			t.Errorf("the response is %s", r.body)
		}
		if ada.get("/me").status == 200 || key() == 200 {
			t.Error("a session or a key works although the deletion is scheduled")
		}
		s.is(root.post("delete", fields...), "200")
		want := "check ada, check ada, check ada, schedule ada, check ada, delete ada, forget ada"
		if got := strings.Join(data.calls, ", "); got != want {
			t.Errorf("the calls are %s, want %s", got, want)
		}
		want = "admin.deleted refused ada by root: Request\nadmin.deletion.scheduled refused ada by root: Request\n" +
			"admin.deletion.scheduled ok ada by root: Request\nadmin.deleted ok ada by root: Request"
		if got := s.events(); got != want {
			t.Errorf("the events are %s, want %s", got, want)
		}
	})
}

// TestPages uses the pages as a browser does.
func TestPages(t *testing.T) {
	t.Parallel()
	s := newSite(t, core.StrategyDatabase)
	const evil = `<script>alert(1)</script>"'`
	if _, err := s.rows.CreateUser(t.Context(), &core.User{ID: "mal", Name: evil, Email: "mal@example.com"}); err != nil {
		t.Fatal(err)
	}
	s.key("mal")
	root := s.as("root")
	has := func(r reply, want ...string) {
		t.Helper()
		for _, text := range want {
			if r.status != 200 || !strings.Contains(r.body, text) {
				t.Errorf("the page %d lacks %s: %s", r.status, text, r.body)
			}
		}
		if strings.Contains(r.body, "<script>alert") {
			t.Errorf("the page has a script of a user: %s", r.body)
		}
	}
	has(root.page("/auth/admin"), "ada@example.com", "mal@example.com")
	has(root.page("/auth/admin?q=ada"), `value="ada"`, "ADA")
	has(root.page("/auth/admin?q=nobody"), "No users found.")
	has(root.page("/auth/admin/user?user=root"), "You can&#39;t change your own account here.")
	has(root.page("/auth/admin/user?user=grace"), "Administrators can&#39;t be changed here.")
	s.as("mal")
	has(root.page("/auth/admin/user?user=mal"), "Not verified", "script", "End sessions", "Ban user", "scopes: read")
	has(root.submit("ban", "user", "mal", "reason", evil), "User banned.", "Lift ban", "No end date", "&lt;script&gt;")
	has(root.submit("unban", "user", "mal", "reason", ""), "Enter a reason of at most 200 characters.")
	has(root.submit("unban", "user", "mal", "reason", "Mistake"), "Ban lifted.", "Ban user")
	has(root.submit("end-sessions", "user", "mal", "reason", "Lost", "session", ""), "Sessions ended.")
	has(root.submit("ban", "user", "nobody", "reason", "x"), "This user or session no longer exists.", "Users")
	if r := root.page("/auth/admin/user?user=nobody"); r.status != 404 {
		t.Errorf("the page of an unknown user has status %d", r.status)
	}
}

// TestProgram bans with the Go API.
func TestProgram(t *testing.T) {
	t.Parallel()
	s := newSite(t, core.StrategyDatabase)
	ctx := t.Context()
	for _, row := range []struct {
		user string
		ban  admin.Ban
		want error
	}{
		{"nobody", admin.Ban{Reason: "x"}, core.ErrNotFound},
		{"ada", admin.Ban{}, admin.ErrReason},
		{"ada", admin.Ban{Reason: "x", Until: s.clock()}, admin.ErrUntil},
		{"ada", admin.Ban{Reason: "x", Until: s.clock().Add(time.Hour)}, nil},
		{"ada", admin.Ban{Reason: "y"}, nil},
	} {
		if err := s.admins.Ban(ctx, row.user, row.ban); !errors.Is(err, row.want) {
			t.Errorf("Ban(%s, %+v): %v, want %v", row.user, row.ban, err, row.want)
		}
	}
	b, err := s.admins.BanOf(ctx, "ada")
	if err != nil || b == nil || b.Reason != "y" || !b.Until.IsZero() {
		t.Errorf("the ban is %+v (%v)", b, err)
	}
	if err := s.admins.Unban(ctx, "ada", "", ""); !errors.Is(err, admin.ErrReason) {
		t.Errorf("Unban without a reason: %v", err)
	}
	if err := s.admins.Unban(ctx, "bob", "", "x"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("Unban of a user who is not banned: %v", err)
	}
}

// TestOptions checks the configuration errors.
func TestOptions(t *testing.T) {
	t.Parallel()
	s := newSite(t, core.StrategyDatabase)
	allow := func(o admin.Options) admin.Options {
		o.Guard = core.Strong()
		return o
	}
	for name, row := range map[string]struct {
		options admin.Options
		store   store.Store
		want    string
	}{
		"no guard":       {admin.Options{}, s.rows, "Options.Guard is nil"},
		"negative Fresh": {allow(admin.Options{Fresh: -1}), s.rows, "Options.Fresh is -1ns"},
		"no store":       {allow(admin.Options{}), nil, "needs a Store"},
		"small store":    {allow(admin.Options{}), struct{ store.Store }{s.rows}, "store.UserFinder"},
	} {
		config := core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: row.store,
			Getenv: func(string) string { return "" }, Plugins: []core.Plugin{admin.New(row.options)},
			Providers: []core.Provider{&core.CredentialsProvider{}},
		}
		if _, err := core.New(config); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
	if err := s.admins.Attach(nil); err == nil {
		t.Error("a plugin was attached twice")
	}
	advice := ""
	s.admins.Advise(func(what, fix string) { advice += what + ": " + fix + "\n" })
	if advice != "" {
		t.Errorf("Advise says %s", advice)
	}
}
