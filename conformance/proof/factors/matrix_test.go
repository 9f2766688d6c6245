package factors_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
)

// step is what a sign-in needs after the first factor.
type step string

const (
	nothing   step = "nothing"
	code      step = "code"
	enroll    step = "enroll"
	postponed step = "postponed"
)

// policies are the options of the plugin, with users who have an authenticator app and users who have none.
var policies = []struct {
	name    string
	options secondfactor.Options
	app     bool // the user has an authenticator app
	admin   bool
	want    step
}{
	{name: "no factor", want: nothing},
	{name: "when enrolled", app: true, want: code},
	{name: "required", options: secondfactor.Options{Required: secondfactor.Always}, want: enroll},
	{name: "required and enrolled", options: secondfactor.Options{Required: secondfactor.Always}, app: true, want: code},
	{name: "required by role", options: secondfactor.Options{Required: ofAdmins}, admin: true, want: enroll},
	{name: "another role", options: secondfactor.Options{Required: ofAdmins}, want: nothing},
	{name: "another role, enrolled", options: secondfactor.Options{Required: ofAdmins}, app: true, want: code},
	{
		name: "grace period", options: secondfactor.Options{Required: secondfactor.Always, Grace: time.Hour},
		want: postponed,
	},
	{name: "after the grace period", options: secondfactor.Options{Required: secondfactor.Always, Grace: 1}, want: enroll},
}

func ofAdmins(_ context.Context, p *core.PendingSignIn) (bool, error) {
	return strings.HasPrefix(p.User.Email, "admin"), nil
}

var strategies = []core.Strategy{core.StrategyJWT, core.StrategyDatabase}

// way is a sign-in method.
type way struct {
	name string
	// in signs in, up to the session or the second factor.
	in func(b *browser, p *person)
	// prepare changes the user before the authenticator app is enrolled. It may be nil.
	prepare func(s *site, p *person)
	// creates is set if the sign-in creates its user, who cannot have an app before.
	creates bool
	// two is set if the method verifies two factors.
	two bool
}

var ways = []way{
	{name: "password", in: func(b *browser, p *person) {
		b.post("callback/password", "email", p.Email, "password", right)
	}},
	{name: "password of a program", in: func(b *browser, p *person) {
		b.call("callback/password", "email", p.Email, "password", right)
	}},
	{name: "email link", in: func(b *browser, p *person) {
		b.post("signin/email", "email", p.Email)
		b.open(b.mail(p.Email, mailkind.SignIn).link)
	}},
	{name: "email code", in: func(b *browser, p *person) {
		b.post("signin/email", "email", p.Email)
		b.post("callback/email", "code", b.mail(p.Email, mailkind.SignIn).code)
	}},
	{name: "OAuth", in: func(b *browser, p *person) {
		at, err := url.Parse(b.post("signin/hub").location)
		b.must(err)
		b.open("/auth/callback/hub?" + url.Values{"code": {p.Email}, "state": {at.Query().Get("state")}}.Encode())
	}},
	{name: "OpenID Connect", in: func(b *browser, p *person) {
		shown := b.open(b.post("signin/dev").location)
		to := regexp.MustCompile(`action="([^"]+/authorize/[^"]+)"`).FindSubmatch(shown.body)
		if to == nil {
			b.Fatalf("the provider's page is %d %s", shown.status, shown.body)
		}
		b.open(b.send("POST", string(to[1]), html, url.Values{"email": {p.Email}}).location)
	}},
	{name: "OAuth 1.0a", in: func(b *browser, p *person) {
		b.post("signin/bird")
		b.open("/auth/callback/bird?" + url.Values{"oauth_token": {"request"}, "oauth_verifier": {p.Email}}.Encode())
	}},
	{name: "passkey", two: true, prepare: (*site).registers, in: func(b *browser, p *person) {
		b.ceremony(p, "authenticate")
	}},
	{name: "invitation", creates: true, in: func(b *browser, p *person) {
		b.must(b.account.Invite(b.Context(), account.Invitation{Email: p.Email}))
		b.post("password/sign-up", "email", p.Email, "password", right)
		b.post("password/confirm", "token", b.mail(p.Email, mailkind.Verify).token)
	}},
	{name: "sign-up with a passkey", two: true, creates: true, in: func(b *browser, p *person) {
		b.post("passkey/sign-up", "email", p.Email)
		b.open(b.mail(p.Email, mailkind.VerifyPasskey).link)
		var state struct{ Link string }
		b.must(json.Unmarshal(b.ask("passkey/create").body, &state))
		var o struct {
			Options struct{ Challenge string }
		}
		b.must(json.Unmarshal(b.ask("passkey/options?link="+state.Link).body, &o))
		made := authenticator.New(p.Email).Register(authenticator.Ceremony{
			Challenge: o.Options.Challenge, Origin: origin, RPID: "localhost",
		})
		b.post("passkey/create", "link", state.Link, "action", "register", "data", made)
	}},
	{name: "password reset", in: func(b *browser, p *person) {
		const next = "four loud kettles!"
		b.post("password/forgot", "email", p.Email)
		b.open("/auth/password/reset?token=" + url.QueryEscape(b.mail(p.Email, mailkind.Reset).token))
		b.post("password/reset", "newPassword", next)
		if b.signedIn() {
			b.Error("a password reset signs in")
		}
		b.post("callback/password", "email", p.Email, "password", next)
	}},
	{name: "NewSession that asks", in: func(b *browser, p *person) {
		cookies, err := b.auth.NewSession(b.Context(), b.request(), p.User, core.SessionOptions{AskGates: true})
		var held *core.HeldError
		if err != nil && (!errors.As(err, &held) || held.URL != origin+"/auth/second-factor") {
			b.Fatal(err)
		}
		b.keep(cookies)
	}},
}

