package account_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// kinds returns the kinds of the emails that were sent, in their order.
func (p *sent) kinds(s *site) (all []mailkind.Kind) {
	s.Helper()
	s.must(s.auth.FlushMail(s.Context()))
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.letters {
		all = append(all, l.Kind)
	}
	return all
}

// link returns the token of the newest email of a kind.
func (p *sent) link(s *site, kind mailkind.Kind) string {
	s.Helper()
	s.must(s.auth.FlushMail(s.Context()))
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.letters) - 1; i >= 0; i-- {
		if l := p.letters[i]; l.Kind == kind {
			u, err := url.Parse(string(l.URL))
			s.must(err)
			return u.Query().Get("token")
		}
	}
	s.Fatalf("no email of kind %s", kind)
	return ""
}

// TestNotMe: an attacker at an open session adds a passkey. The owner follows the link in the email: GET changes
// nothing, POST removes the passkey, ends all sessions, starts a password reset and creates no session. The link works
// once, for a week.
func TestNotMe(t *testing.T) {
	for name, session := range configurations {
		t.Run(name, func(t *testing.T) {
			post := &sent{}
			s := newSite(t, setup{mails: post, configure: func(c *core.Config) {
				withPasskeys(c)
				c.Session = session
				c.Plugins = append(c.Plugins, resetting{})
			}})
			attacker := s.as(ada)
			attacker.passkey("register", "attacker's")
			token := post.link(s, mailkind.PasskeyAdded)
			owner := s.browse()
			owner.fine(owner.open("account/not-me?token="+token), 200)
			owner.fine(owner.ask("account/not-me?token="+token), 200)
			if keys, _ := s.store.Authenticators(t.Context(), "ada"); len(keys) != 1 || !attacker.signedIn() {
				t.Fatalf("GET has changed something: %d passkeys, session %v", len(keys), attacker.signedIn())
			}
			s.told()
			r := owner.post("account/not-me", url.Values{"token": {token}})
			owner.fine(r, 200)
			if !strings.Contains(string(r.Body), "/password/reset") {
				t.Errorf("the page does not lead to the reset: %s", r.Body)
			}
			if keys, _ := s.store.Authenticators(t.Context(), "ada"); len(keys) != 0 {
				t.Errorf("%d passkeys are left", len(keys))
			}
			if accounts, _ := s.store.Accounts(t.Context(), "ada"); !slices.Contains(providerIDs(accounts), "ada-1") {
				t.Error("the owner's account was unlinked")
			}
			if attacker.signedIn() != (name == "jwt, off") || owner.signedIn() {
				t.Errorf("sessions: attacker %v, owner %v", attacker.signedIn(), owner.signedIn())
			}
			if r := owner.ask("resetting"); string(r.Body) != `"ada"` {
				t.Errorf("the browser resets the password of %s", r.Body)
			}
			if !slices.Contains(s.told(), "account.secured ok ada") {
				t.Error("no audit event")
			}
			owner.refused(owner.call("account/not-me", url.Values{"token": {token}}), 410, "link_invalid")
			if n := len(post.kinds(s)); n != 1 {
				t.Errorf("%d emails, want 1", n)
			}
		})
	}
}

// reversing is a plugin that calls a function to reverse a change.
type reversing struct {
	reverse func(ctx context.Context, c *core.ActionRequest, n core.SecurityNotice) error
}

func (r reversing) Attach(h *core.PluginHost) error { h.AddNoticeReversal(r.reverse); return nil }

// TestNotMeEndsAllSessions: the sessions end before the change is reversed, and again afterwards, because the attacker
// may sign in meanwhile. A link for a new address that the attacker has requested is no longer valid.
func TestNotMeEndsAllSessions(t *testing.T) {
	post := &sent{}
	var s *site
	var attacker, meanwhile *browser
	before := true
	s = newSite(t, setup{mails: post, configure: func(c *core.Config) {
		withPasskeys(c)
		c.Plugins = append(c.Plugins, reversing{func(context.Context, *core.ActionRequest, core.SecurityNotice) error {
			before = attacker.signedIn()
			meanwhile = s.as(ada)
			return nil
		}})
	}})
	attacker = s.as(ada)
	attacker.passkey("register", "attacker's")
	attacker.fine(attacker.call("account/email", url.Values{"email": {"attacker@example.com"}}), 202)
	owner := s.browse()
	owner.fine(owner.post("account/not-me", url.Values{"token": {post.link(s, mailkind.PasskeyAdded)}}), 200)
	if before || meanwhile.signedIn() {
		t.Errorf("signed in before the reversal: %t, after it: %t", before, meanwhile.signedIn())
	}
	if pending, err := s.store.UserRecords(t.Context(), "ada", "email-change"); err != nil || len(pending) != 0 {
		t.Errorf("%d requested addresses are left, %v", len(pending), err)
	}
}

