package guest_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/ui"
)

// TestContinueAsGuest: only a POST with the CSRF token creates a guest, once for each browser.
func TestContinueAsGuest(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		if page := string(b.get("/auth/signin").Body); !strings.Contains(page, "Continue as guest") ||
			!strings.Contains(page, `action="https://app.test/auth/guest"`) {
			s.Error("the sign-in page has no button for guests")
		}
		for _, r := range []*core.Response{
			b.get("/auth/guest"), b.send(http.MethodPost, "/auth/guest", url.Values{}, "Accept", "text/html"),
		} {
			if b.id() != "" || r.Status == http.StatusSeeOther && strings.HasSuffix(r.Redirect, "app.test") {
				s.Errorf("a request without a POST or a token created a guest: %d", r.Status)
			}
		}
		id := b.guest()
		u, session := s.user(id), b.session()
		if u == nil || u.Email != "" || !u.EmailVerified.IsZero() {
			s.Errorf("the guest is %+v", u)
		}
		if !s.guests.IsGuest(session) || !session.AuthTime.IsZero() && session.AuthTime.Unix() > 0 ||
			core.RecentSignIn(time.Hour)(s.Context(), session) == nil {
			s.Errorf("the session counts as a sign-in: %+v", session)
		}
		if again := b.post("/auth/guest", url.Values{"callbackUrl": {"/cart"}}); b.id() != id ||
			again.Redirect != "https://app.test/cart" {
			s.Errorf("a second POST made the guest %s of %s, and redirected to %s", b.id(), id, again.Redirect)
		}
		page := string(b.get("/auth/signin").Body)
		if strings.Contains(page, "Continue as guest") || !strings.Contains(page, "signin/p") {
			s.Error("the sign-in page of a guest does not offer the sign-in methods, or offers another guest")
		}
		answer := s.browser().post("/auth/guest", nil, "Accept", "application/json")
		if answer.Status != http.StatusOK || string(answer.Body) != `{"url":"https://app.test"}` {
			s.Errorf("JSON: %d %s", answer.Status, answer.Body)
		}
		if n := s.audited("user.created ok"); n != 2 || s.audited("signup ok") != 0 {
			s.Errorf("%d users were created, %d signed up", n, s.audited("signup ok"))
		}
	})
}

// TestGuestKeepsAnotherSession: a signed-in user who posts stays signed in.
func TestGuestKeepsAnotherSession(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		b.oauth("grace")
		if b.post("/auth/guest", nil); b.id() != "grace" {
			s.Errorf("the user is %s", b.id())
		}
	})
}

// ways are the sign-in methods, with the address that a new user gets.
var ways = map[string]struct {
	signIn func(b *browser, person string) *core.Response
	name   string
}{
	"oauth":    {(*browser).oauth, "ADA"},
	"link":     {func(b *browser, p string) *core.Response { return b.link(p + "@example.com") }, ""},
	"password": {func(b *browser, p string) *core.Response { return b.signUp(p + "@example.com") }, "Ada"},
}

