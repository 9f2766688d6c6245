package mail_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// mailRow is an action with the emails that it sends.
type mailRow struct {
	name  string
	kinds []mailkind.Kind // each is one email
	// toNew reports that the email is sent to the user's new address, not to the present one.
	toNew bool
	// inRequest reports that the email is sent before the response, so that a failure is in the response.
	inRequest bool
	// later reports that the request does not need to write: the response must not depend on whether there is a user.
	later bool
	// grace reports that accounts are deleted after a week.
	grace bool
	// passkeys reports that users sign up with a passkey.
	passkeys bool
	// webhooks reports that the site sends events to an endpoint that responds with 410 Gone.
	webhooks bool
	// before runs everything before the action.
	before func(c *caller) action
}

func one(kind mailkind.Kind) []mailkind.Kind { return []mailkind.Kind{kind} }

const (
	word, newWord = "three quiet horses", "four loud kettles!"
	// wordHashed is the hash of word.
	wordHashed = `$argon2id$v=19$m=64,t=2,p=1$HiH7pzj9BO38VYLcN3Kp1A$rCavIUL/wz0ibkcbLfKAKWOYI243CzYtR7EXvLLsEpQ`
)

// user stores a user with a verified address, and with a password if hash is not empty.
func (c *caller) user(address, hash string) *core.User {
	c.Helper()
	u, err := c.store.CreateUser(c.Context(), &core.User{
		ID: core.NewID(), Email: address, EmailVerified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	})
	c.check(err)
	if hash != "" {
		c.check(c.passwords.Import(c.Context(), u.ID, hash))
	}
	return u
}

// member stores a user and signs them in. ago is the time since the sign-in.
func (c *caller) member(hash string, ago time.Duration) *core.User {
	c.Helper()
	u := c.user(c.address, hash)
	cookies, err := c.auth.NewSession(c.Context(), c.request("GET", "session", nil), u, core.SessionOptions{
		AuthTime: c.clock().Add(-ago),
	})
	c.check(err)
	c.keep(cookies)
	return u
}

// coming returns the last request of a sign-in at the hub.
func (c *caller) coming(account string) action {
	c.Helper()
	at, err := url.Parse(c.post("signin/hub").Redirect)
	c.check(err)
	path := "callback/hub?" + url.Values{"code": {account}, "state": {at.Query().Get("state")}}.Encode()
	return c.sending(func() *core.Request { return c.request("GET", path, nil) })
}

// organization creates an organization that users can ask to join.
func (c *caller) organization(owner *core.User) (id string) {
	c.Helper()
	org, err := c.orgs.Create(c.Context(), organization.NewOrganization{OwnerID: owner.ID, Name: "Acme"})
	c.check(err)
	c.check(c.orgs.SetJoinRequests(c.Context(), org.ID, true))
	return org.ID
}

// passkey returns the last request of a registration.
func (c *caller) passkey() action {
	c.Helper()
	var options struct{}
	c.read("webauthn-options/passkey?action=register&email="+url.QueryEscape(c.address), &options)
	id := base64.RawURLEncoding.EncodeToString([]byte(c.address))
	return c.posting("callback/passkey", "action", "register", "data", `{"id":"`+id+`"}`)
}

// forgets opens the link of a password reset.
func (c *caller) forgets() {
	c.Helper()
	c.post("password/forgot", "email", c.address)
	c.send(c.request("GET", "password/reset?token="+url.QueryEscape(c.token(mailkind.Reset, c.address)), nil))
}

// enrolls enrolls an authenticator app, and returns its secret and the recovery codes.
func (c *caller) enrolls() (secret string, recovery []string) {
	c.Helper()
	var app struct{ Secret string }
	c.read("second-factor/enroll", &app)
	r := c.post("second-factor/enroll", "code", c.code(app.Secret))
	var enrolled struct{ RecoveryCodes []string }
	if err := json.Unmarshal(r.Body, &enrolled); err != nil || len(enrolled.RecoveryCodes) != 10 {
		c.Fatalf("enrollment: %s", r.Body)
	}
	return app.Secret, enrolled.RecoveryCodes
}

// pending signs the user in by password in another browser, up to the second factor.
func (c *caller) pending() *caller {
	c.Helper()
	other := c.browse(c.address)
	other.post("callback/password", "email", c.address, "password", word)
	return other
}

