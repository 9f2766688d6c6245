package apikey_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// mails is a Mailer that stores the emails.
type mails struct {
	mu  sync.Mutex
	all []core.Email
}

// Send implements [core.Mailer].
func (m *mails) Send(_ context.Context, e core.Email) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, e)
	return nil
}

// take returns the emails that the processes have sent since the last call.
func (m *mails) take(sites ...*site) []core.Email {
	for _, s := range sites {
		s.Helper()
		if err := s.auth.FlushMail(s.Context()); err != nil {
			s.Fatal(err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.all
	m.all = nil
	return all
}

// mailing returns a site whose user ada has a verified address.
func mailing(t *testing.T, m core.Mailer, change ...func(*core.Config, *apikey.Options)) *site {
	t.Helper()
	s := newSite(t, append(change, func(c *core.Config, o *apikey.Options) {
		o.Mail, c.URL = m, "https://app.example"
	})...)
	verify(s, "ada")
	return s
}

func verify(s *site, id string) {
	s.Helper()
	u, err := s.store.User(s.Context(), id)
	if err == nil {
		u.EmailVerified = s.clock()
		_, err = s.store.UpdateUser(s.Context(), u)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// later lets time pass. Another process has the turn for tasks, so that only the test runs them.
func (s *site) later(d time.Duration) {
	s.Helper()
	s.wait(d)
	const name = "latchkey:clean-up"
	if err := s.store.CreateVerificationToken(s.Context(), &store.VerificationToken{
		Identifier: name, Token: fmt.Sprint(name, ":", s.clock().Unix()/600), Expires: s.clock().Add(time.Hour),
	}); err != nil && !errors.Is(err, core.ErrConflict) {
		s.Fatal(err)
	}
}

// TestNewKeyIsReported creates and replaces keys. Their user gets an email without the key and its name.
func TestNewKeyIsReported(t *testing.T) {
	m := &mails{}
	s := mailing(t, m)
	browser := s.as("ada")
	made := s.create(browser, map[string]any{"name": "canary", "scopes": []string{"orders:read"}})
	if r := s.post(browser, "api-keys/rotate", map[string]any{"id": made.ID}); r.StatusCode != 200 {
		t.Fatalf("rotate: %d %s", r.StatusCode, r.body)
	}
	s.create(s.as("eve"), map[string]any{"name": "x", "scopes": []string{"orders:read"}}) // an unverified address
	all := m.take(s)
	if len(all) != 2 {
		t.Fatalf("%d emails", len(all))
	}
	for _, e := range all {
		text := fmt.Sprint(e.Kind, string(e.URL), e.To, e.Device, e.At)
		if e.Kind != mailkind.KeyCreated || e.To != "ada@example.com" ||
			!strings.HasSuffix(string(e.URL), "/auth/api-keys") {
			t.Errorf("the email is %s", text)
		}
		if strings.Contains(text, "canary") || strings.Contains(text, made.Key) || strings.Contains(text, made.ID) {
			t.Errorf("the email contains the key or its name: %s", text)
		}
	}
	if got := s.events(); got != "key.created ok ada, key.rotated ok ada, key.created ok eve" {
		t.Errorf("audited %s", got)
	}
}

// TestNoticeBeforeKey: the email about a new key is stored before the key. If it cannot be stored, there is no key. If
// the key cannot be stored, no email is sent. A refused key stores no email.
func TestNoticeBeforeKey(t *testing.T) {
	m := &mails{}
	s := mailing(t, m)
	browser := s.as("ada")
	old := s.create(browser, map[string]any{"name": "x", "scopes": []string{"orders:read"}})
	create := map[string]any{"name": "y", "scopes": []string{"orders:read"}}
	rotate := map[string]any{"id": old.ID}
	m.take(s)
	s.events()
	list := func() string {
		t.Helper()
		all, err := s.keys.Of(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(all)
	}
	for _, row := range []struct {
		fails, path  string
		body         map[string]any
		status, sent int
	}{
		{"create outbox", "api-keys", create, 500, 0},
		{"create outbox", "api-keys/rotate", rotate, 500, 0},
		{"create api-key", "api-keys", create, 500, 0},
		{"create api-key", "api-keys/rotate", rotate, 500, 0},
		{"update api-key", "api-keys/rotate", rotate, 500, 0}, // the old key keeps its expiry, so there is no successor
		{"", "api-keys", map[string]any{"name": "", "scopes": []string{"orders:read"}}, 422, 0},
		{"", "api-keys/rotate", map[string]any{"id": "unknown"}, 404, 0},
		{"", "api-keys", create, 200, 1},
		{"", "api-keys/rotate", rotate, 200, 1},
	} {
		t.Run(strings.TrimSpace(row.fails+" "+row.path), func(t *testing.T) {
			before := list()
			s.store.failing(row.fails)
			r := s.post(browser, row.path, row.body)
			stored := s.store.created["outbox"]
			s.store.failing("")
			sent := len(m.take(s))
			left, _, err := s.store.ListRecords(t.Context(), "outbox", "", "", 10)
			if err != nil || len(left) > 0 { // another process would send them
				t.Errorf("%d emails are left in the store, %v", len(left), err)
			}
			if r.StatusCode != row.status || sent != row.sent || (list() != before) != (row.sent > 0) {
				t.Errorf("answered %d %s, %d emails, keys %s", r.StatusCode, r.body, sent, list())
			}
			if row.fails == "" && stored != row.sent {
				t.Errorf("%d emails were stored", stored)
			}
			if audited := s.events(); (audited != "") != (row.sent > 0) {
				t.Errorf("audited %s", audited)
			}
		})
	}
}

// TestNotMe: an attacker at an open session creates keys. The link in the first email revokes them, and no earlier key.
func TestNotMe(t *testing.T) {
	for name, strategy := range map[string]core.Strategy{"jwt": core.StrategyJWT, "database": core.StrategyDatabase} {
		t.Run(name, func(t *testing.T) {
			m := &mails{}
			s := newSite(t, func(c *core.Config, _ *apikey.Options) {
				c.Session.Strategy, c.URL = strategy, "http://127.0.0.1"
				c.Plugins = append(c.Plugins, account.New(account.Options{Mail: m}))
			})
			verify(s, "ada")
			ada := s.as("ada")
			body := func() map[string]any { return map[string]any{"name": "x", "scopes": []string{"orders:read"}} }
			own := s.create(ada, body())
			m.take(s)
			s.wait(time.Minute)
			attackers := []newKey{s.create(ada, body()), s.create(ada, body())}
			s.events()
			sent := m.take(s)
			if len(sent) != 2 || sent[0].Device == "" && sent[0].At.IsZero() {
				t.Fatalf("the emails are %v", sent)
			}
			at, err := url.Parse(string(sent[0].URL))
			if err != nil || at.Path != "/auth/account/not-me" {
				t.Fatalf("the link is %s, %v", at, err)
			}
			browser := s.as("eve")
			if r := s.post(browser, "account/not-me", map[string]any{"token": at.Query().Get("token")}); r.StatusCode != 200 {
				t.Fatalf("not me: %d %s", r.StatusCode, r.body)
			}
			for _, key := range attackers {
				if r := s.call(key.Key); r.StatusCode != 401 {
					t.Errorf("a key of the attacker: %d", r.StatusCode)
				}
			}
			if r := s.call(own.Key); r.StatusCode != 200 {
				t.Errorf("an earlier key: %d", r.StatusCode)
			}
			if got := s.events(); got != "key.revoked ok ada, key.revoked ok ada" {
				t.Errorf("audited %s", got)
			}
		})
	}
}

// TestReminderOfReplacedKey: the user gets an email before the successor of a key expires, and none about the key.
func TestReminderOfReplacedKey(t *testing.T) {
	m := &mails{}
	s := mailing(t, m)
	ada := s.as("ada")
	old := s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:read"}, "days": 30})
	s.later(24 * time.Hour)
	if r := s.post(s.as("ada"), "api-keys/rotate", map[string]any{"id": old.ID}); r.StatusCode != 200 {
		t.Fatalf("rotate: %d %s", r.StatusCode, r.body)
	}
	m.take(s)
	for day, want := range []int{0, 1, 0} { // the key's email would be sent on the first of these days
		wait := 24 * time.Hour
		if day == 0 {
			wait *= 22
		}
		s.later(wait)
		if err := s.keys.Remind(t.Context()); err != nil {
			t.Fatal(err)
		}
		if sent := m.take(s); len(sent) != want {
			t.Errorf("day %d: %d emails, want %d", day, len(sent), want)
		}
	}
}

// TestReminders lets keys expire. Their users get one email for each, from one of two processes.
func TestReminders(t *testing.T) {
	m := &mails{}
	s := mailing(t, m)
	other := serve(t, s.store, func(c *core.Config, o *apikey.Options) {
		c.Now, c.URL, o.Mail = s.clock, "https://app.example", m
	})
	ada := s.as("ada")
	create := func(days int) newKey {
		return s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:read"}, "days": days})
	}
	create(7) // too short for an email
	month := create(30)
	revoked, replaced := create(30), create(30)
	create(60)
	if err := s.keys.Revoke(t.Context(), "ada", revoked.ID); err != nil {
		t.Fatal(err)
	}
	if r := s.post(ada, "api-keys/rotate", map[string]any{"id": replaced.ID}); r.StatusCode != 200 {
		t.Fatalf("rotate: %d %s", r.StatusCode, r.body)
	}
	if _, _, err := s.keys.Create(t.Context(), apikey.NewKey{
		Service: "billing", Name: "x", Scopes: []string{"*"}, TTL: 30 * 24 * time.Hour,
	}); err != nil {
		t.Fatal(err)
	}
	m.take(s)
	run := func() (sent []core.Email) {
		t.Helper()
		var all sync.WaitGroup
		for _, process := range []*site{s, other, s, other} {
			all.Go(func() {
				if err := process.keys.Remind(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		return m.take(s, other)
	}
	s.later(23*24*time.Hour - time.Second)
	if sent := run(); len(sent) > 0 {
		t.Fatalf("too early: %v", sent)
	}
	s.later(time.Second)
	// The key and the successor of another one are due at the same time.
	sent := run()
	if len(sent) == 0 || len(sent) > 2 {
		t.Fatalf("due: %v", sent)
	}
	for _, e := range sent {
		if e.Kind != mailkind.KeyExpiring || e.To != "ada@example.com" || !e.At.Equal(month.Expires) ||
			e.URL != "https://app.example/auth/api-keys" {
			t.Errorf("the email is %s to %s, %v, %s", e.Kind, e.To, e.At, e.URL)
		}
	}
	if sent := run(); len(sent) > 0 {
		t.Errorf("again: %v", sent)
	}
	s.later(30*24*time.Hour + 6*24*time.Hour) // all processes were down for six days
	if sent := run(); len(sent) != 1 {
		t.Errorf("late: %v", sent)
	}
	s.later(60 * 24 * time.Hour)
	if sent := run(); len(sent) > 0 {
		t.Errorf("the end: %v", sent)
	}
}

// TestReminderOfTwoProcesses lets another process send the email after this one has read that it is due.
func TestReminderOfTwoProcesses(t *testing.T) {
	m := &mails{}
	s := mailing(t, m)
	other := serve(t, s.store, func(c *core.Config, o *apikey.Options) {
		c.Now, c.URL, o.Mail = s.clock, "https://app.example", m
	})
	s.create(s.as("ada"), map[string]any{"name": "x", "scopes": []string{"orders:read"}, "days": 8})
	m.take(s)
	s.later(24 * time.Hour)
	s.store.mu.Lock()
	s.store.listed = func() {
		if err := other.keys.Remind(t.Context()); err != nil {
			t.Error(err)
		}
	}
	s.store.mu.Unlock()
	if err := s.keys.Remind(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sent := m.take(s, other); len(sent) != 1 {
		t.Errorf("%d emails", len(sent))
	}
}

// TestNoReminders configures no emails, and stores that cannot find the keys that are due.
func TestNoReminders(t *testing.T) {
	m := &mails{}
	s := mailing(t, m, func(_ *core.Config, o *apikey.Options) { o.ExpiryWarning = -1 })
	s.create(s.as("ada"), map[string]any{"name": "x", "scopes": []string{"orders:read"}})
	m.take(s)
	s.later(85 * 24 * time.Hour)
	records, _, err := s.store.ListRecords(t.Context(), "api-key-reminder", "", "", 10)
	if len(records) > 0 || err != nil {
		t.Errorf("the records are %v, %v", records, err)
	}
	_, err = core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(), TrustHost: core.True,
		Getenv:  func(string) string { return "" },
		Plugins: []core.Plugin{apikey.New(apikey.Options{Scopes: scopes, Mail: m})},
	})
	if err == nil || !strings.Contains(err.Error(), "it emails links") {
		t.Errorf("a site that trusts any host: %v", err)
	}
}

// TestAdvice checks what the doctor reports.
func TestAdvice(t *testing.T) {
	for _, row := range []struct {
		name   string
		prefix string
		store  core.Store
		mail   core.Mailer
		want   string
	}{
		{"a good configuration", "acme_live", memory.New(), &mails{}, ""},
		{"the default prefix", "", memory.New(), &mails{}, "API keys have the default prefix lk"},
		{"no emails", "acme_live", memory.New(), nil, "users get no email about their API keys"},
		{"no list of records", "acme_live", listless{memory.New(), memory.New()}, &mails{}, "users get no email before"},
	} {
		t.Run(row.name, func(t *testing.T) {
			keys := apikey.New(apikey.Options{Prefix: row.prefix, Scopes: scopes, Mail: row.mail})
			if _, err := core.New(core.Config{
				Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: row.store,
				Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
				Plugins: []core.Plugin{keys},
			}); err != nil {
				t.Fatal(err)
			}
			said := ""
			keys.Advise(func(what, _ string) { said += what })
			if !strings.Contains(said, row.want) || row.want == "" && said != "" {
				t.Errorf("the advice is %q", said)
			}
		})
	}
}

// listless is a store that cannot list records.
type listless struct {
	core.Store
	store.RecordStore
}

// TestRemindersInTrouble has malformed reminders, many reminders, and a store that fails.
func TestRemindersInTrouble(t *testing.T) {
	m := &mails{}
	s := mailing(t, m)
	malformed := &store.Record{
		Kind: "api-key-reminder", Key: s.clock().Format(time.DateOnly) + ".x", Value: json.RawMessage(`"?"`),
		Expires: s.clock().Add(time.Hour),
	}
	if err := s.store.CreateRecord(t.Context(), malformed); err != nil {
		t.Fatal(err)
	}
	const many = 130
	for i := range many {
		id := fmt.Sprint("user-", i)
		u := &core.User{ID: id, Email: id + "@example.com", EmailVerified: s.clock()}
		if _, err := s.store.CreateUser(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.keys.Create(t.Context(), apikey.NewKey{
			UserID: id, Name: "x", Scopes: []string{"orders:read"}, TTL: 8 * 24 * time.Hour,
		}); err != nil {
			t.Fatal(err)
		}
	}
	s.later(24 * time.Hour)
	for _, want := range []int{100, many - 100, 0} {
		if err := s.keys.Remind(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(m.take(s)); n != want {
			t.Errorf("a run sends %d emails, want %d", n, want)
		}
	}
	s.create(s.as("ada"), map[string]any{"name": "x", "scopes": []string{"orders:read"}, "days": 8})
	m.take(s)
	s.later(24 * time.Hour)
	s.store.breaks(core.ErrStoreUnavailable)
	if err := s.keys.Remind(t.Context()); !errors.Is(err, core.ErrStoreUnavailable) {
		t.Errorf("the store fails: %v", err)
	}
}

// TestReminderAfterFailure: a reminder whose key could not be read is sent by the next run.
func TestReminderAfterFailure(t *testing.T) {
	m := &mails{}
	s := mailing(t, m)
	s.create(s.as("ada"), map[string]any{"name": "x", "scopes": []string{"orders:read"}, "days": 8})
	m.take(s)
	s.later(24 * time.Hour)
	s.store.breaks(errors.New("the store is unavailable"))
	if err := s.keys.Remind(t.Context()); err == nil {
		t.Error("no error")
	}
	s.store.breaks(nil)
	if err := s.keys.Remind(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(m.take(s)); n != 1 {
		t.Errorf("%d reminders were sent, want 1", n)
	}
}
