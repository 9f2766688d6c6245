package mailqueue_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/mailqueue"
	"github.com/latchkey-go/latchkey/core/mail"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/outbox"
	"github.com/latchkey-go/latchkey/internal/purposekey"
	"github.com/latchkey-go/latchkey/ui"
)

// memory is a store of records in memory.
type memory struct {
	store.RecordStore
	mu   sync.Mutex
	rows map[string]*store.Record
	err  error // of all calls
}

func (s *memory) Record(_ context.Context, _, key string) (*store.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read(key)
}

func (s *memory) read(key string) (*store.Record, error) {
	if r := s.rows[key]; r != nil {
		return r, s.err
	}
	return nil, store.ErrNotFound
}

func (s *memory) CreateRecord(_ context.Context, r *store.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(r)
}

func (s *memory) write(r *store.Record) error {
	if s.err == nil {
		kept := *r
		s.rows[r.Key] = &kept
	}
	return s.err
}

func (s *memory) UpdateRecord(_ context.Context, r *store.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[r.Key] == nil {
		return store.ErrNotFound
	}
	return s.write(r)
}

func (s *memory) DeleteRecord(_ context.Context, _, key string) (*store.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.read(key)
	delete(s.rows, key)
	return r, err
}

func (s *memory) ListRecords(_ context.Context, _, _, _ string, _ int) (all []*store.Record, next string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rows {
		kept := *r
		all = append(all, &kept)
	}
	return all, "", s.err
}

// testQueue is a queue for tests, with its mail server.
type testQueue struct {
	*mailqueue.Queue
	memory *memory
	log    *bytes.Buffer
	sent   []mail.Email
	fail   error // of the server
	events []audit.Event
	failed []error
	undone []mail.Email
}

func (o *testQueue) Send(ctx context.Context, l mail.Email) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o.sent = append(o.sent, l)
	return o.fail
}

// origin is a request.
type origin struct{ o *testQueue }

func (r origin) Note(_ context.Context, e audit.Event) { r.o.events = append(r.o.events, e) }

func (r origin) Attrs(subject string) []slog.Attr {
	return []slog.Attr{slog.String("subject_of_request", subject)}
}

