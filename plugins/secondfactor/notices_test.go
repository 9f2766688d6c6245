package secondfactor_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// watched is a store that calls write before each write of a record, with texts such as "create outbox". The write
// fails with the error of write.
type watched struct {
	*memory.Store
	mu    sync.Mutex
	write func(what string) error
}

func (w *watched) before(op, kind string) error {
	w.mu.Lock()
	write := w.write
	w.mu.Unlock()
	if write == nil {
		return nil
	}
	return write(op + " " + kind)
}

func (w *watched) on(write func(what string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write = write
}

// breaks makes a write fail until the next call. With "" none fails.
func (w *watched) breaks(call string) {
	w.on(func(what string) error {
		if what == call {
			return errors.New("the store is unavailable")
		}
		return nil
	})
}

func (w *watched) CreateRecord(ctx context.Context, r *store.Record) error {
	if err := w.before("create", r.Kind); err != nil {
		return err
	}
	return w.Store.CreateRecord(ctx, r)
}

func (w *watched) UpdateRecord(ctx context.Context, r *store.Record) error {
	if err := w.before("update", r.Kind); err != nil {
		return err
	}
	return w.Store.UpdateRecord(ctx, r)
}

func (w *watched) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	if err := w.before("delete", kind); err != nil {
		return nil, err
	}
	return w.Store.DeleteRecord(ctx, kind, key)
}

// noticeSite is a site whose store can fail, and the security notices that it has sent.
type noticeSite struct {
	*site
	rows *watched
	mu   sync.Mutex
	kind []mailkind.Kind
}

func newNoticeSite(t *testing.T) *noticeSite {
	t.Helper()
	s := &noticeSite{rows: &watched{}}
	plugin := &notMe{mailer: mailerFunc(func(_ context.Context, e core.Email) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.kind = append(s.kind, e.Kind)
		return nil
	})}
	s.site = newSite(t, setup{configure: func(c *core.Config) {
		withPasskeys(c)
		c.Plugins = append(c.Plugins, plugin)
		s.rows.Store, _ = c.Store.(*memory.Store)
		c.Store = s.rows
	}})
	return s
}

// sent returns the kinds of the notices since the last call. It checks that none is left in the store: another process
// would send it.
func (s *noticeSite) sent() (kinds []mailkind.Kind) {
	s.Helper()
	s.must(s.auth.FlushMail(s.Context()))
	left, _, err := s.store.ListRecords(s.Context(), "outbox", "", "", 10)
	if s.must(err); len(left) > 0 {
		s.Errorf("%d emails are left in the store", len(left))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds, s.kind = s.kind, nil
	return kinds
}

// TestNoticeBeforeChange makes each change of the factors: while the notice cannot be stored, which leaves the factors
// unchanged; while the change fails, which sends no email; and then without a failure, which sends one.
func TestNoticeBeforeChange(t *testing.T) {
	for _, row := range []struct {
		name string
		kind mailkind.Kind
		// prepare runs in a browser with a session, before each attempt. It returns the attempt.
		prepare func(s *noticeSite, b *browser) (change func() error)
		fails   string // the write that makes the change
		audited string
	}{
		{
			"an authenticator app is enrolled", mailkind.FactorAdded,
			func(_ *noticeSite, b *browser) func() error {
				p := &phone{site: b.site, secret: b.newSecret()}
				return func() error { return failure(b.call("second-factor/enroll", "code", p.code(0))) }
			}, "create factors", "factor.added ok ada",
		},
		{
			"the passkeys become a factor", mailkind.FactorAdded,
			func(s *noticeSite, b *browser) func() error {
				if keys, err := s.store.Authenticators(s.Context(), "ada"); err == nil && len(keys) == 0 {
					b.passkey("register", "one")
				}
				return func() error { return failure(b.call("second-factor/passkeys", "on", "1")) }
			}, "create factors", "factor.added ok ada",
		},
		{
			"an app is removed", mailkind.FactorRemoved,
			func(s *noticeSite, b *browser) func() error {
				id := s.enrolled(b).Apps[0].ID
				return func() error { return failure(b.call("second-factor/remove", "id", id)) }
			}, "update factors", "factor.removed ok ada",
		},
		{
			"the recovery codes are renewed", mailkind.RecoveryRenewed,
			func(s *noticeSite, b *browser) func() error {
				s.enrolled(b)
				return func() error { return failure(b.call("second-factor/codes")) }
			}, "update factors", "recovery.renewed ok ada",
		},
		{
			"the factors are reset", mailkind.FactorsReset,
			func(s *noticeSite, b *browser) func() error {
				s.enrolled(b)
				return func() error { return s.factors.Reset(s.Context(), "ada") }
			}, "update factors", "factors.reset ok ada",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newNoticeSite(t)
			b := s.as(ada)
			for _, fails := range []string{"create outbox", row.fails, ""} {
				change := row.prepare(s, b)
				before := string(b.ask("second-factor/settings").Body)
				s.sent()
				s.told()
				s.rows.breaks(fails)
				err := change()
				s.rows.breaks("")
				sent, events := s.sent(), strings.Join(s.told(), ", ")
				if fails == "" {
					if err != nil || !slices.Equal(sent, []mailkind.Kind{row.kind}) || strings.Count(events, row.audited) != 1 {
						t.Errorf("the change is made: emails %v, audited %s, %v", sent, events, err)
					}
					continue
				}
				after := string(b.ask("second-factor/settings").Body)
				if err == nil || len(sent) > 0 || strings.Contains(events, row.audited) || after != before {
					t.Errorf("%s fails: emails %v, audited %s, %v; the factors were %s and are %s", fails, sent, events, err,
						before, after)
				}
			}
		})
	}
}

