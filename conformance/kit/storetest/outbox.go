package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// outbox are the cases of emails that survive their process.
type outbox struct{ *kit }

// sentMail is the mail server of several processes: it counts emails by recipient and ID.
type sentMail struct {
	mu  sync.Mutex
	ids map[string][]string // by recipient
}

func (m *sentMail) note(l core.Email) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ids[l.To] = append(m.ids[l.To], l.ID)
}

// postman is the plugin of one process.
type postman struct {
	server  *sentMail
	host    *core.PluginHost
	outage  bool          // the mail server refuses every email
	killed  chan struct{} // if not nil, deliveries wait until it is closed
	reached chan struct{} // receives a value when a delivery waits
}

func (p *postman) Attach(h *core.PluginHost) error {
	p.host = h
	h.AddEmailSender(core.EmailSender{
		Name: "toy", Mailer: p,
		Write: func(_ context.Context, l core.Email, data json.RawMessage) (core.Email, error) {
			return l, json.Unmarshal(data, &l.To)
		},
	})
	return nil
}

func (p *postman) Send(_ context.Context, l core.Email) error {
	switch {
	case p.outage:
		return errors.New("451 try again later")
	case l.URL != "https://app.test/link" || l.ID == "":
		return fmt.Errorf("the link is %q, the ID %q", string(l.URL), l.ID)
	case p.killed != nil:
		p.reached <- struct{}{}
		<-p.killed
	}
	p.server.note(l)
	return nil
}

// process starts a process on the store, with a clock.
func (k outbox) process(p *postman, now *time.Time) *core.Auth {
	k.Helper()
	a, err := core.New(core.Config{
		Secrets: []core.Secret{"a secret of thirty-two characters or more"}, Store: k.store, Plugins: []core.Plugin{p},
		Now: func() time.Time { return *now }, CleanUp: core.False, Getenv: func(string) string { return "" },
		Logger: slog.New(slog.DiscardHandler), Mail: core.MailConfig{Retries: []time.Duration{time.Hour, time.Hour}},
	})
	k.must(err)
	return a
}

func (p *postman) send(ctx context.Context, to string) {
	p.host.Notify(ctx, core.BackgroundEmail{
		Sender: "toy", Email: core.Email{Kind: mailkind.Deleted, URL: "https://app.test/link"}, Data: to, UserID: to,
	})
}

// stored returns the records of the outbox. None may contain an address or a link in plain text.
func (k outbox) stored() []*store.Record {
	k.Helper()
	list, _, err := k.store.(store.RecordLister).ListRecords(k.Context(), "outbox", "", "", 1000)
	k.must(err)
	return list
}

// survives: emails that could not be sent during an outage are sent by another process after the first one has ended,
// each once, by whichever of two processes claims it.
func (k outbox) survives() {
	now := base
	server := &sentMail{ids: map[string][]string{}}
	first := &postman{server: server, outage: true}
	a := k.process(first, &now)
	const emails = 15
	for i := range emails {
		first.send(k.Context(), fmt.Sprintf("user%d@example.com", i))
	}
	k.must(a.FlushMail(k.Context()))
	if n := len(k.stored()); n != emails {
		k.Fatalf("%d emails are stored after the outage, want %d", n, emails)
	}
	now = now.Add(10 * time.Minute) // the outage is over, and the first process has ended
	var all sync.WaitGroup
	for range 2 {
		b := k.process(&postman{server: server}, &now)
		all.Go(func() {
			if err := b.FlushMail(k.Context()); err != nil {
				k.Error(err)
			}
		})
	}
	all.Wait()
	for i := range emails {
		if ids := server.ids[fmt.Sprintf("user%d@example.com", i)]; len(ids) != 1 {
			k.Errorf("email %d was sent %d times", i, len(ids))
		}
	}
	if left := k.stored(); len(left) > 0 {
		k.Errorf("%d records are left", len(left))
	}
}

// killed: an email of a process that was killed while it was sending is sent by another one after the claim has ended,
// and not before, with the same ID.
func (k outbox) killed() {
	now := base
	server := &sentMail{ids: map[string][]string{}}
	first := &postman{server: server, killed: make(chan struct{}), reached: make(chan struct{})}
	a := k.process(first, &now)
	first.send(k.Context(), "ada@example.com")
	<-first.reached
	for _, r := range k.stored() {
		if strings.Contains(string(r.Value), "ada@") || strings.Contains(string(r.Value), "app.test") {
			k.Errorf("a record contains %s", r.Value)
		}
	}
	second := k.process(&postman{server: server}, &now)
	now = now.Add(time.Minute)
	k.must(second.FlushMail(k.Context()))
	if n := len(server.ids["ada@example.com"]); n != 0 {
		k.Errorf("sent %d times while it was claimed", n)
	}
	now = now.Add(2 * time.Minute)
	k.must(second.FlushMail(k.Context()))
	close(first.killed) // it was not dead, only slow
	k.must(a.FlushMail(k.Context()))
	if ids := server.ids["ada@example.com"]; len(ids) != 2 || ids[0] != ids[1] {
		k.Errorf("sent with the IDs %q, want twice the same", ids)
	}
	if left := k.stored(); len(left) > 0 {
		k.Errorf("%d records are left", len(left))
	}
}