// TestUpgrade: a guest who signs up by any method keeps the ID and gets a new session. All other sessions end, also in
// another process.
func TestUpgrade(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			both(t, func(s *site) {
				b, other := s.browser(), s.process()
				id := b.guest()
				attacker, device := b.copied(), s.device(id)
				if attacker.at(other).id() != id {
					s.Fatal("the other process does not know the session")
				}
				if r := way.signIn(b, "ada"); b.id() != id {
					s.Fatalf("the user is %s, was %s: %d %s %v", b.id(), id, r.Status, r.Redirect, r.Err)
				}
				u := s.user(id)
				if u.Email != "ada@example.com" || u.Name != way.name || name != "oauth" && u.EmailVerified.IsZero() {
					s.Errorf("the user is %+v", u)
				}
				session := b.session()
				if s.guests.IsGuest(session) || core.RecentSignIn(time.Minute)(s.Context(), session) != nil {
					s.Errorf("the session is still that of a guest: %+v", session)
				}
				if got := device.id(); got != "" {
					s.Errorf("another session of the guest is signed in as %s", got)
				}
				if got := attacker.id(); got != "" {
					s.Errorf("a copy of the guest's cookie is signed in as %s", got)
				}
				if got := attacker.at(other).session(); got != nil && !s.guests.IsGuest(got) {
					s.Errorf("in another process, a copy of the guest's cookie is signed in: %+v", got)
				}
				time.Sleep(time.Minute)
				if got := attacker.at(other).id(); got != "" {
					s.Errorf("in another process, a copy of the guest's cookie is signed in as %s later", got)
				}
				if s.audited("guest.upgraded ok") != 1 || s.audited("user.created ok") != 1 || len(s.calls()) != 0 ||
					s.work() != 0 {
					s.Errorf("events: %q", *s.log)
				}
				// The same person in another browser is the same user.
				again := s.browser()
				if name != "password" {
					way.signIn(again, "ada")
				} else {
					again.link("ada@example.com")
				}
				if again.id() != id {
					s.Errorf("in another browser, the user is %s", again.id())
				}
			})
		})
	}
}

// TestUpgradeNeedsNoRecentSignIn: the guard that links only after a recent sign-in does not stop a guest, who cannot
// sign in again.
func TestUpgradeNeedsNoRecentSignIn(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		id := b.guest()
		time.Sleep(48 * time.Hour)
		if b.oauth("ada"); b.id() != id {
			s.Errorf("the user is %q", b.id())
		}
	}, func(c *core.Config, _ *guest.Options) {
		c.Plugins = append(c.Plugins, pluginFunc(func(h *core.PluginHost) error {
			h.RequireRecentSignInToLink(15 * time.Minute)
			return nil
		}))
	})
}

type pluginFunc func(h *core.PluginHost) error

func (f pluginFunc) Attach(h *core.PluginHost) error { return f(h) }

// TestUpgradeFillsIn: an upgrade does not overwrite the data that the application has set.
func TestUpgradeFillsIn(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		id := b.guest()
		u := s.user(id)
		u.Name, u.Extra = "Captain", core.Members{"color": []byte(`"red"`)}
		if _, err := s.rows.UpdateUser(s.Context(), u); err != nil {
			s.Fatal(err)
		}
		b.oauth("ada")
		if u := s.user(id); u.Name != "Captain" || u.Image != "https://p.example/ada" || u.Email != "ada@example.com" ||
			string(u.Extra["color"]) != `"red"` {
			s.Errorf("%+v", u)
		}
	})
}

// TestMerge: a guest who signs in as an existing user is merged and deleted.
func TestMerge(t *testing.T) {
	for name, signIn := range map[string]func(b *browser) *core.Response{
		"oauth": func(b *browser) *core.Response { return b.oauth("grace") },
		"link":  func(b *browser) *core.Response { return b.link("grace@example.com") },
		"application": func(b *browser) *core.Response {
			b.newSession(&core.User{ID: "grace", Email: "grace@example.com"})
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(s *site) {
				b := s.browser()
				id := b.guest()
				copied, device := b.copied(), s.device(id)
				if !s.guests.IsGuest(device.session()) {
					s.Error("the session of the application is not that of a guest")
				}
				s.merging(func(g, existing *core.User) error {
					if s.user(id) == nil || g.Email != "" || existing.Email != "grace@example.com" {
						return fmt.Errorf("merge of %+v into %+v", g, existing)
					}
					if copied.id() != "" || device.id() != "" {
						return errors.New("the guest's session has not ended before the merge")
					}
					return nil
				})
				if signIn(b); b.id() != "grace" {
					s.Fatalf("the user is %q", b.id())
				}
				if got := s.calls(); !slices.Equal(got, []merged{{id, "grace"}}) || s.user(id) != nil || s.work() != 0 {
					s.Errorf("merges %v, guest %+v, %d records", got, s.user(id), s.work())
				}
				if copied.id() != "" || s.audited("guest.merged ok") != 1 {
					s.Errorf("the guest's session is that of %q; %q", copied.id(), *s.log)
				}
			})
		})
	}
}