// reminds starts the task that emails the owners of API keys, like any request does.
func (c *caller) reminds() bool {
	for _, signal := range []chan struct{}{c.kept.queued, c.kept.failed} {
		for len(signal) > 0 {
			<-signal
		}
	}
	r := c.request("GET", "session", nil)
	r.Target = "/"
	c.auth.Visit(c.Context(), r)
	select {
	case <-c.kept.queued:
		return true
	case <-c.kept.failed:
	case <-time.After(20 * time.Second):
		c.Error("the task did not run")
	}
	return false
}

var mailRows = []mailRow{
	{name: "a sign-in link", kinds: one(mailkind.SignIn), inRequest: true,
		before: func(c *caller) action { return c.posting("signin/email", "email", c.address) }},
	{name: "re-authentication", kinds: one(mailkind.Reauth), inRequest: true, before: func(c *caller) action {
		c.member("", time.Hour)
		return c.posting("reauth?callbackUrl=/vault")
	}},
	{name: "a sign-up", kinds: one(mailkind.Verify), before: func(c *caller) action {
		return c.posting("password/sign-up", "email", c.address, "password", word)
	}},
	{name: "a sign-up of a user", kinds: one(mailkind.Exists), before: func(c *caller) action {
		c.user(c.address, "")
		return c.posting("password/sign-up", "email", c.address, "password", word)
	}},
	{name: "a sign-up with a passkey", kinds: one(mailkind.VerifyPasskey), passkeys: true, before: func(c *caller) action {
		return c.posting("passkey/sign-up", "email", c.address)
	}},
	{name: "a sign-up of a user with a passkey", kinds: one(mailkind.ExistsPasskey), passkeys: true,
		before: func(c *caller) action {
			c.user(c.address, "")
			return c.posting("passkey/sign-up", "email", c.address)
		}},
	{name: "the address of another user", kinds: one(mailkind.Exists), toNew: true, inRequest: true,
		before: func(c *caller) action {
			c.member("", 0)
			c.user("new-"+c.address, "")
			return c.posting("account/email", "email", "new-"+c.address)
		}},
	{name: "a forgotten password", kinds: one(mailkind.Reset), later: true, before: func(c *caller) action {
		c.user(c.address, wordHashed)
		return c.posting("password/forgot", "email", c.address)
	}},
	{name: "a reset by support", kinds: one(mailkind.Reset), inRequest: true, before: func(c *caller) action {
		u := c.user(c.address, wordHashed)
		return calling(func() error { return c.passwords.SendReset(c.Context(), u.ID) },
			func() error { return c.passwords.SendReset(c.Context(), "nobody") })
	}},
	{name: "a changed password", kinds: one(mailkind.PasswordChanged), before: func(c *caller) action {
		c.member(wordHashed, 0)
		return c.posting("password/change", "current", word, "newPassword", newWord)
	}},
	{name: "a first password", kinds: one(mailkind.PasswordChanged), before: func(c *caller) action {
		c.user(c.address, "")
		c.forgets()
		return c.posting("password/reset", "newPassword", newWord)
	}},
	{name: "a reset password", kinds: []mailkind.Kind{mailkind.PasswordChanged, mailkind.AccountUnlinked},
		before: func(c *caller) action {
			c.member(wordHashed, 0)
			c.coming("hub-" + c.address).do()
			c.forgets()
			page := c.request("GET", "password/reset", nil)
			page.Header.Set("Accept", "text/html")
			fields := regexp.MustCompile(`name="(remove-[^"]+)"`).FindAllSubmatch(c.send(page).Body, -1)
			if len(fields) != 1 {
				c.Fatalf("the page removes %d sign-in methods", len(fields))
			}
			return c.posting("password/reset", "newPassword", newWord, string(fields[0][1]), "on")
		}},
	{name: "another address", kinds: one(mailkind.AddressChange), toNew: true, inRequest: true,
		before: func(c *caller) action {
			c.member("", 0)
			return c.posting("account/email", "email", "new-"+c.address)
		}},
	{name: "a changed address", kinds: one(mailkind.AddressChanged), before: func(c *caller) action {
		c.member("", 0)
		c.post("account/email", "email", "new-"+c.address)
		return c.posting("account/confirm", "token", c.token(mailkind.AddressChange, "new-"+c.address))
	}},
	{name: "a new passkey", kinds: one(mailkind.PasskeyAdded), before: func(c *caller) action {
		c.member("", 0)
		return c.passkey()
	}},
	{name: "a removed passkey", kinds: one(mailkind.PasskeyRemoved), before: func(c *caller) action {
		c.member("", 0)
		c.passkey().do()
		var page account.Overview
		c.read("account", &page)
		return c.posting("account/passkey", "id", page.Passkeys[0].ID, "remove", "1")
	}},
	{name: "a linked account", kinds: one(mailkind.AccountLinked), before: func(c *caller) action {
		c.member("", 0)
		return c.coming("hub-" + c.address)
	}},
	{name: "an unlinked account", kinds: one(mailkind.AccountUnlinked), before: func(c *caller) action {
		c.member("", 0)
		c.coming("hub-" + c.address).do()
		var page account.Overview
		c.read("account", &page)
		return c.posting("account/unlink", "account", page.Accounts[0].ID)
	}},
	{name: "an authenticator app", kinds: one(mailkind.FactorAdded), before: func(c *caller) action {
		c.member("", 0)
		var app struct{ Secret string }
		c.read("second-factor/enroll", &app)
		return c.posting("second-factor/enroll", "code", c.code(app.Secret))
	}},
	{name: "passkeys as a factor", kinds: one(mailkind.FactorAdded), before: func(c *caller) action {
		c.member("", 0)
		c.passkey().do()
		return c.posting("second-factor/passkeys", "on", "1")
	}},
	{name: "a removed app", kinds: one(mailkind.FactorRemoved), before: func(c *caller) action {
		c.member("", 0)
		c.enrolls()
		var page struct{ Apps []struct{ ID string } }
		c.read("second-factor/settings", &page)
		return c.posting("second-factor/remove", "id", page.Apps[0].ID)
	}},
	{name: "factors reset by support", kinds: one(mailkind.FactorsReset), before: func(c *caller) action {
		u := c.member("", 0)
		c.enrolls()
		return action{do: func() bool { return c.factors.Reset(c.Context(), u.ID) == nil }}
	}},
	{name: "a recovery code", kinds: one(mailkind.RecoveryUsed), before: func(c *caller) action {
		c.member(wordHashed, 0)
		_, recovery := c.enrolls()
		return c.pending().posting("second-factor", "code", recovery[0])
	}},
	{name: "new recovery codes", kinds: one(mailkind.RecoveryRenewed), before: func(c *caller) action {
		c.member("", 0)
		c.enrolls()
		return c.posting("second-factor/codes")
	}},
	{name: "the tenth wrong code", kinds: one(mailkind.FactorGuessed), before: func(c *caller) action {
		c.member(wordHashed, 0)
		c.enrolls()
		last := c.pending()
		for i := range 9 {
			if i == 5 { // a pending sign-in has five tries
				last = c.pending()
			}
			last.send(last.request("POST", "second-factor", last.form("code", "000000")))
		}
		tenth := last.posting("second-factor", "code", "000000")
		tenth.do = func() bool {
			r := last.send(last.request("POST", "second-factor", last.form("code", "000000")))
			return r.Status == http.StatusUnprocessableEntity
		}
		return tenth
	}},
	{name: "a new browser", kinds: one(mailkind.NewDevice), before: func(c *caller) action {
		c.user(c.address, wordHashed)
		c.pending()
		c.wait(25 * time.Hour)
		return c.browse(c.address).posting("callback/password", "email", c.address, "password", word)
	}},
	{name: "an API key", kinds: one(mailkind.KeyCreated), before: func(c *caller) action {
		c.member("", 0)
		return c.posting("api-keys", "name", "x", "scope orders:read", "on")
	}},
	{name: "a replaced API key", kinds: one(mailkind.KeyCreated), before: func(c *caller) action {
		u := c.member("", 0)
		key, _, err := c.keys.Create(c.Context(), apikey.NewKey{UserID: u.ID, Name: "x", Scopes: []string{"orders:read"}})
		c.check(err)
		return c.posting("api-keys/rotate", "id", key.ID)
	}},
	{name: "an API key that expires", kinds: one(mailkind.KeyExpiring), before: func(c *caller) action {
		u := c.member("", 0)
		_, _, err := c.keys.Create(c.Context(), apikey.NewKey{
			UserID: u.ID, Name: "x", Scopes: []string{"orders:read"}, TTL: 30 * 24 * time.Hour,
		})
		c.check(err)
		c.wait(23 * 24 * time.Hour)
		return action{do: c.reminds}
	}},
	{name: "an endpoint that is gone", kinds: one(mailkind.WebhookDisabled), webhooks: true,
		before: func(c *caller) action {
			u := c.member("", 0)
			key, _, err := c.keys.Create(c.Context(), apikey.NewKey{UserID: u.ID, Name: "x", Scopes: []string{"orders:read"}})
			c.check(err)
			return c.posting("api-keys/revoke", "id", key.ID)
		}},
	{name: "an invitation", kinds: one(mailkind.Invite), inRequest: true, before: func(c *caller) action {
		return calling(func() error { return c.mine.Invite(c.Context(), account.Invitation{Email: c.address}) },
			func() error { return c.mine.Invite(c.Context(), account.Invitation{Email: "nobody"}) })
	}},
	{name: "an invitation to an organization", kinds: one(mailkind.OrganizationInvite), before: func(c *caller) action {
		u := c.member("", 0)
		org, err := c.orgs.Create(c.Context(), organization.NewOrganization{OwnerID: u.ID, Name: "Acme"})
		c.check(err)
		return c.posting("organization/invite", "organization", org.ID, "email", "guest-"+c.address, "role", "member")
	}},
	{name: "an API key of an organization", kinds: one(mailkind.OrganizationKey), before: func(c *caller) action {
		org := c.organization(c.member("", 0))
		return c.posting("organization/key", "organization", org, "name", "x", "scope orders:read", "on")
	}},
	{name: "a request to join", kinds: one(mailkind.OrganizationRequest), before: func(c *caller) action {
		org := c.organization(c.user("owner-"+c.address, ""))
		c.member("", 0)
		return c.posting("organization/join", "organization", org)
	}},
	{name: "an accepted request to join", kinds: one(mailkind.OrganizationJoined), before: func(c *caller) action {
		org := c.organization(c.member("", 0))
		_, err := c.orgs.RequestToJoin(c.Context(), org, c.user("guest-"+c.address, "").ID)
		c.check(err)
		all, err := c.orgs.JoinRequests(c.Context(), org)
		c.check(err)
		return c.posting("organization/admit", "organization", org, "id", all[0].ID, "role", "member")
	}},
	{name: "a scheduled deletion", kinds: one(mailkind.DeletionScheduled), grace: true, before: func(c *caller) action {
		c.member("", 0)
		return c.posting("account/delete", "phrase", "delete my account")
	}},
	{name: "a deletion", kinds: one(mailkind.Deleted), before: func(c *caller) action {
		c.member("", 0)
		return c.posting("account/delete", "phrase", "delete my account")
	}},

	{name: "the first sign-in with an account", before: func(c *caller) action { return c.coming(c.address) }},
	{name: "the first sign-in with a passkey", before: func(c *caller) action { return c.passkey() }},
	{name: "the first sign-in with a link", before: func(c *caller) action {
		c.post("signin/email", "email", c.address)
		all := c.emails()
		path := strings.TrimPrefix(all[len(all)-1].link.String(), "https://app.example/auth/")
		return c.sending(func() *core.Request { return c.request("GET", path, nil) })
	}},
	{name: "the confirmation of a sign-up", before: func(c *caller) action {
		c.post("password/sign-up", "email", c.address, "password", word)
		return c.posting("password/confirm", "token", c.token(mailkind.Verify, c.address))
	}},
	{name: "a sign-in in a known browser", before: func(c *caller) action {
		c.user(c.address, wordHashed)
		known := c.pending()
		c.wait(25 * time.Hour)
		return known.posting("callback/password", "email", c.address, "password", word)
	}},
	{name: "a revoked API key", before: func(c *caller) action {
		u := c.member("", 0)
		key, _, err := c.keys.Create(c.Context(), apikey.NewKey{UserID: u.ID, Name: "x", Scopes: []string{"orders:read"}})
		c.check(err)
		return c.posting("api-keys/revoke", "id", key.ID)
	}},
	{name: "a sign-out", before: func(c *caller) action {
		c.member("", 0)
		return c.posting("signout")
	}},
}