// mail is the content of an email.
type mail struct{ link, code, token string }

// mail returns the newest email of a kind to an address.
func (b *browser) mail(to string, kind mailkind.Kind) mail {
	b.Helper()
	b.must(b.passwords.Flush(b.Context()))
	for _, m := range b.mails.Mails() {
		if m.To == to && m.Kind == kind {
			at, err := url.Parse(m.URL)
			b.must(err)
			return mail{m.URL, m.Code, at.Query().Get("token")}
		}
	}
	b.Fatalf("no email of kind %s to %s", kind, to)
	return mail{}
}

// cell is one combination.
type cell struct {
	*site
	way
	b    *browser
	p    *person
	want step
	// rows and events are the numbers of sessions and sign-ins before this one.
	rows, events int
}

// TestMatrix signs in with each method, under each policy, on each router and with both strategies. Before the second
// factor there is no session: no cookie, no row, no event, no page. Afterwards there is one.
func TestMatrix(t *testing.T) {
	for _, strategy := range strategies {
		for _, policy := range policies {
			t.Run(string(strategy)+"/"+policy.name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, strategy, policy.options, core.True)
				for _, adapter := range wire.Adapters() {
					for _, w := range ways {
						if policy.app && w.creates { // a new user has no app
							continue
						}
						t.Run(adapter+"/"+w.name, func(t *testing.T) {
							own := s.in(t)
							c := &cell{site: own, way: w, want: policy.want}
							c.prepare(policy.admin, policy.app)
							c.b = own.browse(adapter)
							w.in(c.b, c.p)
							c.run(strategy)
						})
					}
				}
			})
		}
	}
}

// TestKeyWithoutVerification signs in with a security key that does not verify its user. It is one factor.
func TestKeyWithoutVerification(t *testing.T) {
	w := ways[slices.IndexFunc(ways, func(w way) bool { return w.two })]
	w.two = false
	for _, strategy := range strategies {
		s := newSite(t, strategy, secondfactor.Options{Required: secondfactor.Always}, core.False)
		for _, adapter := range wire.Adapters() {
			for _, want := range []step{code, enroll} {
				t.Run(string(strategy)+"/"+adapter+"/"+string(want), func(t *testing.T) {
					own := s.in(t)
					c := &cell{site: own, way: w, want: want}
					c.prepare(false, want == code)
					c.b = own.browse(adapter)
					w.in(c.b, c.p)
					c.run(strategy)
				})
			}
		}
	}
}