// TestMergeAgain: a merge that fails is tried again by any process, with growing pauses. The sign-in succeeds, and the
// guest is deleted last.
func TestMergeAgain(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		id := b.guest()
		s.merging(func(*core.User, *core.User) error { return errors.New("the application's database is down") })
		if b.oauth("grace"); b.id() != "grace" || s.user(id) == nil || len(s.calls()) != 1 || s.work() != 1 {
			s.Fatalf("signed in as %q, %d merges", b.id(), len(s.calls()))
		}
		s = s.process()
		if s.works(time.Minute); len(s.calls()) != 1 {
			s.Error("the merge was tried again while the first process could be at work")
		}
		if s.works(20 * time.Minute); len(s.calls()) != 2 || s.user(id) == nil {
			s.Errorf("%d merges after twenty minutes", len(s.calls()))
		}
		s.merging(func(*core.User, *core.User) error { panic("no") })
		for range 20 {
			s.works(20 * time.Minute)
		}
		if n := len(s.calls()); n < 4 || n > 8 {
			s.Errorf("%d merges in seven hours: the pauses do not grow", n)
		}
		s.merging(nil)
		for range 20 {
			s.works(20 * time.Minute)
		}
		if s.user(id) != nil || s.work() != 0 || s.audited("guest.merged ok") != 1 {
			s.Error("the guest was not merged")
		}
		n := len(s.calls())
		if s.works(time.Hour); len(s.calls()) != n {
			s.Error("the guest was merged again")
		}
	})
}

// TestMergeInterrupted fails each step of a merge once. The merge continues from the record, and the guest is deleted
// after Merge has succeeded.
func TestMergeInterrupted(t *testing.T) {
	for _, step := range []string{"delete user", "delete guest-work", "transaction"} {
		t.Run(step, func(t *testing.T) {
			both(t, func(s *site) {
				b := s.browser()
				id := b.guest()
				start := b.started()
				s.rows.on("delete user", func() {
					if len(s.calls()) == 0 {
						s.Error("the guest is deleted before the merge")
					}
				})
				s.rows.failing(step)
				r := b.get(start + "grace")
				s.rows.failing("")
				if step == "transaction" {
					if r.Err == nil || b.id() != id || s.user(id) == nil || len(s.calls()) != 0 {
						s.Fatalf("a merge that was not stored: %v, user %q", r.Err, b.id())
					}
					b.oauth("grace")
				}
				if b.id() != "grace" {
					s.Fatalf("signed in as %q: %v", b.id(), r.Err)
				}
				s = s.process() // the first one was killed
				for range 3 {
					s.works(20 * time.Minute)
				}
				if s.user(id) != nil || s.work() != 0 || len(s.calls()) == 0 {
					s.Errorf("guest %+v, %d records, %d merges", s.user(id), s.work(), len(s.calls()))
				}
			})
		})
	}
}

// TestMergeOfADeletedUser: if the existing user is deleted before the merge succeeds, the guest is deleted too.
func TestMergeOfADeletedUser(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		id := b.guest()
		s.merging(func(*core.User, *core.User) error { return errors.New("down") })
		b.oauth("grace")
		if err := s.rows.DeleteUser(s.Context(), "grace"); err != nil {
			s.Fatal(err)
		}
		if s.works(20 * time.Minute); s.user(id) != nil || len(s.calls()) != 1 || s.work() != 0 {
			s.Errorf("guest %+v, %d merges", s.user(id), len(s.calls()))
		}
	})
}