// TestEveryKind fails if no action of the table sends a kind of email.
func TestEveryKind(t *testing.T) {
	for _, kind := range mailkind.All() {
		if !slices.ContainsFunc(mailRows, func(r mailRow) bool { return slices.Contains(r.kinds, kind) }) {
			t.Errorf("no action sends an email of kind %s: add a row", kind)
		}
	}
}

// onEachAction runs a test for each row on each store. The site has sent all emails of the steps before the action.
func onEachAction(t *testing.T, name string, change func(*actionSite), run func(s *actionSite, r mailRow, a action)) {
	t.Helper()
	for engine, open := range actionStores {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			kept, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range mailRows {
				t.Run(row.name, func(t *testing.T) {
					s := newActionSite(t, kept)
					s.now = time.Now().UTC().Truncate(time.Second)
					if row.grace {
						s.grace = 7 * 24 * time.Hour
					}
					s.passkeys = row.passkeys
					if row.webhooks {
						s.endpoint = newGoneEndpoint(t)
					}
					if change != nil {
						change(s)
					}
					s.restart()
					c := s.browse(fmt.Sprintf("%s-%d@example.com", name, i))
					a := row.before(c)
					s.flush()
					s.mu.Lock()
					s.sent = nil
					s.mu.Unlock()
					run(s, row, a)
				})
			}
		})
	}
}