func open(t *testing.T, s *memory, change func(c *mailqueue.Config)) *testQueue {
	t.Helper()
	o := &testQueue{memory: s, log: &bytes.Buffer{}}
	c := mailqueue.Config{
		Records: s, Lister: s, Rand: rand.Reader, Now: time.Now, Logger: slog.New(slog.NewTextHandler(o.log, nil)),
		Keys:  &purposekey.Keys{Secrets: []string{"a secret"}, Rand: rand.Reader, Now: time.Now},
		Theme: ui.Theme{BrandColor: "#123456"}, Locales: []ui.Locale{{Tag: "en"}, {Tag: "de"}}, Outside: origin{o},
		Failed:    func(_ context.Context, err error) { o.failed = append(o.failed, err) },
		NotListed: func(_ context.Context, err error) { o.failed = append(o.failed, err) },
		Made:      func(context.Context, *mailqueue.Entry) (bool, error) { return true, nil },
		Bounced:   func(context.Context, string, time.Time) bool { return false },
	}
	if change != nil {
		change(&c)
	}
	o.Queue = mailqueue.New(c)
	err := o.AddSender(mail.Sender{
		Name: "toy", Mailer: o,
		Write: func(_ context.Context, l mail.Email, data json.RawMessage) (mail.Email, error) {
			l.Kind, l.ID = "", ""
			return l, json.Unmarshal(data, &l.To)
		},
		Undo: func(_ context.Context, l mail.Email, _ json.RawMessage) { o.undone = append(o.undone, l) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *testQueue) job(t *testing.T, lane string) *mailqueue.Job {
	t.Helper()
	ctx, disconnect := context.WithCancel(t.Context())
	defer disconnect() // the email is sent anyway
	j, err := o.Job(ctx, origin{o}, lane, mail.Background{
		Sender: "toy", Data: "ada@example.com", UserID: "ada", Subject: "ada@example.com",
		Email: mail.Email{Kind: mailkind.Reset, URL: "https://app.test/link", Code: "123456", Locale: ui.Locale{Tag: "de"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestStored stores an email in one process, and sends it in another one.
func TestStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memory{rows: map[string]*store.Record{}}
		first := open(t, s, nil)
		j := first.job(t, mailqueue.Notices)
		if err := first.Plan(t.Context(), nil, j); err != nil || len(s.rows) != 1 {
			t.Fatal(err, len(s.rows))
		}
		for _, r := range s.rows {
			for _, secret := range []string{"ada", "link", "123456", "toy"} {
				if strings.Contains(string(r.Value), secret) {
					t.Errorf("%q in %s", secret, r.Value)
				}
			}
		}
		time.Sleep(outbox.ClaimFor) //nolint:forbidigo // the clock of a synctest bubble
		second := open(t, s, nil)
		second.Perhaps()
		synctest.Wait()
		if len(second.sent) != 1 || len(s.rows) != 0 || len(second.failed) != 0 {
			t.Fatal(second.sent, s.rows, second.failed)
		}
		l := second.sent[0]
		if l.To != "ada@example.com" || l.ID != j.Value.Email.ID || l.Kind != mailkind.Reset || l.Locale.Tag != "de" ||
			string(l.URL) != "https://app.test/link" || string(l.Code) != "123456" || l.Theme.BrandColor != "#123456" {
			t.Errorf("%#v %s %s", l, string(l.URL), l.To)
		}
		_ = first.Plan(t.Context(), nil, first.job(t, mailqueue.Notices))
		time.Sleep(outbox.ClaimFor - time.Second) //nolint:forbidigo // the clock of a synctest bubble
		second.Perhaps()                          // searches, but the first process has the job
		time.Sleep(2 * time.Second)               //nolint:forbidigo // the clock of a synctest bubble
		second.Perhaps()                          // does not search within a minute
		if synctest.Wait(); len(second.sent) != 1 {
			t.Error("two searches within a minute")
		}
		if err := second.Flush(t.Context()); err != nil || len(second.sent) != 2 {
			t.Error(err, second.sent)
		}
		s.err = errors.New("the store is unavailable")
		if second.Flush(t.Context()) != nil || len(second.failed) != 1 || !errors.Is(second.failed[0], s.err) {
			t.Error(second.failed)
		}
		if err := first.Plan(t.Context(), nil, first.job(t, mailqueue.Notices)); !errors.Is(err, s.err) {
			t.Error(err)
		}
	})
}

// TestUnknownSender checks the log of a stored email whose sender no plugin has, and that senders are complete.
func TestUnknownSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &memory{rows: map[string]*store.Record{}}
		first, second := open(t, s, nil), open(t, s, func(c *mailqueue.Config) {
			c.Keys = &purposekey.Keys{Secrets: []string{"another secret"}, Rand: rand.Reader, Now: time.Now}
		})
		if err := first.AddSender(mail.Sender{Name: "other", Mailer: first}); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []mail.Sender{{Name: "x"}, {Mailer: first}, {Name: "toy", Mailer: first}} {
			if first.AddSender(bad) == nil {
				t.Errorf("added %q", bad.Name)
			}
		}
		if _, err := first.Job(t.Context(), origin{first}, mailqueue.Open, mail.Background{Sender: "x"}); err == nil {
			t.Error("an unknown sender")
		}
		j, err := first.Job(t.Context(), origin{first}, mailqueue.Open, mail.Background{Sender: "other"})
		if err != nil || first.Plan(t.Context(), nil, j) != nil {
			t.Fatal(err)
		}
		time.Sleep(outbox.ClaimFor) //nolint:forbidigo // the clock of a synctest bubble
		for _, q := range []*testQueue{open(t, s, nil), second} {
			if err := q.Flush(t.Context()); err != nil || len(q.failed) != 1 || len(q.sent) != 0 {
				t.Error(err, q.failed)
			}
		}
	})
}

// TestFailure checks the attempts, the log and the audit event of an email that cannot be sent.
func TestFailure(t *testing.T) {
	for name, row := range map[string]struct {
		change   func(c *mailqueue.Config)
		attempts int // to deliver
		retries  int // log lines
	}{
		"eight attempts":   {nil, 8, 7},
		"no retries":       {func(c *mailqueue.Config) { c.Retries = []time.Duration{} }, 1, 0},
		"a bounce address": {func(c *mailqueue.Config) { c.Bounced = bounced }, 1, 1},
		"not stored":       {func(c *mailqueue.Config) { c.Bounced, c.Lister = bounced, nil }, 8, 7},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := open(t, &memory{rows: map[string]*store.Record{}}, row.change)
				o.fail = errors.New("451 ada@example.com: https://app.test/link 123456")
				j := o.job(t, mailqueue.Open)
				if !o.Add(j) {
					t.Fatal("the lane is full")
				}
				time.Sleep(2 * time.Hour) //nolint:forbidigo // the clock of a synctest bubble
				synctest.Wait()
				if len(o.sent) != row.attempts || len(o.undone) != 1 || o.undone[0].To != "ada@example.com" ||
					len(o.memory.rows) != 0 {
					t.Errorf("%d attempts, %d undone, %d stored", len(o.sent), len(o.undone), len(o.memory.rows))
				}
				log := o.log.String()
				if strings.Contains(log, "ada@") || strings.Contains(log, "app.test") || strings.Contains(log, "123456") {
					t.Errorf("the log has the address, the link or the code: %s", log)
				}
				if !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "user_id=ada") ||
					!strings.Contains(log, "email=reset") || !strings.Contains(log, `subject_of_request=""`) {
					t.Error(log)
				}
				if n := strings.Count(log, "tried again"); n != row.retries {
					t.Errorf("%d retries", n)
				}
				if len(o.events) != 1 || o.events[0].UserID != "ada" || o.events[0].Subject != "" ||
					o.events[0].Name != audit.EmailFailed || o.events[0].Email != "reset" {
					t.Errorf("%+v", o.events)
				}
			})
		})
	}
}