// TestUpgradeInterrupted: if the sessions of an upgraded guest could not end, the sign-in fails, and a later run ends
// them.
func TestUpgradeInterrupted(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		id := b.guest()
		start := b.started()
		s.rows.failing("delete guest-work")
		if r := b.get(start + "ada"); r.Err == nil || s.user(id).Email == "" || s.work() != 1 {
			s.Fatalf("the sign-in: %v, user %+v", r.Err, s.user(id))
		}
		s.rows.failing("")
		s = s.process()
		if s.works(20 * time.Minute); s.work() != 0 {
			s.Error("the work was not finished")
		}
		again := s.browser()
		if again.oauth("ada"); again.id() != id {
			s.Errorf("signed in as %q, not %s", again.id(), id)
		}
	})
}

// TestConcurrentUpgrades: of 50 sign-ups of one guest with different accounts, one upgrades the guest. The others
// create users without the guest's data, and no account is linked to another person's user.
func TestConcurrentUpgrades(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		id := b.guest()
		var all sync.WaitGroup
		ids := make([]string, 50)
		for i := range ids {
			tab := b.copied()
			start := tab.started()
			all.Go(func() {
				tab.get(start + fmt.Sprintf("person%d", i))
				ids[i] = tab.id()
			})
		}
		all.Wait()
		n := 0
		for i, got := range ids {
			u, err := s.rows.UserByAccount(s.Context(), "p", fmt.Sprintf("person%d", i))
			if err != nil || u.Email != fmt.Sprintf("person%d@example.com", i) {
				s.Errorf("person %d is %+v, %v", i, u, err)
				continue
			}
			if u.ID == id {
				n++
			}
			if got != "" && got != u.ID {
				s.Errorf("person %d is signed in as another user", i)
			}
		}
		if n != 1 || s.audited("guest.upgraded ok") != 1 {
			s.Errorf("%d people are the guest", n)
		}
		if accounts, err := s.rows.Accounts(s.Context(), id); err != nil || len(accounts) != 1 {
			s.Errorf("%d accounts of the guest, %v", len(accounts), err)
		}
	})
}

// TestConcurrentMerges: of 50 sign-ins of one guest as two users, one merges the guest.
func TestConcurrentMerges(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		id := b.guest()
		var all sync.WaitGroup
		for i := range 50 {
			tab := b.copied()
			start := tab.started()
			all.Go(func() { tab.get(start + []string{"grace", "linus", "ada"}[i%3]) })
		}
		all.Wait()
		synctest.Wait()
		merges, upgrades := len(s.calls()), s.audited("guest.upgraded ok")
		if merges+upgrades != 1 || (s.user(id) == nil) != (merges == 1) {
			s.Errorf("%d merges, %d upgrades; the guest is %+v", merges, upgrades, s.user(id))
		}
	})
}

// TestUpgradeBetweenSteps upgrades the guest with an account after another sign-in of the guest has started its last
// step. That one neither changes nor deletes the user, and its session is not that of the user.
func TestUpgradeBetweenSteps(t *testing.T) {
	for name, row := range map[string]struct {
		transactions int // before the step
		signIn       func(b *browser)
		address      string
	}{
		"sign-up":     {1, func(b *browser) { b.signUp("eve@example.com") }, "eve@example.com"},
		"new account": {1, func(b *browser) { b.oauth("eve") }, "eve@example.com"},
		"merge":       {2, func(b *browser) { b.oauth("grace") }, "grace@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(s *site) {
				b := s.browser()
				id := b.guest()
				tab := s.device(id)
				upgrade := func() {
					if tab.oauth("ada"); s.user(id).Email != "ada@example.com" {
						s.Fatalf("the guest was not upgraded: %+v", s.user(id))
					}
				}
				if row.transactions == 2 {
					first := upgrade
					upgrade = func() { s.rows.on("transaction", first) }
				}
				start := func() { s.rows.on("transaction", upgrade) }
				if name == "sign-up" {
					s.beforeConfirm = start
				} else {
					start()
				}
				row.signIn(b)
				u := s.user(id)
				if u == nil || u.Email != "ada@example.com" || len(s.calls()) != 0 {
					s.Errorf("the user is %+v, merges %v", u, s.calls())
				}
				other, err := s.rows.UserByEmail(s.Context(), row.address)
				if err != nil || other.ID == id || b.id() != other.ID {
					s.Errorf("the other user is %+v, %v; signed in as %q", other, err, b.id())
				}
			})
		})
	}
}