// want checks that the site has sent the emails of a row since, or none.
func (s *actionSite) want(r mailRow, sent bool) {
	s.Helper()
	s.flush()
	s.wait(3 * time.Minute) // until the claim of another process has ended
	s.flush()
	got := s.emails()
	var kinds []mailkind.Kind
	for _, l := range got {
		kinds = append(kinds, l.kind)
		if strings.HasPrefix(l.to, "new-") != r.toNew {
			s.Errorf("an email of kind %s is sent to %s", l.kind, l.to)
		}
	}
	var want []mailkind.Kind
	if sent {
		want = slices.Sorted(slices.Values(r.kinds))
	}
	if slices.Sort(kinds); !slices.Equal(kinds, want) {
		s.Errorf("emails of kinds %v, want %v", kinds, want)
	}
}

// TestOneEmail: each action sends exactly one email of each of its kinds.
func TestOneEmail(t *testing.T) {
	onEachAction(t, "one", nil, func(s *actionSite, r mailRow, a action) {
		if !a.do() {
			s.Error("the action was refused")
		}
		s.want(r, true)
	})
}

// TestNoEmailOfRefusedActions: an action that is refused sends no email.
func TestNoEmailOfRefusedActions(t *testing.T) {
	onEachAction(t, "refused", nil, func(s *actionSite, r mailRow, a action) {
		if a.refused != nil && len(r.kinds) > 0 {
			a.refused()
			s.want(r, false)
		}
	})
}

