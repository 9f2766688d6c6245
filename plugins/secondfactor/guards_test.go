package secondfactor_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// withUnverifiedKeys adds passkeys that do not verify their users.
func withUnverifiedKeys(c *core.Config) {
	withPasskeys(c)
	for _, p := range c.Providers {
		if keys, ok := p.(*core.WebAuthnProvider); ok {
			keys.RequireUserVerification = core.False
		}
	}
}

// TestKeyIsOneFactor: a passkey that does not verify its user is one factor. It is not accepted twice: neither for the
// pending sign-in nor for a session that it began.
func TestKeyIsOneFactor(t *testing.T) {
	for _, strategy := range strategies {
		s := newSite(t, setup{strategy: strategy, configure: withUnverifiedKeys})
		b := s.as(ada)
		b.passkey("register", "adas")
		begun := s.browse()
		begun.passkey("authenticate", "adas")
		p := b.enroll()
		thief := s.browse()
		thief.passkey("authenticate", "adas")
		if thief.signedIn() {
			t.Fatalf("%s: a passkey without user verification is two factors", strategy)
		}
		var challenge struct{ Methods []string }
		thief.fine(thief.ask("second-factor"), http.StatusOK, &challenge)
		if !slices.Equal(challenge.Methods, []string{"otp", "recovery"}) {
			t.Errorf("%s: methods %q", strategy, challenge.Methods)
		}
		for path, in := range map[string]*browser{"second-factor": thief, "second-factor/verify": begun} {
			in.ask("second-factor/passkey")
			r := in.call(path, "action", "authenticate", "data", credential("adas"))
			in.refused(r, http.StatusUnprocessableEntity, "code_wrong")
		}
		if thief.signedIn() {
			t.Errorf("%s: one passkey is both factors", strategy)
		}
		s.wait(time.Minute)
		thief.fine(thief.call("second-factor", "code", p.code(0)), http.StatusOK, nil)
	}
}

// TestEnrollmentBelongsToUser: in a browser that two users share, the secret that one has seen is not enrolled for the
// other.
func TestEnrollmentBelongsToUser(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	p := &phone{site: s, secret: b.newSecret()}
	b.signIn(eve)
	b.refused(b.call("second-factor/enroll", "code", p.code(0)), http.StatusGone, "pending_expired")
	if len(s.records("eve", "factors")) != 0 {
		t.Error("the secret of another user is enrolled")
	}
}

// TestEnrollmentTwice: a form that is sent twice enrolls one app, and a fifth app is refused.
func TestEnrollmentTwice(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	p := &phone{site: s, secret: b.newSecret()}
	before := maps.Clone(b.cookies)
	b.fine(b.call("second-factor/enroll", "code", p.code(0)), http.StatusOK, nil)
	s.wait(time.Minute)
	for name, value := range before {
		if strings.Contains(name, "second-factor-new") {
			b.cookies[name] = value
		}
	}
	b.refused(b.call("second-factor/enroll", "code", p.code(0)), http.StatusConflict, "code_used")
	for name := range before {
		if strings.Contains(name, "second-factor-new") {
			delete(b.cookies, name)
		}
	}
	p.secret = b.newSecret()
	for _, key := range []string{"AAAAAAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBBBBBB", "CCCCCCCCCCCCCCCCCCCC"} {
		s.must(s.factors.Import(t.Context(), "ada", "otpauth://totp/a?secret="+key))
	}
	b.refused(b.call("second-factor/enroll", "code", p.code(0)), http.StatusConflict, "too_many_factors")
}

// TestRemovedBeforeSaved: a factor that another session removes before the recovery codes are saved completes no
// sign-in.
func TestRemovedBeforeSaved(t *testing.T) {
	s := newSite(t, setup{options: secondfactor.Options{Required: secondfactor.Always, Grace: time.Hour}})
	other := s.browse()
	other.held(other.signIn(ada))
	other.call("second-factor/later")
	b := s.browse()
	b.held(b.signIn(ada))
	var app struct{ Secret string }
	b.fine(b.ask("second-factor/enroll?signin=1"), http.StatusOK, &app)
	p := &phone{site: s, secret: app.Secret}
	b.fine(b.call("second-factor/enroll", "signin", "1", "code", p.code(0)), http.StatusOK, nil)
	s.wait(time.Minute)
	other.fine(other.call("second-factor/verify", "code", p.code(0)), http.StatusOK, nil)
	status, err := s.factors.Status(t.Context(), "ada")
	s.must(err)
	other.fine(other.call("second-factor/remove", "id", status.Apps[0].ID), http.StatusOK, nil)
	b.refused(b.call("second-factor/saved", "signin", "1"), http.StatusGone, "pending_expired")
	if b.signedIn() {
		t.Error("a removed factor completes a sign-in")
	}
}

// guesses sends wrong codes, five for each sign-in, and returns the number of codes that were compared.
func (s *site) guesses(n int, code string) (compared int) {
	s.Helper()
	var b *browser
	for i := range n {
		if i%5 == 0 {
			b = s.browse()
			b.held(b.signIn(ada))
		}
		if r := b.call("second-factor", "code", code); r.Status == http.StatusUnprocessableEntity {
			compared++
		}
	}
	return compared
}

const wrongRecovery = "3AAA-AAAA-AAAA-AAAA"