// TestPlantedGuest: an attacker who knows the guest's session in the victim's browser gets nothing of the victim's.
func TestPlantedGuest(t *testing.T) {
	both(t, func(s *site) {
		attacker := s.browser()
		id := attacker.guest()
		start := attacker.copied()
		callback := start.started()
		victim := attacker.copied()
		victim.oauth("ada")
		if victim.id() != id || attacker.id() != "" {
			s.Fatalf("the victim is %q, the attacker %q", victim.id(), attacker.id())
		}
		// A flow that the attacker has started under the guest's session links nothing to the victim.
		start.get(callback + "eve")
		if u, err := s.rows.UserByAccount(s.Context(), "p", "eve"); err == nil && u.ID == id {
			s.Error("the attacker's account was linked to the victim")
		}
		if start.id() == id {
			s.Error("the attacker is signed in as the victim")
		}
		if u := s.user(id); u.Email != "ada@example.com" {
			s.Errorf("the victim is %+v", u)
		}
	})
}

// TestGuestAfterTheStart: a guest's session that was planted after a sign-in was started is neither upgraded nor
// merged.
func TestGuestAfterTheStart(t *testing.T) {
	for _, person := range []string{"ada", "grace"} {
		t.Run(person, func(t *testing.T) {
			both(t, func(s *site) {
				attacker, victim := s.browser(), s.browser()
				callback := victim.started()
				id := attacker.guest()
				for name, value := range attacker.cookies {
					if strings.Contains(name, "session") {
						victim.cookies[name] = value
					}
				}
				if victim.id() != id {
					s.Fatal("the session was not planted")
				}
				r := victim.get(callback + person)
				if victim.id() == id || victim.id() == "" || len(s.calls()) != 0 {
					s.Errorf("signed in as %q (guest %s), merges %v, %d %v", victim.id(), id, s.calls(), r.Status, r.Err)
				}
				if u := s.user(id); u == nil || u.Email != "" {
					s.Errorf("the guest is %+v", u)
				}
			})
		})
	}
}

// TestCopyInAnotherProcess: under StrategyJWT, a process that has not learned yet that the guest's sessions have ended
// neither links an account to the user nor lets the session through the guard.
func TestCopyInAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, core.StrategyJWT)
		other := s.process()
		b := s.browser()
		id := b.guest()
		attacker := b.copied().at(other)
		attacker.id()
		start := attacker.started()
		b.oauth("ada")
		old := attacker.session()
		if old == nil {
			s.Fatal("the other process knows already: the test needs another time")
		}
		if other.guests.NotGuest()(s.Context(), old) == nil {
			s.Error("the guard lets a session through that has ended")
		}
		attacker.get(start + "eve")
		if accounts, err := s.rows.Accounts(s.Context(), id); err != nil || len(accounts) != 1 {
			s.Errorf("%d accounts are linked to the user, %v", len(accounts), err)
		}
		if u, err := s.rows.UserByAccount(s.Context(), "p", "eve"); err != nil || u.ID == id {
			s.Errorf("the attacker's account is that of %+v, %v", u, err)
		}
	})
}