// prepare creates the user of a cell.
func (c *cell) prepare(admin, app bool) {
	c.Helper()
	email := strings.ToLower(rand.Text()) + "@example.com"
	if admin {
		email = "admin-" + email
	}
	if c.two {
		c.want = nothing
	}
	if c.creates {
		c.p = &person{User: &core.User{Email: email}}
		return
	}
	c.p = c.newPerson(email)
	if c.way.prepare != nil {
		c.way.prepare(c.site, c.p)
	}
	if app {
		c.must(c.factors.Import(c.Context(), c.p.ID, "otpauth://totp/App?secret="+appKey))
	}
	c.rows, c.events = c.sessions(c.p), c.started(c.p.Email)
}

// held checks that there is no session.
func (c *cell) held(when string) {
	c.Helper()
	for name, value := range c.b.cookies {
		if strings.Contains(name, "session-token") {
			c.Errorf("%s: there is a cookie %s", when, name)
		}
		client := &browser{site: c.site, client: c.b.client, bearer: value}
		if r := client.open(private); string(r.body) == wire.Secret {
			c.Errorf("%s: the cookie %s is a session", when, name)
		}
	}
	if rows, events := c.sessions(c.p)-c.rows, c.started(c.p.Email)-c.events; rows != 0 || events != 0 {
		c.Errorf("%s: %d sessions, %d sign-ins", when, rows, events)
	}
	if c.b.signedIn() {
		c.Fatalf("%s: there is a session", when)
	}
}

// refused sends a request that must not create a session.
func (c *cell) refused(path string, fields ...string) {
	c.Helper()
	if r := c.b.call(path, fields...); r.status < http.StatusBadRequest {
		c.Errorf("%s is answered %d %s", path, r.status, r.body)
	}
	c.held(path)
}

// accepted sends a request that must succeed.
func (c *cell) accepted(path string, fields ...string) {
	c.Helper()
	if r := c.b.call(path, fields...); r.status != http.StatusOK {
		c.Fatalf("%s is answered %d %s", path, r.status, r.body)
	}
}

// run continues a sign-in after the first factor.
func (c *cell) run(strategy core.Strategy) {
	c.Helper()
	if c.want != nothing {
		c.held("after the first factor")
		c.refused("second-factor", "code", "000000")
		c.refused("second-factor/saved", "signin", "1")
		other := c.browse("stdlib")
		if r := other.call("second-factor", "code", codeNow(appKey, 0)); r.status != http.StatusGone || other.signedIn() {
			c.Errorf("another browser is answered %d %s", r.status, r.body)
		}
	}
	switch c.want {
	case nothing:
	case code:
		c.refused("second-factor/later")
		c.refused("second-factor/enroll", "signin", "1", "code", codeNow(appKey, 0))
		c.accepted("second-factor", "code", codeNow(appKey, 0))
	case enroll:
		c.refused("second-factor/later")
		var app struct{ Secret string }
		c.must(json.Unmarshal(c.b.ask("second-factor/enroll?signin=1").body, &app))
		c.refused("second-factor/enroll", "signin", "1", "code", "000000")
		c.accepted("second-factor/enroll", "signin", "1", "code", codeNow(app.Secret, 0))
		c.held("after the enrollment, before the recovery codes are saved")
		c.accepted("second-factor/saved", "signin", "1")
	case postponed:
		c.accepted("second-factor/later")
	}
	if !c.b.signedIn() {
		c.Fatal("there is no session")
	}
	rows, events := c.sessions(c.p)-c.rows, c.started(c.p.Email)-c.events
	if strategy == core.StrategyDatabase && rows != 1 || events > 1 {
		c.Errorf("%d sessions, %d sign-ins", rows, events)
	}
	for name, value := range c.b.cookies {
		if !strings.Contains(name, "session-token") {
			continue
		}
		client := &browser{site: c.site, client: c.b.client, bearer: value}
		if r := client.open(private); string(r.body) != wire.Secret {
			c.Errorf("a client with the token of the session is answered %d %s", r.status, r.body)
		}
	}
	if r := c.b.call("second-factor", "code", codeNow(appKey, 1)); r.status != http.StatusGone {
		c.Errorf("the sign-in is still pending: %d %s", r.status, r.body)
	}
}