// TestBudgets: the budgets cover a day, recovery codes have their own, and with two apps a wrong code counts twice.
func TestBudgets(t *testing.T) {
	s := newSite(t, setup{})
	p := s.as(ada).enroll()
	if n := s.guesses(25, wrongRecovery); n != 20 {
		t.Errorf("%d recovery codes were compared", n)
	}
	if n := s.guesses(25, "000000"); n != 20 {
		t.Errorf("%d codes were compared", n)
	}
	s.wait(23 * time.Hour)
	if n := s.guesses(5, "000000") + s.guesses(5, wrongRecovery); n != 0 {
		t.Errorf("%d codes were compared on the same day", n)
	}
	s.wait(2 * time.Hour)
	b := s.browse()
	b.held(b.signIn(ada))
	b.fine(b.call("second-factor", "code", p.code(0)), http.StatusOK, nil)
	s.must(s.factors.Import(t.Context(), "ada", "otpauth://totp/a?secret=AAAAAAAAAAAAAAAAAAAA"))
	if n := s.guesses(25, "000000"); n != 10 {
		t.Errorf("with two apps %d codes were compared", n)
	}
}

// TestGuessNotice: at the tenth wrong code the user gets one email.
func TestGuessNotice(t *testing.T) {
	plugin, mu, sent := &notMe{}, sync.Mutex{}, 0
	plugin.mailer = mailerFunc(func(_ context.Context, e core.Email) error {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == mailkind.FactorGuessed && e.To == ada {
			sent++
		}
		return nil
	})
	s := newSite(t, setup{configure: func(c *core.Config) { c.Plugins = append(c.Plugins, plugin) }})
	s.as(ada).enroll()
	for _, row := range []struct{ guesses, want int }{{9, 0}, {1, 1}, {9, 1}} {
		s.guesses(row.guesses, "000000")
		s.must(s.auth.FlushMail(t.Context()))
		mu.Lock()
		if sent != row.want {
			t.Errorf("%d emails instead of %d", sent, row.want)
		}
		mu.Unlock()
	}
}

// TestMalformedRecord: a record that cannot be read does not turn the second factor off.
func TestMalformedRecord(t *testing.T) {
	s := newSite(t, setup{})
	s.as(ada).enroll()
	r := s.records("ada", "factors")[0]
	r.Value = []byte(`"broken"`)
	s.must(s.store.UpdateRecord(t.Context(), r))
	b := s.browse()
	if b.signIn(ada); b.signedIn() {
		t.Error("a malformed record turns the second factor off")
	}
}

// TestTrustIsTakenBack: a browser is no longer trusted when the configuration disables trust, and a reset by support
// ends it.
func TestTrustIsTakenBack(t *testing.T) {
	s := newSite(t, setup{})
	p := s.as(ada).enroll()
	s.wait(time.Minute)
	b := s.browse()
	b.held(b.signIn(ada))
	b.fine(b.call("second-factor", "code", p.code(0), "remember", "1"), http.StatusOK, nil)
	config := s.config
	config.Plugins = []core.Plugin{secondfactor.New(secondfactor.Options{Remember: -1})}
	later := s.browse()
	later.auth = s.build(config)
	for name, value := range b.cookies {
		if strings.Contains(name, "second-factor-browser") {
			later.cookies[name] = value
		}
	}
	later.held(later.signIn(ada))
	s.must(s.factors.Reset(t.Context(), "ada"))
	if left := s.records("ada", "device"); len(left) != 0 {
		t.Errorf("%d trusted browsers are left after a reset", len(left))
	}
}

// TestPasskeysNeedOne: passkeys are no second factor of a user who has none, because that user could not sign in.
func TestPasskeysNeedOne(t *testing.T) {
	s := newSite(t, setup{configure: withPasskeys})
	b := s.as(ada)
	b.refused(b.call("second-factor/passkeys", "on", "1"), http.StatusNotFound, "not_found")
	s.as(ada)
	if _, err := s.store.Record(t.Context(), "factors", "ada"); err == nil {
		t.Error("passkeys are a second factor of a user who has none")
	}
}

// meeting is a store in which two reads of recovery codes wait for each other.
type meeting struct {
	*memory.Store
	ready *sync.WaitGroup
}

// Record implements [store.RecordStore].
func (m meeting) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	r, err := m.Store.Record(ctx, kind, key)
	if kind == "recovery" {
		m.ready.Done()
		m.ready.Wait()
	}
	return r, err
}

// TestRecoveryCodeRace: of two requests that have read a recovery code at the same time, one succeeds.
func TestRecoveryCodeRace(t *testing.T) {
	var ready sync.WaitGroup
	ready.Add(2)
	s := newSite(t, setup{configure: func(c *core.Config) {
		if kept, ok := c.Store.(*memory.Store); ok {
			c.Store = meeting{kept, &ready}
		}
	}})
	p := s.as(ada).enroll()
	both := []*browser{s.browse(), s.browse()}
	var all sync.WaitGroup
	for _, b := range both {
		b.held(b.signIn(ada))
		all.Go(func() { b.call("second-factor", "code", p.codes[0]) })
	}
	all.Wait()
	if both[0].signedIn() == both[1].signedIn() {
		t.Errorf("signed in: %v, %v", both[0].signedIn(), both[1].signedIn())
	}
}