// TestNotGuest: actions that need an account refuse guests, unless Options.Actions names them.
func TestNotGuest(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		b.guest()
		r := b.get("/auth/toy")
		if r.Status != http.StatusSeeOther || !strings.Contains(r.Redirect, "/auth/signin") ||
			!strings.Contains(r.Redirect, url.QueryEscape("/auth/toy")) {
			s.Errorf("an action for users: %d %s", r.Status, r.Redirect)
		}
		r = b.get("/auth/toy", "Accept", "application/json")
		if r.Status != http.StatusForbidden || !strings.Contains(string(r.Body), `"code":"guest"`) {
			s.Errorf("JSON: %d %s", r.Status, r.Body)
		}
		if r := b.get("/auth/game"); r.Status != http.StatusOK {
			s.Errorf("an action for guests: %d", r.Status)
		}
		if b.oauth("ada"); b.get("/auth/toy").Status != http.StatusOK {
			s.Error("an action for users refuses a user")
		}
	}, func(c *core.Config, o *guest.Options) {
		o.Actions = []string{"game"}
		c.Plugins = append(c.Plugins, pluginFunc(func(h *core.PluginHost) error {
			for _, name := range []string{"toy", "game"} {
				h.AddAction(core.Action{
					Method: "GET", Name: name, Require: []core.Guard{func(context.Context, *core.Session) error { return nil }},
					Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
						return c.JSON(ctx, http.StatusOK, name), nil
					},
				})
			}
			return nil
		}))
	})
}

// TestGuard: a page with the guard redirects a guest's browser to the sign-in page.
func TestGuard(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		b.guest()
		visit := func(accept string) *core.Response {
			_, r := s.auth.Visit(s.Context(), &core.Request{
				Method: "GET", Target: "/orders", Hosts: []string{"app.test"}, Scheme: "https",
				Header: http.Header{"Cookie": {strings.Join(b.pairs(), "; ")}, "Accept": {accept}},
			}).Require(s.guests.NotGuest())
			return r
		}
		if r := visit("text/html"); r == nil || r.Status != http.StatusSeeOther ||
			!strings.Contains(r.Redirect, "/auth/signin") {
			s.Errorf("a page: %+v", r)
		}
		if r := visit("application/json"); r == nil || r.Status != http.StatusForbidden {
			s.Errorf("an API: %+v", r)
		}
		if b.oauth("ada"); visit("text/html") != nil {
			s.Error("the guard refuses a user")
		}
	})
}

// TestOldGuests: guests without a session are deleted after MaxAge, with the data of the application.
func TestOldGuests(t *testing.T) {
	var mu sync.Mutex
	var deleted []string
	failed := true
	both(t, func(s *site) {
		mu.Lock()
		deleted, failed = nil, true
		mu.Unlock()
		b, out, full := s.browser(), s.browser(), s.browser()
		used, left, ada := b.guest(), out.guest(), full.guest()
		full.oauth("ada")
		out.post("/auth/signout", nil)
		s.works(9 * 24 * time.Hour)
		if s.user(left) == nil {
			s.Error("a guest was deleted before MaxAge")
		}
		if b.id() != used {
			s.Fatal("the session in use has ended")
		}
		b.get("/auth/session")
		if s.works(2 * 24 * time.Hour); s.user(left) == nil {
			s.Error("a guest was deleted although the application's data was not")
		}
		mu.Lock()
		failed = false
		mu.Unlock()
		s = s.process()
		if s.works(time.Hour); s.user(left) != nil || s.user(used) == nil || s.user(ada) == nil {
			s.Errorf("guests: left %+v, used %+v, user %+v", s.user(left), s.user(used), s.user(ada))
		}
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(deleted, []string{left}) || s.audited("user.deleted ok expired") != 1 {
			s.Errorf("the data of %v was deleted; %q", deleted, *s.log)
		}
	}, func(_ *core.Config, o *guest.Options) {
		o.MaxAge = 10 * 24 * time.Hour
		o.Delete = func(_ context.Context, u *core.User) error {
			mu.Lock()
			defer mu.Unlock()
			if failed {
				return errors.New("down")
			}
			deleted = append(deleted, u.ID)
			return nil
		}
	})
}