// TestNoEmailWithoutStore: an action that fails because the store does sends no email.
func TestNoEmailWithoutStore(t *testing.T) {
	onEachAction(t, "store", nil, func(s *actionSite, r mailRow, a action) {
		s.kept.fails.Store(true)
		ok := a.do()
		s.kept.fails.Store(false)
		if len(r.kinds) > 0 && ok != r.later {
			s.Errorf("without the store the action works: %t", ok)
		}
		s.want(r, r.later)
	})
}

// TestOutage: the mail server is down for ten minutes, and the process ends meanwhile. Each email is sent once
// afterwards. If an email is sent before the response, the action fails instead and can be repeated.
func TestOutage(t *testing.T) {
	for name, crash := range map[string]bool{"shutdown": false, "crash": true} {
		change := func(s *actionSite) {
			if crash { // the first process, which has ended, must not send anything later
				s.retries = []time.Duration{9 * time.Minute, 9 * time.Minute, 9 * time.Minute}
			}
		}
		t.Run(name, func(t *testing.T) {
			onEachAction(t, name, change, func(s *actionSite, r mailRow, a action) {
				if len(r.kinds) == 0 {
					return
				}
				s.server.SetDown(true)
				for len(s.kept.postponed) > 0 {
					<-s.kept.postponed
				}
				if ok := a.do(); ok == r.inRequest {
					s.Fatalf("during the outage: %t", ok)
				}
				switch {
				case r.inRequest:
					s.wait(10 * time.Minute)
				case crash:
					for range r.kinds {
						<-s.kept.postponed
					}
					s.wait(10 * time.Minute)
				default:
					s.flush()
					s.wait(5 * time.Minute)
					s.flush()
					s.wait(5 * time.Minute)
				}
				s.restart()
				s.server.SetDown(false)
				if r.inRequest {
					s.want(r, false)
					if !a.do() {
						s.Error("after the outage the action fails")
					}
				}
				s.want(r, true)
				s.restart()
				s.want(r, true)
			})
		})
	}
}
