package webhooks_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/webhooks"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// killed is the panic of a process that ends.
type killed struct{}

// TestAnnounced ends a process before and after a change, and while its result is unknown. Another process sends the
// event of a change that was made, as the data of the user shows.
func TestAnnounced(t *testing.T) {
	t.Parallel()
	unknown := errors.New("the store did not respond")
	remove := func(ctx context.Context, s *site) error { return s.store.DeleteUser(ctx, "bob") }
	merge := func(ctx context.Context, s *site) error { return s.store.DeleteUser(ctx, "eve") }
	noMerge := func(ctx context.Context, s *site) error {
		_, err := s.store.UpdateUser(ctx, &core.User{ID: "eve", Name: "Eve"})
		return err
	}
	name := func(ctx context.Context, s *site) error {
		_, err := s.store.UpdateUser(ctx, &core.User{ID: "bob", Name: "Robert", Email: "bob@example.com"})
		return err
	}
	record := func(ctx context.Context, s *site) error {
		return s.store.CreateRecord(ctx, &store.Record{Kind: "password", Key: "bob", UserID: "bob", Value: []byte(`1`)})
	}
	nothing := func(context.Context, *site) error { return nil }
	for title, row := range map[string]struct {
		event  audit.Name
		change func(ctx context.Context, s *site) error
		err    error // after the change; nil kills the process
		want   int
	}{
		"a deletion":                {audit.UserDeleted, remove, nil, 1},
		"no deletion":               {audit.UserDeleted, nothing, nil, 0},
		"a deletion with an error":  {audit.UserDeleted, remove, unknown, 1},
		"no deletion with an error": {audit.UserDeleted, nothing, unknown, 0},
		"a refused change":          {audit.ProfileChanged, name, core.ErrConflict, 0},
		"a profile":                 {audit.ProfileChanged, name, nil, 1},
		"no profile":                {audit.ProfileChanged, nothing, nil, 0},
		"a password":                {audit.PasswordSet, record, nil, 1},
		"another change":            {audit.PasswordSet, name, nil, 0},
		"a merge of guest eve":      {audit.GuestMerged, merge, nil, 1},
		"no merge of guest eve":     {audit.GuestMerged, noMerge, nil, 0},
		"a new user":                {audit.UserCreated, nothing, nil, 1}, // bob exists
		"a change that is not seen": {audit.OrganizationChanged, nothing, nil, 1},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, httptest.NewServer)
			s := newSite(t, memory.New(), configured(r))
			if _, err := s.store.CreateUser(t.Context(), &core.User{ID: "bob", Email: "bob@example.com"}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.store.CreateUser(t.Context(), &core.User{ID: "eve"}); err != nil {
				t.Fatal(err)
			}
			e := audit.Event{Name: row.event, Outcome: audit.OK, UserID: "bob", ActorID: "eve"}
			func() {
				defer func() { _ = recover() }()
				_ = s.host.AuditChange(t.Context(), e, func(ctx context.Context) error {
					if n := len(s.records("webhook-event")); n != 1 {
						t.Errorf("%d events are stored before the change", n)
					}
					if err := row.change(ctx, s); err != nil {
						t.Fatal(err)
					}
					if row.err == nil {
						panic(killed{})
					}
					return row.err
				})
			}()
			other := newSite(t, s.store, configured(r))
			other.flush()
			if got := r.take(); len(got) > 0 {
				t.Errorf("an event is sent before its process has ended: %+v", got)
			}
			other.wait(3 * time.Minute)
			other.flush()
			got := r.take()
			if len(got) != row.want || len(got) > 0 && !strings.Contains(got[0].body, `"user_id":"bob"`) {
				t.Errorf("got %+v, want %d events", got, row.want)
			}
			if left := s.records("webhook-event"); len(left) > 0 {
				t.Errorf("%d events are left", len(left))
			}
		})
	}
}

