package account_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/ui"
)

const week = 7 * 24 * time.Hour

// keeper is a plugin with credentials of users.
type keeper struct{ ended []string }

func (k *keeper) Attach(*core.PluginHost) error { return nil }

func (k *keeper) EndCredentials(_ context.Context, userID string) error {
	k.ended = append(k.ended, userID)
	return nil
}

// holder is a plugin that holds every sign-in until POST holder, such as a second factor.
type holder struct{}

func (holder) Attach(h *core.PluginHost) error {
	h.AddSignInGate(func(context.Context, *core.PendingSignIn) (string, error) { return "holder", nil })
	h.AddAction(core.Action{Method: "GET", Name: "holder",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.JSON(ctx, 200, nil), nil
		}})
	h.AddAction(core.Action{Method: "POST", Name: "holder",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			p, err := c.PendingSignIn(ctx)
			if err != nil || p == nil {
				return nil, errors.Join(err, &core.Problem{Status: 409, Code: "nothing_pending"})
			}
			return c.CompleteSignIn(ctx, p, amr.OTP)
		}})
	return nil
}

// newSchedule returns a site that deletes accounts after a week. deleted are the users that Options.Delete got.
func newSchedule(t *testing.T, o account.Options, configure func(*core.Config)) (s *site, deleted *[]string) {
	t.Helper()
	deleted = new([]string)
	o.DeleteAfter = week
	if o.Delete == nil {
		o.Delete = func(_ context.Context, u *core.User) error { *deleted = append(*deleted, u.ID); return nil }
	}
	s = newSite(t, setup{options: o, configure: configure})
	s.later(0)
	return s, deleted
}

// later lets time pass. Another process has the turn for tasks, so that only the test runs them. It takes the turn
// before the clock moves, because a request of before may start a run at any time.
func (s *site) later(d time.Duration) {
	s.Helper()
	const name = "latchkey:clean-up"
	now := s.clock().Add(d)
	err := s.store.CreateVerificationToken(s.Context(), &store.VerificationToken{
		Identifier: name, Token: fmt.Sprint(name, ":", now.Unix()/600), Expires: now.Add(time.Hour),
	})
	if err != nil && !errors.Is(err, core.ErrConflict) {
		s.Fatal(err)
	}
	s.wait(d)
}

// schedule asks for the deletion of ada's account.
func (b *browser) schedule() {
	b.Helper()
	r := b.call("account/delete", url.Values{"phrase": {phrase}})
	b.fine(r, http.StatusOK)
	var answer struct {
		Deleted  bool
		Deletion time.Time
	}
	b.must(json.Unmarshal(r.Body, &answer))
	if answer.Deleted || !answer.Deletion.Equal(b.clock().Add(week)) {
		b.Fatalf("answered %s", r.Body)
	}
}

// tries signs ada in, and reports whether the sign-in waits for the decision about the deletion.
func (b *browser) tries() bool {
	b.Helper()
	r := b.post("callback/credentials", url.Values{"email": {ada}, "password": {"right"}})
	if r.Err != nil {
		b.Fatalf("sign-in: %v", r.Err)
	}
	return r.Redirect == origin+"/auth/account/keep"
}

