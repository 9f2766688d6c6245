package secondfactor_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// notMe is a plugin that keeps the notices whose emails have a link, and reverses the last one.
type notMe struct {
	mu      sync.Mutex
	notices []core.SecurityNotice
	mailer  core.Mailer
}

func (p *notMe) Attach(h *core.PluginHost) error {
	h.NotifyMethodChanges("secure", p.mailer)
	h.AddNoticeLink(func(_ context.Context, n core.SecurityNotice) (string, time.Time, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.notices = append(p.notices, n)
		return "secure", h.Now().Add(time.Hour), nil
	})
	h.AddAction(core.Action{
		Method: http.MethodPost, Name: "secure",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			return c.JSON(ctx, http.StatusOK, nil), c.ReverseNotice(ctx, p.last(mailkind.Kind(c.Field("kind"))))
		},
	})
	return nil
}

// last returns the last notice of a kind.
func (p *notMe) last(kind mailkind.Kind) (n core.SecurityNotice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n = range slices.Backward(p.notices) {
		if n.Kind == kind {
			return n
		}
	}
	return core.SecurityNotice{Kind: kind, UserID: "ada"}
}

// reverse presses the button of the last notice of a kind, without a session.
func (s *site) reverse(kind mailkind.Kind) {
	s.Helper()
	s.must(s.auth.FlushMail(s.Context())) // the notices are made in the background
	owner := s.browse()
	owner.fine(owner.call("secure", "kind", string(kind)), http.StatusOK, nil)
}

// TestDisavowedApp: the owner says that an authenticator app is not theirs. It is removed, with the recovery codes that
// the attacker has seen; the owner's app stays. A second press and other notices change no factor.
func TestDisavowedApp(t *testing.T) {
	for _, strategy := range strategies {
		plugin := &notMe{}
		s := newSite(t, setup{strategy: strategy, configure: func(c *core.Config) {
			plugin.mailer = mailerFunc(func(context.Context, core.Email) error { return nil })
			c.Plugins = append(c.Plugins, plugin)
		}})
		b := s.as(ada)
		own := b.enroll()
		s.wait(time.Minute)
		trusted := s.browse()
		trusted.held(trusted.signIn(ada))
		trusted.fine(trusted.call("second-factor", "code", own.code(0), "remember", "1"), http.StatusOK, nil)
		attackers := b.enroll("name", "attacker's")
		if n := factorCount(b); n != 2 {
			t.Fatalf("%s: %d apps", strategy, n)
		}

		s.reverse(mailkind.FactorRemoved) // ends the trust in browsers, and no more
		if n := len(s.records("ada", "device")); n != 0 || factorCount(b) != 2 {
			t.Errorf("%s: %d trusted browsers, %d apps", strategy, n, factorCount(b))
		}
		s.told()
		for range 2 {
			s.reverse(mailkind.FactorAdded)
		}
		removed := 0
		for _, e := range s.told() {
			if e == "factor.removed ok ada" {
				removed++
			}
		}
		if factorCount(b) != 1 || len(s.records("ada", "recovery")) != 0 || removed != 1 {
			t.Errorf("%s: %d apps, %d recovery codes, %d removals were audited", strategy, factorCount(b),
				len(s.records("ada", "recovery")), removed)
		}
		s.wait(time.Minute)
		next := s.browse()
		next.held(next.signIn(ada))
		next.refused(next.call("second-factor", "code", attackers.code(0)), http.StatusUnprocessableEntity, "code_wrong")
		next.refused(next.call("second-factor", "code", own.codes[0]), http.StatusUnprocessableEntity, "code_wrong")
		next.fine(next.call("second-factor", "code", own.code(0)), http.StatusOK, nil)
	}
}

// TestDisavowedRecoveryCodes: the attacker has created new recovery codes.
func TestDisavowedRecoveryCodes(t *testing.T) {
	plugin := &notMe{mailer: mailerFunc(func(context.Context, core.Email) error { return nil })}
	s := newSite(t, setup{configure: func(c *core.Config) { c.Plugins = append(c.Plugins, plugin) }})
	b := s.as(ada)
	b.enroll()
	b.fine(b.call("second-factor/codes"), http.StatusOK, nil)
	s.reverse(mailkind.RecoveryRenewed)
	if n := len(s.records("ada", "recovery")); n != 0 || factorCount(b) != 1 {
		t.Errorf("%d recovery codes, %d apps", n, factorCount(b))
	}
}

// TestDisavowedPasskeys: the attacker has made the passkeys a second factor. They stay sign-in methods.
func TestDisavowedPasskeys(t *testing.T) {
	plugin := &notMe{mailer: mailerFunc(func(context.Context, core.Email) error { return nil })}
	s := newSite(t, setup{configure: func(c *core.Config) {
		withPasskeys(c)
		c.Plugins = append(c.Plugins, plugin)
	}})
	b := s.as(ada)
	b.passkey("register", "one")
	b.fine(b.call("second-factor/passkeys", "on", "1"), http.StatusOK, nil)
	s.reverse(mailkind.FactorAdded)
	if keys, err := s.store.Authenticators(t.Context(), "ada"); err != nil || len(keys) != 1 {
		t.Errorf("%d passkeys, %v", len(keys), err)
	}
	if next := s.browse(); next.signIn(ada).Redirect != origin {
		t.Error("the passkeys are still a second factor")
	}
}

// TestReauth: the page on which users authenticate again offers the second factor, also if a guard requires a strong
// authentication, to the users who have one.
func TestReauth(t *testing.T) {
	for _, strategy := range strategies {
		s := newSite(t, setup{strategy: strategy})
		offered := func(b *browser) bool {
			var list struct {
				Methods []struct{ ID, Type, URL string }
			}
			b.fine(b.ask("reauth?strong=1"), http.StatusOK, &list)
			for _, m := range list.Methods {
				if m.ID == "second-factor/verify" {
					return true
				}
			}
			return false
		}
		b := s.as(ada)
		before := s.as(ada) // a session without the factor
		p := b.enroll()
		if s.wait(time.Hour); !offered(before) || offered(s.as(eve)) {
			t.Fatalf("%s: offered to ada: %t, to eve: %t", strategy, offered(before), offered(s.as(eve)))
		}
		page := string(before.open("reauth?strong=1&callbackUrl=/vault").Body)
		if !strings.Contains(page, "/auth/second-factor/verify?callbackUrl=") {
			t.Errorf("%s: no link on the page: %s", strategy, page)
		}
		before.fine(before.call("second-factor/verify", "code", p.code(0), "callbackUrl", "/vault"), http.StatusOK, nil)
		if r := before.ask("second-factor/enroll"); r.Status != http.StatusOK { // it needs a recent and strong session
			t.Errorf("%s: after the second factor: %d %s", strategy, r.Status, r.Body)
		}
	}
}

// factorCount returns the number of the apps of the browser's user.
func factorCount(b *browser) int {
	b.Helper()
	var status struct{ Apps []struct{ ID string } }
	b.fine(b.ask("second-factor/settings"), http.StatusOK, &status)
	return len(status.Apps)
}

// mailerFunc is a function that implements [core.Mailer].
type mailerFunc func(context.Context, core.Email) error

// Send implements [core.Mailer].
func (f mailerFunc) Send(ctx context.Context, e core.Email) error { return f(ctx, e) }