func bounced(_ context.Context, address string, _ time.Time) bool {
	return address == "ada@example.com"
}

// TestQuotas checks the maximum number of emails that wait, of one client and in total.
func TestQuotas(t *testing.T) {
	for _, row := range []struct {
		name   string
		lane   string
		quotas func(i int) []outbox.Quota
		most   int
	}{
		{"a client", mailqueue.Open, func(int) []outbox.Quota {
			return mailqueue.Client(netip.MustParsePrefix("192.0.2.1/32"), true)
		}, 6},
		{"one /48", mailqueue.Open, func(i int) []outbox.Quota {
			return mailqueue.Client(netip.MustParsePrefix(fmt.Sprintf("2001:db8:0:%x::/64", i)), true)
		}, 24},
		{"unidentified", mailqueue.Open, func(int) []outbox.Quota { return mailqueue.Client(netip.Prefix{}, false) }, 96},
		{"all clients", mailqueue.Open, func(int) []outbox.Quota { return nil }, 256},
		{"a known browser", mailqueue.Known, func(int) []outbox.Quota { return mailqueue.Browser("b") }, 4},
		{"all known browsers", mailqueue.Known, func(int) []outbox.Quota { return nil }, 128},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := open(t, &memory{rows: map[string]*store.Record{}}, func(c *mailqueue.Config) { c.Records = nil })
				hold := make(chan struct{})
				err := o.AddSender(mail.Sender{Name: "slow", Mailer: slow(hold)})
				if err != nil {
					t.Fatal(err)
				}
				accepted := 0
				for i := range 300 {
					j, err := o.Job(t.Context(), origin{o}, row.lane, mail.Background{Sender: "slow", Email: mail.Email{To: "x"}})
					if err != nil {
						t.Fatal(err)
					}
					if o.Add(j, row.quotas(i)...) {
						accepted++
					}
				}
				if accepted != row.most {
					t.Errorf("%d emails wait, want %d", accepted, row.most)
				}
				close(hold)
				if err := o.Flush(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

type slow chan struct{}

func (s slow) Send(context.Context, mail.Email) error { <-s; return nil }

// TestChange checks that a planned notice is sent if its change was made, and deleted if it was not.
func TestChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t, &memory{rows: map[string]*store.Record{}}, nil)
		tx := &memory{rows: map[string]*store.Record{}}
		for _, checkable := range []bool{false, true} {
			j := o.job(t, mailqueue.Notices)
			j.Checkable = checkable
			if err := o.Plan(t.Context(), nil, j); err != nil {
				t.Fatal(err)
			}
			o.Cancel(j, true)
		}
		if len(o.memory.rows) != 1 {
			t.Errorf("%d notices of unknown changes", len(o.memory.rows))
		}
		j := o.job(t, mailqueue.Notices)
		if err := o.Plan(t.Context(), tx, j); err != nil || len(tx.rows) != 1 {
			t.Errorf("%v, %d rows in the transaction", err, len(tx.rows))
		}
		o.Confirm(j)
		synctest.Wait()
		if !slices.ContainsFunc(o.sent, func(l mail.Email) bool { return l.ID == j.Value.Email.ID }) {
			t.Error("not sent")
		}
		o.Cancel(nil, false)
		o.Confirm(nil)
		if err := o.Plan(t.Context(), nil, nil); err != nil {
			t.Error(err)
		}
	})
}