// TestScheduledDeletion asks for a deletion, keeps the account after a sign-in, asks again and lets the time pass.
func TestScheduledDeletion(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			keys := &keeper{}
			s, deleted := newSchedule(t, account.Options{}, func(c *core.Config) {
				configure(c)
				c.Plugins = append(c.Plugins, keys)
			})
			b, phone, other := s.as(ada), s.as(ada), s.as(eve)
			if r := b.open("account"); !strings.Contains(string(r.Body), "on January 9, 2030") {
				t.Errorf("the page does not say when:\n%s", r.Body)
			}
			r := b.post("account/delete", url.Values{"phrase": {phrase}})
			b.fine(r, http.StatusOK)
			if text := string(r.Body); !strings.Contains(text, "Your account will be deleted") ||
				!strings.Contains(text, "January 9, 2030") {
				t.Errorf("the page is\n%s", text)
			}
			if b.signedIn() || phone.signedIn() || !other.signedIn() {
				t.Error("the wrong browsers are signed in")
			}
			if !slices.Equal(keys.ended, []string{"ada"}) {
				t.Errorf("credentials of %q have ended", keys.ended)
			}
			m := s.mail(ada)
			if m.Kind != mailkind.DeletionScheduled || !m.Email.At.Equal(s.clock().Add(week)) ||
				!strings.HasPrefix(m.URL, origin+"/auth/account/keep?token=") {
				t.Errorf("the email is %s with %q at %v", m.Kind, m.URL, m.Email.At)
			}
			if told := s.told(); !slices.Contains(told, "user.deletion.scheduled ok ada") {
				t.Errorf("audit events %q", told)
			}

			// A sign-in waits for the decision. A GET decides nothing.
			s.later(6 * 24 * time.Hour)
			if !b.tries() || b.signedIn() {
				t.Fatal("the sign-in is not held")
			}
			for range 2 {
				if r := b.open("account/keep"); r.Status != 200 || !strings.Contains(string(r.Body), "Keep my account") {
					t.Fatalf("the page is %d %s", r.Status, r.Body)
				}
			}
			s.must(s.mine.DeleteDue(t.Context()))
			b.fine(b.post("account/keep", nil), http.StatusSeeOther)
			if !b.signedIn() || phone.tries() {
				t.Error("the account was not kept")
			}
			if left, err := s.store.UserRecords(t.Context(), "ada", "account-keep"); err != nil || len(left) > 0 {
				t.Errorf("%d links are left, %v", len(left), err)
			}
			if told := s.told(); !slices.Contains(told, "user.deletion.canceled ok ada") {
				t.Errorf("audit events %q", told)
			}
			s.later(2 * 24 * time.Hour)
			s.must(s.mine.DeleteDue(t.Context()))
			if len(*deleted) != 0 || s.user("ada") == nil {
				t.Fatal("a kept account was deleted")
			}

			// It is deleted when the time has come, once.
			b.signIn(ada)
			b.schedule()
			s.sent() // else the last email could arrive before this one
			s.later(week - time.Second)
			s.must(s.mine.DeleteDue(t.Context()))
			if len(*deleted) != 0 {
				t.Fatal("the account was deleted early")
			}
			s.later(time.Second)
			s.must(s.mine.DeleteDue(t.Context()), s.mine.DeleteDue(t.Context()))
			if _, err := s.store.User(t.Context(), "ada"); !errors.Is(err, core.ErrNotFound) ||
				!slices.Equal(*deleted, []string{"ada"}) {
				t.Errorf("the user is %v, deleted were %q", err, *deleted)
			}
			if left, err := s.store.UserRecords(t.Context(), "ada", ""); err != nil || len(left) != 0 {
				t.Errorf("%d records are left, %v", len(left), err)
			}
			if m := s.mail(ada); m.Kind != mailkind.Deleted || m.Email.Host != "app.example" {
				t.Errorf("the last email is %s of %q", m.Kind, m.Email.Host)
			}
			if told := s.told(); !slices.Contains(told, "user.deleted ok ada") {
				t.Errorf("audit events %q", told)
			}
		})
	}
}

// TestLanguageOfTheLastEmail: the email after the deletion has the language of the page that scheduled it, or that of
// the site if the language is no longer configured.
func TestLanguageOfTheLastEmail(t *testing.T) {
	for asked, row := range map[string]struct {
		stored string // the language in the record, if it is another one
		want   string
	}{
		"de": {want: "de"},
		"en": {want: "en"},
		"fr": {stored: "it", want: "en"},
	} {
		t.Run(asked, func(t *testing.T) {
			s, _ := newSchedule(t, account.Options{}, func(c *core.Config) {
				c.Locales = []ui.Locale{{Tag: "en"}, {Tag: "de"}, {Tag: "fr"}}
			})
			b := s.as(ada)
			b.open("account?lang=" + asked)
			b.schedule()
			if m := s.mail(ada); m.Kind != mailkind.DeletionScheduled || m.Email.Locale.Tag != asked {
				t.Errorf("the first email is %s in %q", m.Kind, m.Email.Locale.Tag)
			}
			if row.stored != "" {
				r, err := s.store.Record(t.Context(), "account-deletion", "ada")
				s.must(err)
				r.Value = bytes.ReplaceAll(r.Value, []byte(asked), []byte(row.stored))
				s.must(s.store.UpdateRecord(t.Context(), r))
			}
			s.later(week)
			s.must(s.mine.DeleteDue(t.Context()))
			if m := s.mail(ada); m.Kind != mailkind.Deleted || m.Email.Locale.Tag != row.want {
				t.Errorf("the last email is %s in %q, want %q", m.Kind, m.Email.Locale.Tag, row.want)
			}
		})
	}
}