// TestGuesses guesses codes in several sign-ins. At the tenth wrong code the user gets one email, whose link starts a
// password reset. The new password ends the attacker's sign-ins, and still needs the factor.
func TestGuesses(t *testing.T) {
	const next = "four loud kettles!"
	for _, strategy := range strategies {
		s := newSite(t, strategy, secondfactor.Options{}, core.True)
		p := s.newPerson("ada@example.com")
		s.must(s.factors.Import(t.Context(), p.ID, "otpauth://totp/App?secret="+appKey))
		var attacker *browser
		for i := range 12 {
			if i%4 == 0 {
				attacker = s.browse("stdlib")
				attacker.post("callback/password", "email", p.Email, "password", right)
			}
			if r := attacker.call("second-factor", "code", "000000"); r.status != http.StatusUnprocessableEntity {
				t.Fatalf("code %d is answered %d %s", i+1, r.status, r.body)
			}
			s.must(s.passwords.Flush(t.Context()))
			sent := 0
			for _, m := range s.mails.Mails() {
				if m.Kind == mailkind.FactorGuessed && m.To == p.Email {
					sent++
				}
			}
			if want := (i + 1) / 10; sent != want {
				t.Fatalf("%d emails after %d wrong codes", sent, i+1)
			}
		}
		b := s.browse("gin")
		b.open(b.mail(p.Email, mailkind.FactorGuessed).link)
		if r := b.call("password/reset", "newPassword", next); r.status != http.StatusOK || b.signedIn() {
			t.Errorf("the reset is answered %d %s", r.status, r.body)
		}
		if r := attacker.call("second-factor", "code", codeNow(appKey, 0)); attacker.signedIn() {
			t.Errorf("the attacker's sign-in has outlived the password: %d %s", r.status, r.body)
		}
		b.post("callback/password", "email", p.Email, "password", next)
		if b.signedIn() {
			t.Error("a password reset skips the second factor")
		}
		if r := b.call("second-factor", "code", codeNow(appKey, 1)); r.status != http.StatusOK || !b.signedIn() {
			t.Errorf("the owner's code is answered %d %s", r.status, r.body)
		}
	}
}

// TestLinking links an account and adds a passkey in a session from before the enrollment, on each router and with both
// strategies. Neither is possible before the second factor.
func TestLinking(t *testing.T) {
	for _, strategy := range strategies {
		s := newSite(t, strategy, secondfactor.Options{}, core.True)
		for _, adapter := range wire.Adapters() {
			t.Run(string(strategy)+"/"+adapter, func(t *testing.T) {
				own := s.in(t)
				p := own.newPerson(strings.ToLower(rand.Text()) + "@example.com")
				p.passkey = authenticator.New(p.Email)
				b := own.browse(adapter)
				b.vouch(p)
				own.must(own.factors.Import(t.Context(), p.ID, "otpauth://totp/App?secret="+appKey))
				const verify = origin + "/auth/second-factor/verify"
				link := func() *page {
					at, err := url.Parse(b.post("signin/hub").location)
					own.must(err)
					return b.open("/auth/callback/hub?" +
						url.Values{"code": {"mallory-" + p.Email}, "state": {at.Query().Get("state")}}.Encode())
				}
				linked := func() (accounts, passkeys int) {
					all, err := own.store.Accounts(t.Context(), p.ID)
					own.must(err)
					keys, err := own.store.Authenticators(t.Context(), p.ID)
					own.must(err)
					return len(all), len(keys)
				}
				before, _ := linked()
				if r := link(); r.location != verify {
					t.Errorf("an account is answered %d %s", r.status, r.location)
				}
				if r := b.ceremony(p, "register"); r.location != verify {
					t.Errorf("a passkey is answered %d %s", r.status, r.location)
				}
				if accounts, keys := linked(); accounts != before || keys != 0 {
					t.Errorf("before the second factor: %d accounts, %d passkeys", accounts-before, keys)
				}
				if r := b.call("second-factor/verify", "code", codeNow(appKey, 0)); r.status != http.StatusOK {
					t.Fatalf("the code is answered %d %s", r.status, r.body)
				}
				link()
				if accounts, _ := linked(); accounts != before+1 {
					t.Errorf("after the second factor: %d accounts", accounts-before)
				}
			})
		}
	}
}