// TestAnnouncedOnce: the event of a change that was made and reported is sent once, and immediately.
func TestAnnouncedOnce(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, httptest.NewServer)
	s := newSite(t, memory.New(), configured(r))
	e := audit.Event{Name: audit.UserDeleted, Outcome: audit.OK, UserID: "bob"}
	err := s.host.AuditChange(t.Context(), e, func(context.Context) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	s.flush()
	if got := r.take(); len(got) != 1 || len(s.records("webhook-event")) > 0 {
		t.Errorf("got %+v", got)
	}
}

// TestDisabledEmail emails the operators once when an endpoint was disabled.
func TestDisabledEmail(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, httptest.NewServer)
	options, mails := configured(r), mailbox.New()
	options.Mail, options.NotifyTo = mails, []string{"ops@example.com", "dev@example.com"}
	options.Managers = []core.Guard{manager}
	s := newSite(t, memory.New(), options, func(c *core.Config) { c.URL = "https://app.example" })
	r.respond(410)
	for _, user := range []string{"ada", "bob"} {
		s.emit(audit.UserCreated, user)
		s.flush()
	}
	if err := s.auth.FlushMail(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := mails.Mails()
	if len(all) != 2 {
		t.Fatalf("%d emails", len(all))
	}
	for _, m := range all {
		if m.Kind != "webhook-disabled" || m.URL != "https://app.example/auth/webhooks?id=own" ||
			m.To != "ops@example.com" && m.To != "dev@example.com" {
			t.Errorf("the email is %+v", m)
		}
	}
	for _, wrong := range []webhooks.Options{
		{Managers: options.Managers, Mail: mails}, {Managers: options.Managers, NotifyTo: []string{"ops@example.com"}},
		{Managers: options.Managers, Mail: mails, NotifyTo: []string{"ops"}},
	} {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(),
			Getenv: func(string) string { return "" }, Plugins: []core.Plugin{webhooks.New(wrong)},
		})
		if err == nil || !strings.Contains(err.Error(), "NotifyTo") {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

// outsideStore reports reads of the endpoints during a transaction, which use another connection.
type outsideStore struct {
	*memory.Store
	inside, reads atomic.Int32
}

func (s *outsideStore) InTransaction(ctx context.Context, do func(ctx context.Context, tx store.Store) error) error {
	s.inside.Add(1)
	defer s.inside.Add(-1)
	return s.Store.InTransaction(ctx, do)
}

func (s *outsideStore) ListRecords(
	ctx context.Context, kind, prefix, cursor string, most int,
) ([]*store.Record, string, error) {
	if s.inside.Load() > 0 {
		s.reads.Add(1)
		return nil, "", core.ErrStoreUnavailable
	}
	return s.Store.ListRecords(ctx, kind, prefix, cursor, most)
}

// TestAnnouncedInTransaction: in a transaction, the endpoints are not read. If they are unknown or outdated, the event
// is stored, and the endpoints are read later.
func TestAnnouncedInTransaction(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, httptest.NewServer)
	outside := &outsideStore{Store: memory.New()}
	s := newSite(t, outside.Store, configured(r, "user.*"), func(c *core.Config) { c.Store = outside })
	announce := func(name audit.Name, want int) {
		t.Helper()
		before := len(s.records("webhook-event"))
		err := outside.InTransaction(t.Context(), func(ctx context.Context, tx store.Store) error {
			e := audit.Event{Name: name, Outcome: audit.OK, UserID: "ada"}
			return s.hooks.Announce(ctx, tx.(store.RecordStore), e)
		})
		if n := len(s.records("webhook-event")) - before; err != nil || n != want || outside.reads.Load() > 0 {
			t.Errorf("%s: %v, %d events are stored, want %d; %d reads", name, err, n, want, outside.reads.Load())
		}
	}
	announce(audit.AccountLinked, 1) // no endpoint wants it, but none was read yet
	s.emit(audit.SignIn, "ada")      // reads them
	announce(audit.AccountLinked, 0)
	announce(audit.UserCreated, 1)
	s.wait(10 * time.Second)
	announce(audit.AccountLinked, 1)
}