// TestKeptRecordIsLeft: if the server stopped between the two steps of keeping an account, sign-ins are not held, the
// task deletes the record and not the user, and the user can ask again.
func TestKeptRecordIsLeft(t *testing.T) {
	for name, next := range map[string]func(s *site, b *browser){
		"the task": func(s *site, _ *browser) { s.must(s.mine.DeleteDue(s.Context())) },
		"a new request": func(s *site, b *browser) {
			b.signIn(ada)
			b.schedule()
			s.must(s.mine.DeleteDue(s.Context()))
			if !b.tries() {
				s.Error("the new request was not stored")
			}
			b.post("account/keep", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, deleted := newSchedule(t, account.Options{}, nil)
			s.must(s.store.CreateRecord(t.Context(), &store.Record{
				Kind: "account-deletion", Key: "ada", UserID: "ada", Value: json.RawMessage(
					`{"due":"2030-01-01T00:00:00Z","kept":true}`),
			}))
			b := s.browse()
			if b.tries() {
				t.Error("the sign-in is held")
			}
			next(s, b)
			if _, err := s.store.Record(t.Context(), "account-deletion", "ada"); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("the record is left: %v", err)
			}
			if s.user("ada") == nil || len(*deleted) != 0 {
				t.Error("the user was deleted")
			}
		})
	}
}

// TestDeletionEndsSessions: a session that the application created during the grace period ends with the user.
func TestDeletionEndsSessions(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			s, _ := newSchedule(t, account.Options{}, configure)
			s.as(ada).schedule()
			b := s.browse()
			cookies, err := s.auth.NewSession(t.Context(), &core.Request{
				Method: "GET", Target: "/enter", Hosts: []string{"app.example"}, Scheme: "https",
			}, s.user("ada"))
			s.must(err)
			for _, c := range cookies {
				b.cookies[c.Name] = c.Value
			}
			if !b.signedIn() {
				t.Fatal("the application's session is not valid")
			}
			s.later(week)
			s.must(s.mine.DeleteDue(t.Context()))
			if b.signedIn() {
				t.Error("the session of the deleted user is valid")
			}
		})
	}
}

// TestKeepByEmail keeps an account by the link of the email, without a session. Opening the link changes nothing.
func TestKeepByEmail(t *testing.T) {
	s, _ := newSchedule(t, account.Options{}, nil)
	s.as(ada).schedule()
	token := s.tokenIn(s.mail(ada))
	b := s.browse()
	for range 2 { // a mail scanner and the user
		r := b.open("account/keep?token=" + token)
		if r.Status != 200 || !strings.Contains(string(r.Body), "Keep my account") {
			t.Fatalf("the page is %d %s", r.Status, r.Body)
		}
	}
	if !b.tries() {
		t.Fatal("a GET has kept the account")
	}
	for _, wrong := range []string{"x", token[1:], token + "a"} {
		b.refused(b.call("account/keep", url.Values{"token": {wrong}}), http.StatusGone, "link_invalid")
	}
	r := s.browse().post("account/keep", url.Values{"token": {token}})
	b.fine(r, http.StatusOK)
	if !strings.Contains(string(r.Body), "You kept your account") {
		t.Errorf("the page is\n%s", r.Body)
	}
	if b.tries() {
		t.Error("the account was not kept")
	}
	b.refused(b.call("account/keep", url.Values{"token": {token}}), http.StatusGone, "link_invalid")
}

// TestKeepNeedsTheUnverifiedToSignIn: an unverified address may belong to another person, who gets no link to keep the
// account.
func TestKeepNeedsTheUnverifiedToSignIn(t *testing.T) {
	s, _ := newSchedule(t, account.Options{}, nil)
	u := s.user("ada")
	u.EmailVerified = time.Time{}
	s.must(s.store.UpdateUser(t.Context(), u))
	s.as(ada).schedule()
	if m := s.mail(ada); m.URL != origin+"/auth/account/keep" {
		t.Errorf("the link is %q", m.URL)
	}
	if r := s.browse().open("account/keep"); r.Redirect != origin+"/auth/signin" {
		t.Errorf("the link leads to %q", r.Redirect)
	}
}