// TestLimit: one client cannot create any number of guests, and a browser with a guest is not counted.
func TestLimit(t *testing.T) {
	both(t, func(s *site) {
		created := 0
		for range 100 {
			if b := s.browser(); b.post("/auth/guest", nil).Status == http.StatusSeeOther {
				created++
			}
		}
		if created == 0 || created > 60 {
			s.Errorf("%d guests of one client in a moment", created)
		}
		time.Sleep(time.Hour)
		b := s.browser()
		b.guest()
		for range 100 {
			if r := b.post("/auth/guest", nil); r.Status != http.StatusSeeOther {
				s.Fatalf("a browser with a guest: %d", r.Status)
			}
		}
	}, func(c *core.Config, _ *guest.Options) { c.InsecureNoLimits = false })
}

// pairs returns the cookies as in a request.
func (b *browser) pairs() (all []string) {
	for name, value := range b.cookies {
		all = append(all, name+"="+url.QueryEscape(value))
	}
	return all
}

// TestDenied: Callbacks.SignIn and user checks apply to guests, and nothing is stored.
func TestDenied(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		if r := b.post("/auth/guest", nil); r.Err == nil || b.id() != "" || s.audited("user.created ok") != 0 {
			s.Errorf("a denied guest: %d %v", r.Status, r.Err)
		}
	}, func(c *core.Config, _ *guest.Options) {
		c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			return core.Deny(), nil
		}
	})
}

// verifier accepts every response. Its data is the ID of the passkey.
type verifier struct{}

func (verifier) VerifyRegistration(data []byte, _ core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	return &core.VerifiedPasskey{Authenticator: store.Authenticator{CredentialID: credentialID(data)}}, nil
}

func (verifier) VerifyAuthentication(_ []byte, _ *store.Authenticator, _ core.WebAuthnCeremony) (uint32, error) {
	return 0, nil
}

func credentialID(data []byte) string {
	var answer struct{ ID string }
	_ = json.Unmarshal(data, &answer) // the ID of other data is not found
	raw, _ := base64.RawURLEncoding.DecodeString(answer.ID)
	return base64.StdEncoding.EncodeToString(raw)
}

// passkey uses or registers a passkey. It returns what the options are for.
func (b *browser) passkey(query string) string {
	b.s.Helper()
	var options struct{ Action string }
	if err := json.Unmarshal(b.get("/auth/webauthn-options/webauthn"+query).Body, &options); err != nil {
		b.s.Fatal(err)
	}
	b.post("/auth/callback/webauthn", url.Values{"action": {options.Action}, "data": {`{"id":"a2V5","rawId":"a2V5"}`}})
	return options.Action
}

// TestPasskeys: a guest who registers a passkey keeps the ID. A guest who presses the button of the sign-in page uses
// an existing passkey, and is merged into its user.
func TestPasskeys(t *testing.T) {
	both(t, func(s *site) {
		b := s.browser()
		id := b.guest()
		if action := b.passkey("?action=register"); action != "register" || b.id() != id ||
			s.guests.IsGuest(b.session()) || s.audited("guest.upgraded ok") != 1 {
			s.Fatalf("%s: the user is %q, was %s", action, b.id(), id)
		}
		again := s.browser()
		other := again.guest()
		if action := again.passkey(""); action != "authenticate" || again.id() != id ||
			!slices.Equal(s.calls(), []merged{{other, id}}) {
			s.Errorf("%s: the user is %q, not %s; merges %v", action, again.id(), id, s.calls())
		}
	}, func(c *core.Config, _ *guest.Options) {
		c.EnableWebAuthn = true
		c.Providers = append(c.Providers, &core.WebAuthnProvider{Verifier: verifier{}})
	})
}