// enrolled enrolls an app of ada, if she has none, and returns her factors.
func (s *noticeSite) enrolled(b *browser) (status struct{ Apps []struct{ ID string } }) {
	s.Helper()
	if len(s.records("ada", "factors")) == 0 {
		b.enroll()
	}
	b.fine(b.ask("second-factor/settings"), http.StatusOK, &status)
	return status
}

// failure returns an error for a response that reports a failure.
func failure(r *core.Response) error {
	if r.Status >= http.StatusBadRequest {
		return errors.Join(errors.New(string(r.Body)), r.Err)
	}
	return r.Err
}

// TestRecoveryCodeNotice: a recovery code stays valid if the email about its use cannot be stored. A wrong code is
// counted even then, and stores no email.
func TestRecoveryCodeNotice(t *testing.T) {
	s := newNoticeSite(t)
	p := s.as(ada).enroll()
	s.sent()
	b := s.browse()
	b.held(b.signIn(ada))
	s.rows.breaks("create outbox")
	b.refused(b.call("second-factor", "code", strings.Repeat("0", 16)), http.StatusUnprocessableEntity, "code_wrong")
	if r := b.call("second-factor", "code", p.codes[0]); failure(r) == nil || b.signedIn() {
		t.Errorf("without the email: %d %s", r.Status, r.Body)
	}
	s.rows.breaks("")
	if sent := s.sent(); len(sent) > 0 || len(s.records("ada", "recovery")) != 10 {
		t.Errorf("after the failure: emails %v, %d codes", sent, len(s.records("ada", "recovery")))
	}
	b = s.browse()
	b.held(b.signIn(ada))
	b.fine(b.call("second-factor", "code", p.codes[0]), http.StatusOK, nil)
	if sent := s.sent(); !slices.Equal(sent, []mailkind.Kind{mailkind.RecoveryUsed}) {
		t.Errorf("emails %v", sent)
	}
}

// TestRefusedChangesSendNothing: wrong codes, unknown apps and repeated requests store and send no email.
func TestRefusedChangesSendNothing(t *testing.T) {
	s := newNoticeSite(t)
	b := s.as(ada)
	b.passkey("register", "one")
	s.sent()
	stored := 0
	s.rows.on(func(what string) error {
		if what == "create outbox" {
			stored++
		}
		return nil
	})
	b.newSecret()
	b.refused(b.call("second-factor/enroll", "code", "000000"), http.StatusUnprocessableEntity, "code_wrong")
	b.refused(b.call("second-factor/remove", "id", "unknown"), http.StatusNotFound, "not_found")
	b.fine(b.call("second-factor/passkeys"), http.StatusOK, nil) // they are none
	if sent := s.sent(); len(sent) > 0 || stored > 0 {
		t.Errorf("emails %v, %d stored", sent, stored)
	}

	// A second request makes the same change after the first one has read the factors.
	twin := s.as(ada)
	s.rows.on(func(what string) error {
		if what == "create outbox" {
			s.rows.on(nil)
			twin.fine(twin.call("second-factor/passkeys", "on", "1"), http.StatusOK, nil)
		}
		return nil
	})
	b.fine(b.call("second-factor/passkeys", "on", "1"), http.StatusOK, nil)
	if sent := s.sent(); !slices.Equal(sent, []mailkind.Kind{mailkind.FactorAdded}) {
		t.Errorf("emails %v", sent)
	}
}