// TestKeepAfterTheSecondFactor: an attacker who has only the password can neither keep the account nor see that it will
// be deleted, whatever the order of the plugins.
func TestKeepAfterTheSecondFactor(t *testing.T) {
	s, _ := newSchedule(t, account.Options{}, func(c *core.Config) { c.Plugins = append(c.Plugins, holder{}) })
	b := s.browse()
	b.post("callback/credentials", url.Values{"email": {ada}, "password": {"right"}})
	b.post("holder", nil)
	b.schedule()
	if b.tries() {
		t.Fatal("the deletion is shown before the second factor")
	}
	if r := b.post("account/keep", nil); r.Redirect != origin+"/auth/signin" {
		t.Errorf("before the second factor: %d %s", r.Status, r.Redirect)
	}
	if r := b.post("holder", nil); r.Redirect != origin+"/auth/account/keep" {
		t.Fatalf("after the second factor: %d %q %v", r.Status, r.Redirect, r.Err)
	}
	b.post("account/keep", nil)
	if !b.signedIn() {
		t.Error("the account was not kept")
	}
}

// TestDeletionFails: after an error of Options.Delete the deletion is tried again, and the account cannot be kept,
// because some of its data may be gone. If Options.Delete refuses, it can be kept.
func TestDeletionFails(t *testing.T) {
	for _, row := range []struct {
		name string
		err  error
		kept bool
	}{
		{"an error", errors.New("connection refused"), false},
		{"a refusal", &core.Problem{Status: 409, Code: "open_invoice", Detail: "Pay first."}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			calls, result := 0, row.err
			s, _ := newSchedule(t, account.Options{
				Delete: func(context.Context, *core.User) error { calls++; return result },
			}, nil)
			s.as(ada).schedule()
			s.later(week)
			if err := s.mine.DeleteDue(t.Context()); err == nil || calls != 1 {
				t.Fatalf("%d calls, %v", calls, err)
			}
			if told := s.told(); !slices.Contains(told, "user.deleted failed ada") {
				t.Errorf("audit events %q", told)
			}
			b := s.browse()
			if !b.tries() {
				t.Fatal("the sign-in is not held")
			}
			if shown := strings.Contains(string(b.open("account/keep").Body), "Keep my account"); shown != row.kept {
				t.Errorf("the page has the button: %t", shown)
			}
			if row.kept {
				b.post("account/keep", nil)
				if !b.signedIn() {
					t.Error("the account was not kept")
				}
				return
			}
			b.refused(b.call("account/keep", nil), http.StatusConflict, "deletion_started")
			s.must(s.mine.DeleteDue(t.Context())) // too early
			result = nil
			s.later(6 * time.Minute)
			s.must(s.mine.DeleteDue(t.Context()))
			if _, err := s.store.User(t.Context(), "ada"); !errors.Is(err, core.ErrNotFound) || calls != 2 {
				t.Errorf("%d calls, the user is %v", calls, err)
			}
		})
	}
}