// TestNotMeLinks: expired, unknown and foreign links change nothing. After the address has changed, the old mailbox
// still ends the sessions, and starts no password reset.
func TestNotMeLinks(t *testing.T) {
	begin := func(t *testing.T) (*site, *browser, string) {
		post := &sent{}
		s := newSite(t, setup{mails: post, configure: func(c *core.Config) {
			withPasskeys(c)
			c.Plugins = append(c.Plugins, resetting{})
		}})
		b := s.as(ada)
		b.passkey("register", "one")
		return s, b, post.link(s, mailkind.PasskeyAdded)
	}
	t.Run("after a week", func(t *testing.T) {
		s, _, token := begin(t)
		s.wait(7*24*time.Hour + time.Second)
		owner := s.browse()
		owner.refused(owner.ask("account/not-me?token="+token), 410, "link_invalid")
		owner.refused(owner.call("account/not-me", url.Values{"token": {token}}), 410, "link_invalid")
	})
	t.Run("unknown", func(t *testing.T) {
		s, b, token := begin(t)
		owner := s.browse()
		owner.refused(owner.call("account/not-me", url.Values{"token": {token + "x"}}), 410, "link_invalid")
		if !b.signedIn() {
			t.Error("the session has ended")
		}
	})
	t.Run("the address has changed", func(t *testing.T) {
		s, b, token := begin(t)
		u := s.user("ada")
		u.Email = adaNew
		s.must(s.store.UpdateUser(t.Context(), u))
		owner := s.browse()
		owner.fine(owner.call("account/not-me", url.Values{"token": {token}}), 200)
		if b.signedIn() {
			t.Error("the session has not ended")
		}
		if r := owner.ask("resetting"); string(r.Body) != `""` {
			t.Errorf("the old mailbox resets the password of %s", r.Body)
		}
	})
}

// TestNewBrowser: a sign-in in a browser that the user has not used is reported, a day after the user's first sign-in
// and once an hour. A failed sign-in is not reported, and neither is one in a known browser.
func TestNewBrowser(t *testing.T) {
	const day = 24 * time.Hour
	for name, row := range map[string]struct {
		after []time.Duration // before each sign-in in a new browser, which follow one at the start
		known bool            // the sign-ins are in the first browser
		wrong bool            // the sign-ins fail
		want  int
	}{
		"the first sign-in":     {nil, false, false, 0},
		"a new user":            {[]time.Duration{day - time.Hour}, false, false, 0},
		"a new browser":         {[]time.Duration{day + time.Hour}, false, false, 1},
		"a known browser":       {[]time.Duration{day + time.Hour}, true, false, 0},
		"a wrong password":      {[]time.Duration{day + time.Hour}, false, true, 0},
		"two within an hour":    {[]time.Duration{day + time.Hour, 59 * time.Minute}, false, false, 1},
		"two more than an hour": {[]time.Duration{day + time.Hour, 61 * time.Minute}, false, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			post := &sent{}
			s := newSite(t, setup{mails: post})
			first := s.as(ada)
			for _, d := range row.after {
				s.wait(d)
				b := s.browse()
				if row.known {
					b = first
				}
				if row.wrong {
					b.post("callback/credentials", url.Values{"email": {ada}, "password": {"wrong"}})
					continue
				}
				b.signIn(ada)
			}
			kinds := post.kinds(s)
			if len(kinds) != row.want || row.want > 0 && kinds[0] != mailkind.NewDevice {
				t.Errorf("emails %q, want %d", kinds, row.want)
			}
		})
	}
	t.Run("secured", func(t *testing.T) {
		post := &sent{}
		s := newSite(t, setup{mails: post})
		s.as(ada)
		s.wait(day + time.Hour)
		attacker := s.as(ada)
		owner := s.browse()
		token := post.link(s, mailkind.NewDevice)
		owner.fine(owner.call("account/not-me", url.Values{"token": {token}}), 200)
		if attacker.signedIn() {
			t.Error("the new session has not ended")
		}
	})
}