// TestChallenge: with Callbacks.Challenge, the button has the widget, and a guest is created with a valid token only.
func TestChallenge(t *testing.T) {
	both(t, func(s *site) {
		page := s.browser().get("/auth/signin")
		_, form, _ := strings.Cut(string(page.Body), `action="https://app.test/auth/guest"`)
		if form, _, _ = strings.Cut(form, "</form>"); !strings.Contains(form, `data-action="sign-in"`) ||
			!strings.Contains(page.Header.Get("Content-Security-Policy"), "frame-src https://captcha.example") {
			s.Errorf("the form has no widget: %s", form)
		}
		for _, token := range []string{"", "wrong"} {
			b := s.browser()
			r := b.post("/auth/guest", url.Values{"captcha": {token}, "callbackUrl": {"/cart"}})
			if b.id() != "" || r.Redirect !=
				"https://app.test/auth/signin?error=ChallengeFailed&callbackUrl=https%3A%2F%2Fapp.test%2Fcart" {
				s.Errorf("the token %q: user %q, redirected to %s", token, b.id(), r.Redirect)
			}
			r = b.post("/auth/guest", url.Values{"captcha": {token}}, "Accept", "application/json")
			if r.Status != http.StatusForbidden || !strings.Contains(string(r.Body), `"code":"challenge_failed"`) {
				s.Errorf("the token %q, JSON: %d %s", token, r.Status, r.Body)
			}
		}
		if page := string(s.browser().get("/auth/signin?error=ChallengeFailed").Body); !strings.Contains(page, "human") {
			s.Error("the sign-in page does not show the error")
		}
		b := s.browser()
		if b.post("/auth/guest", url.Values{"captcha": {"right"}}); !s.guests.IsGuest(b.session()) {
			s.Error("a valid token creates no guest")
		}
		if b.post("/auth/guest", nil); b.id() == "" {
			s.Error("a guest needs another token")
		}
	}, func(c *core.Config, _ *guest.Options) {
		c.Callbacks.Challenge = &challenge.Challenge{
			Widget: ui.Challenge{
				Script: "https://captcha.example/api.js", Class: "captcha", SiteKey: "site",
				FrameSources: []string{"https://captcha.example"},
			},
			Field: "captcha",
			Verify: func(_ context.Context, p challenge.Params) error {
				if p.Token != "right" || p.Action != challenge.SignIn {
					return challenge.ErrRefused
				}
				return nil
			},
		}
	})
}

// TestCode: the code of a sign-in email upgrades a guest, or merges them into the user of the address.
func TestCode(t *testing.T) {
	for address, existing := range map[string]string{"ada@example.com": "", "grace@example.com": "grace"} {
		t.Run(address, func(t *testing.T) {
			both(t, func(s *site) {
				b := s.browser()
				id := b.guest()
				b.post("/auth/signin/email", url.Values{"email": {address}})
				code := s.mails.Mails()[0].Code
				if r := b.post("/auth/callback/email", url.Values{"code": {"12345"}}); b.id() != id {
					s.Fatalf("after a wrong code, the user is %q: %v", b.id(), r.Err)
				}
				r := b.post("/auth/callback/email", url.Values{"code": {code}})
				if want := cmp.Or(existing, id); b.id() != want || s.guests.IsGuest(b.session()) {
					s.Fatalf("the user is %q, want %s: %d %v", b.id(), want, r.Status, r.Err)
				}
				if existing == "" {
					if u := s.user(id); u.Email != address || u.EmailVerified.IsZero() || len(s.calls()) > 0 {
						s.Errorf("the user is %+v, merges %v", u, s.calls())
					}
				} else if !slices.Equal(s.calls(), []merged{{id, existing}}) || s.user(id) != nil {
					s.Errorf("the merges are %v, the guest is %+v", s.calls(), s.user(id))
				}
			}, func(c *core.Config, _ *guest.Options) { c.Providers[1].(*core.EmailProvider).Code = true })
		})
	}
}