// TestKeepOrDelete: if requests keep the account while tasks delete it, one of both happens, and completely.
func TestKeepOrDelete(t *testing.T) {
	for range 20 {
		s, deleted := newSchedule(t, account.Options{}, nil)
		s.as(ada).schedule()
		s.later(week - time.Minute)
		const racers = 4
		kept, browsers := make([]bool, racers), make([]*browser, racers)
		for i := range browsers {
			browsers[i] = s.browse()
			if !browsers[i].tries() {
				t.Fatal("the sign-in is not held")
			}
		}
		s.later(time.Minute)
		var all sync.WaitGroup
		for i, b := range browsers {
			all.Go(func() { b.call("account/keep", nil); kept[i] = b.signedIn() })
			all.Go(func() {
				if err := s.mine.DeleteDue(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		_, err := s.store.User(t.Context(), "ada")
		if gone := errors.Is(err, core.ErrNotFound); gone != (len(*deleted) == 1) || gone == slices.Contains(kept, true) {
			t.Fatalf("the user is %v, deleted %q, kept %v", err, *deleted, kept)
		}
	}
}

// listing calls between, once, after the first page of scheduled deletions was read.
type listing struct {
	*memory.Store
	between atomic.Pointer[func()] // background work reads the store too
}

func (l *listing) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) (records []*store.Record, next string, err error) {
	records, next, err = l.Store.ListRecords(ctx, kind, prefix, cursor, limit)
	if kind != "account-deletion" {
		return records, next, err
	}
	if between := l.between.Swap(nil); between != nil {
		(*between)()
	}
	return records, next, err
}

// TestTaskMeetsAnother: after a task has read a deletion, the user keeps the account or another process deletes it. The
// task does nothing.
func TestTaskMeetsAnother(t *testing.T) {
	for name, row := range map[string]struct {
		between func(s *site, b *browser)
		deleted int
	}{
		"the user": {func(_ *site, b *browser) { b.post("account/keep", nil) }, 0},
		"a task":   {func(s *site, _ *browser) { s.must(s.mine.DeleteDue(s.Context())) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var list *listing
			s, deleted := newSchedule(t, account.Options{}, func(c *core.Config) {
				list = &listing{Store: c.Store.(*memory.Store)}
				c.Store = list
			})
			s.as(ada).schedule()
			s.later(week - time.Minute)
			b := s.browse()
			if !b.tries() {
				t.Fatal("the sign-in is not held")
			}
			s.later(time.Minute)
			between := func() { row.between(s, b) }
			list.between.Store(&between)
			s.must(s.mine.DeleteDue(t.Context()))
			if len(*deleted) != row.deleted || b.signedIn() == (row.deleted == 1) {
				t.Errorf("deleted %q, signed in: %t", *deleted, b.signedIn())
			}
		})
	}
}

// TestCheckDelete: the application can refuse the request for a deletion.
func TestCheckDelete(t *testing.T) {
	s, _ := newSchedule(t, account.Options{CheckDelete: func(context.Context, *core.User) error {
		return &core.Problem{Status: 409, Code: "open_invoice", Detail: "Pay first."}
	}}, nil)
	b := s.as(ada)
	b.refused(b.call("account/delete", url.Values{"phrase": {phrase}}), 409, "open_invoice")
	if !b.signedIn() || s.browse().tries() {
		t.Error("the deletion was scheduled")
	}
}

// TestDeleteAfterNeedsDelete reports options that do not fit together.
func TestDeleteAfterNeedsDelete(t *testing.T) {
	for text, o := range map[string]account.Options{
		"Options.Delete is nil": {DeleteAfter: week},
		"must not be negative":  {DeleteAfter: -1, Delete: func(context.Context, *core.User) error { return nil }},
	} {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: newSite(t, setup{}).store,
			Getenv: func(string) string { return "" }, Plugins: []core.Plugin{account.New(o)},
		})
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("the error is %v, want %q", err, text)
		}
	}
}

// TestScheduleDeletion schedules the deletion of a user without a request, as an administrator does.
func TestScheduleDeletion(t *testing.T) {
	for name, configure := range strategies {
		t.Run(name, func(t *testing.T) {
			o := account.Options{Delete: func(context.Context, *core.User) error { return nil }, DeleteAfter: 24 * time.Hour}
			s := newSite(t, setup{options: o, configure: configure})
			due, err := s.mine.ScheduleDeletion(t.Context(), "ada")
			if err != nil || !due.Equal(s.clock().Add(24*time.Hour)) {
				t.Fatalf("the deletion is at %v (%v)", due, err)
			}
			s.wait(time.Hour)
			if again, err := s.mine.ScheduleDeletion(t.Context(), "ada"); err != nil || !again.Equal(due) {
				t.Errorf("the second request moves the deletion to %v (%v)", again, err)
			}
			mails := s.sent()
			if len(mails) != 1 || mails[0].To != ada || !strings.HasPrefix(mails[0].URL, origin+"/auth/account/keep?token=") {
				t.Errorf("the emails are %+v", mails)
			}
			s.wait(24 * time.Hour)
			s.must(s.mine.DeleteDue(t.Context()))
			if _, err := s.store.User(t.Context(), "ada"); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("the user was not deleted: %v", err)
			}
			if _, err := s.mine.ScheduleDeletion(t.Context(), "ada"); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("the deletion of nobody: %v", err)
			}
			if _, err := newSite(t, setup{configure: configure}).mine.ScheduleDeletion(t.Context(), "ada"); err == nil {
				t.Error("a deletion was scheduled without Options.DeleteAfter")
			}
		})
	}
}
