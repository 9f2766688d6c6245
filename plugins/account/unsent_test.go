package account_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// moody is a mail service that can be made to reject emails. It may have delivered them nevertheless.
type moody struct {
	core.Mailer
	refuses  bool
	panics   bool
	delivers int
	last     core.Email
}

func (m *moody) Send(ctx context.Context, l core.Email) error {
	m.last = l
	m.delivers++
	if m.panics {
		panic(string(l.URL))
	}
	if m.refuses {
		return errors.New("451 try again later")
	}
	return m.Mailer.Send(ctx, l)
}

// moodySite is a site with such a mail service.
func moodySite(t *testing.T) (*site, *moody) {
	m := &moody{}
	s := newSite(t, setup{mails: m})
	m.Mailer = s.mails
	return s, m
}

func (s *site) underWay() int {
	s.Helper()
	records, err := s.store.UserRecords(s.Context(), "ada", "email-change")
	s.must(err)
	return len(records)
}

// TestRefusedEmails: however often the mail service rejects an email, the user can request another one, and a link
// that was delivered nevertheless is void.
func TestRefusedEmails(t *testing.T) {
	s, m := moodySite(t)
	b := s.as(ada)
	ask := url.Values{"email": {adaNew}}
	m.refuses = true
	for range 11 { // more than the limit of pending links
		b.refused(b.call("account/email", ask), http.StatusServiceUnavailable, "mail_failed")
		if n := s.underWay(); n != 0 {
			t.Fatalf("%d pending links that were not sent", n)
		}
		s.wait(2 * time.Minute)
		b.signIn(ada)
	}
	link, err := url.Parse(string(m.last.URL))
	s.must(err)
	b.refused(b.confirm(link.Query().Get("token")), http.StatusGone, "link_invalid")
	m.refuses = false
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
}

// TestMailerThatPanics: a panic counts as a failed email. The panic value, which is the link here, is not logged.
func TestMailerThatPanics(t *testing.T) {
	s, m := moodySite(t)
	b := s.as(ada)
	m.panics = true
	b.refused(b.call("account/email", url.Values{"email": {adaNew}}), http.StatusServiceUnavailable, "mail_failed")
	if n := s.underWay(); n != 0 {
		t.Errorf("%d pending links that were not sent", n)
	}
	link, err := url.Parse(string(m.last.URL))
	s.must(err)
	if log := s.log.String(); !strings.Contains(log, "(*moody).Send") || strings.Contains(log, link.Query().Get("token")) {
		t.Errorf("the log has no stack trace, or contains the link: %s", log)
	}
	m.panics = false
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
}

// TestRefusedEmailsCount: failed emails count for the limit of a mailbox, because some services deliver emails that
// they reject. The limit is the same as for sent emails: a few immediately, and then one every two minutes.
func TestRefusedEmailsCount(t *testing.T) {
	s, m := moodySite(t)
	b := s.as(ada)
	ask := url.Values{"email": {adaNew}}
	m.refuses = true
	b.refused(b.call("account/email", ask), http.StatusServiceUnavailable, "mail_failed")
	m.refuses = false
	b.fine(b.call("account/email", ask), http.StatusAccepted) // immediately
	m.refuses = true
	for range 20 {
		b.call("account/email", ask)
	}
	if m.delivers != 3 {
		t.Errorf("%d emails immediately", m.delivers)
	}
	s.wait(2 * time.Minute)
	for range 20 {
		b.call("account/email", ask)
	}
	if m.delivers != 4 {
		t.Errorf("%d emails two minutes later", m.delivers)
	}
}

// killed is a store of a process that ends after a link was stored and before its email is sent. Nothing more is
// written until another process continues.
type killed struct {
	*memory.Store
	armed, dead bool
}

func (k *killed) CreateRecord(ctx context.Context, r *store.Record) error {
	err := k.Store.CreateRecord(ctx, r)
	k.dead = k.dead || k.armed && r.Kind == "email-change"
	return err
}

func (k *killed) UserByEmail(ctx context.Context, email string) (*core.User, error) {
	if k.dead {
		return nil, errDead
	}
	return k.Store.UserByEmail(ctx, email)
}

func (k *killed) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if k.dead {
		return nil, errDead
	}
	return k.Store.DeleteRecord(ctx, kind, key)
}

// TestKilledBeforeTheEmail: a link that was stored but not sent does not prevent another request, and becomes void
// with the change.
func TestKilledBeforeTheEmail(t *testing.T) {
	k := &killed{armed: true}
	s := newSite(t, setup{configure: func(c *core.Config) {
		k.Store = c.Store.(*memory.Store)
		c.Store = k
	}})
	b := s.as(ada)
	if r := b.call("account/email", url.Values{"email": {adaNew}}); r.Status < 500 || len(s.sent()) != 0 {
		t.Fatalf("answered %d, %d emails", r.Status, len(s.sent()))
	}
	k.armed, k.dead = false, false
	if n := s.underWay(); n != 1 {
		t.Fatalf("%d links remain of the process that ended", n)
	}
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
	if n := s.underWay(); n != 0 || s.user("ada").Email != adaNew {
		t.Errorf("%d links outlived the change to %s", n, s.user("ada").Email)
	}
}