// TestNotify checks that notices of one user beyond their share are sent at once.
func TestNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := open(t, &memory{rows: map[string]*store.Record{}}, nil)
		hold := make(chan struct{})
		if err := o.AddSender(mail.Sender{Name: "slow", Mailer: slow(hold)}); err != nil {
			t.Fatal(err)
		}
		for i := range 17 { // users without an ID are counted by their address
			b := mail.Background{Sender: "slow", Email: mail.Email{To: fmt.Sprint("user ", i)}}
			j, _ := o.Job(t.Context(), origin{o}, mailqueue.Notices, b)
			o.Notify(j)
		}
		done := 0
		go func() {
			for range 17 {
				b := mail.Background{Sender: "slow", UserID: "ada", Email: mail.Email{To: "x"}}
				j, _ := o.Job(t.Context(), origin{o}, mailqueue.Notices, b)
				o.Notify(j)
				done++
			}
		}()
		if synctest.Wait(); done != 16 {
			t.Errorf("%d notices were queued", done)
		}
		close(hold)
		if synctest.Wait(); done != 17 {
			t.Errorf("%d notices", done)
		}
	})
}

// TestSender checks when Write and Undo of a sender are called, with a server that fails in the first attempt.
func TestSender(t *testing.T) {
	write := func(to string) func(context.Context, mail.Email, json.RawMessage) (mail.Email, error) {
		return func(_ context.Context, l mail.Email, _ json.RawMessage) (mail.Email, error) {
			l.To = to
			return l, nil
		}
	}
	for name, row := range map[string]struct {
		write func(context.Context, mail.Email, json.RawMessage) (mail.Email, error)
		data  any
		to    []string // of the attempts to deliver
	}{
		"written":     {write("eve@example.com"), "x", []string{"eve@example.com", "eve@example.com"}},
		"no data":     {write("eve@example.com"), nil, []string{"ada@example.com", "ada@example.com"}},
		"no function": {nil, "x", []string{"ada@example.com", "ada@example.com"}},
		"no address":  {write(""), "x", nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := open(t, &memory{rows: map[string]*store.Record{}}, func(c *mailqueue.Config) {
					c.Retries = []time.Duration{time.Minute}
				})
				o.fail = errors.New("451")
				s := mail.Sender{Name: "test", Mailer: o}
				writes := 0
				if row.write != nil {
					s.Write = func(ctx context.Context, l mail.Email, data json.RawMessage) (mail.Email, error) {
						writes++
						return row.write(ctx, l, data)
					}
				}
				if row.data == nil {
					s.Undo = func(context.Context, mail.Email, json.RawMessage) { t.Error("undone without data") }
				}
				if err := o.AddSender(s); err != nil {
					t.Fatal(err)
				}
				j, err := o.Job(t.Context(), origin{o}, mailqueue.Open, mail.Background{
					Sender: "test", Data: row.data, Email: mail.Email{To: "ada@example.com"}, Subject: "ada",
				})
				if err != nil || !o.Add(j) {
					t.Fatal(err)
				}
				time.Sleep(time.Hour) //nolint:forbidigo // the clock of a synctest bubble
				synctest.Wait()
				var to []string
				for _, l := range o.sent {
					to = append(to, l.To)
				}
				if !slices.Equal(to, row.to) || writes > 1 || len(o.failed) > 0 || len(o.memory.rows) > 0 {
					t.Errorf("sent to %q, %d writes, failed %v, stored %d", to, writes, o.failed, len(o.memory.rows))
				}
				if to != nil && (len(o.events) != 1 || o.events[0].Subject != "ada") {
					t.Errorf("the events are %+v", o.events)
				}
			})
		})
	}
}

// TestNoQueue checks that an Auth without emails does not search.
func TestNoQueue(t *testing.T) {
	var none *mailqueue.Queue
	none.Perhaps()
	synctest.Test(t, func(t *testing.T) {
		s := &memory{rows: map[string]*store.Record{}, err: errors.New("unavailable")}
		q := mailqueue.New(mailqueue.Config{ // without senders
			Records: s, Lister: s, Now: time.Now, NotListed: func(context.Context, error) { t.Error("it searches") },
		})
		q.Perhaps()
		synctest.Wait()
		if err := q.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
