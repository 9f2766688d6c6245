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

// moody is a mail service that refuses letters while it is told to. It may have delivered them all the same.
type moody struct {
	core.Mailer
	refuses  bool
	panics   bool
	delivers int
	last     core.Letter
}

func (m *moody) Send(ctx context.Context, l core.Letter) error {
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

// moodySite is a site whose mail service is one.
func moodySite(t *testing.T) (*site, *moody) {
	m := &moody{}
	s := newSite(t, setup{mails: m})
	m.Mailer = s.mails.Mailer()
	return s, m
}

func (s *site) underWay() int {
	s.Helper()
	records, err := s.store.UserRecords(s.Context(), "ada", "email-change")
	s.must(err)
	return len(records)
}

// TestRefusedLetters: however often the mail service refuses, nothing stays behind that keeps the person from asking
// again, and a link that came all the same is void.
func TestRefusedLetters(t *testing.T) {
	s, m := moodySite(t)
	b := s.as(ada)
	ask := url.Values{"email": {adaNew}}
	m.refuses = true
	for range 11 { // more than there may be under way
		b.refused(b.call("account/email", ask), http.StatusServiceUnavailable, "mail_failed")
		if n := s.underWay(); n != 0 {
			t.Fatalf("%d links are under way that nobody was sent", n)
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

// TestMailerThatPanics: it refuses a letter like any other that fails, and what it panics with, here the link, is in no
// log.
func TestMailerThatPanics(t *testing.T) {
	s, m := moodySite(t)
	b := s.as(ada)
	m.panics = true
	b.refused(b.call("account/email", url.Values{"email": {adaNew}}), http.StatusServiceUnavailable, "mail_failed")
	if n := s.underWay(); n != 0 {
		t.Errorf("%d links are under way that nobody was sent", n)
	}
	link, err := url.Parse(string(m.last.URL))
	s.must(err)
	if log := s.log.String(); !strings.Contains(log, "(*moody).Send") || strings.Contains(log, link.Query().Get("token")) {
		t.Errorf("the log tells no place, or the link: %s", log)
	}
	m.panics = false
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
}

// TestRefusedLettersCount: some services deliver what they refuse, so a letter that fails is one of the letters that a
// mailbox may be sent. The next ones are the same as after letters that went out: at once, and then every two minutes.
func TestRefusedLettersCount(t *testing.T) {
	s, m := moodySite(t)
	b := s.as(ada)
	ask := url.Values{"email": {adaNew}}
	m.refuses = true
	b.refused(b.call("account/email", ask), http.StatusServiceUnavailable, "mail_failed")
	m.refuses = false
	b.fine(b.call("account/email", ask), http.StatusAccepted) // at once
	m.refuses = true
	for range 20 {
		b.call("account/email", ask)
	}
	if m.delivers != 3 {
		t.Errorf("%d letters at once", m.delivers)
	}
	s.wait(2 * time.Minute)
	for range 20 {
		b.call("account/email", ask)
	}
	if m.delivers != 4 {
		t.Errorf("%d letters two minutes later", m.delivers)
	}
}

// killed is a store whose process ends when a link has been kept, before its letter is sent: nothing is written any
// more until another process goes on.
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

// TestKilledBeforeTheLetter: a link that was kept and never sent keeps nobody from asking again at once, and ends with
// the change.
func TestKilledBeforeTheLetter(t *testing.T) {
	k := &killed{armed: true}
	s := newSite(t, setup{configure: func(c *core.Config) {
		k.Store = c.Store.(*memory.Store)
		c.Store = k
	}})
	b := s.as(ada)
	if r := b.call("account/email", url.Values{"email": {adaNew}}); r.Status < 500 || len(s.sent()) != 0 {
		t.Fatalf("answered %d, %d letters", r.Status, len(s.sent()))
	}
	k.armed, k.dead = false, false
	if n := s.underWay(); n != 1 {
		t.Fatalf("%d links are left by the process that ended", n)
	}
	b.fine(b.confirm(b.askFor(adaNew)), http.StatusOK)
	if n := s.underWay(); n != 0 || s.user("ada").Email != adaNew {
		t.Errorf("%d links outlived the change to %s", n, s.user("ada").Email)
	}
}
