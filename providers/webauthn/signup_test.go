package webauthn_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	captcha "github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/ui"
)

func withStrategy(strategy core.Strategy) func(*webauthn.SignUpOptions, *core.Config) {
	return func(_ *webauthn.SignUpOptions, c *core.Config) { c.Session.Strategy = strategy }
}

func withCodes(o *webauthn.SignUpOptions, _ *core.Config) { o.Code = true }

// TestSignUpWithPasskey: from the address to the session, with the events and audit events of a new user. The passkey
// then signs the user in.
func TestSignUpWithPasskey(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSignUpSite(t, withStrategy(strategy))
		p := s.person()
		if page := string(p.get("signin").Body); !strings.Contains(page, "Create an account with a passkey") {
			t.Errorf("the sign-in page has no link: %s", page)
		}
		link := p.start(ada)
		if got := s.took(); got != "config ok, config ok, signup ok" {
			t.Errorf("events %q", got)
		}
		if !p.open(link) || s.user(ada) != nil {
			t.Fatal("the link does not lead to the passkey, or has created a user")
		}
		if page := string(p.get("passkey/create").Body); !strings.Contains(page, ada) ||
			strings.Contains(page, "different browser") {
			t.Errorf("the page: %s", page)
		}
		o := p.options()
		if u := o.Options.User; o.Action != "register" || u.Name != ada || len(u.ID) != 64 ||
			o.Options.Selection.ResidentKey != "required" || o.Options.Selection.UserVerification != "required" {
			t.Errorf("options %+v", o)
		}
		s.took()
		r := p.create()
		if p.session() != ada {
			t.Fatalf("no session: %d %s %.400s %v", r.Status, r.Redirect, r.Body, r.Err)
		}
		want := "created ada@example.com, user.created ok, linked passkey webauthn, account.linked ok, passkey.added ok, " +
			"signed in passkey new, signup ok, signin ok"
		if got := s.took(); got != want {
			t.Errorf("events %q, want %q", got, want)
		}
		user := s.user(ada)
		keys, err := s.store.Authenticators(t.Context(), user.ID)
		if err != nil || len(keys) != 1 || !user.EmailVerified.Equal(s.Now()) {
			t.Fatalf("user %+v, passkeys %v, %v", user, keys, err)
		}
		account, err := s.store.Account(t.Context(), "passkey", keys[0].CredentialID)
		if err != nil || account.UserID != user.ID || account.Type != core.TypeWebAuthn {
			t.Errorf("account %+v, %v", account, err)
		}
		if r := s.person().get(link); r.Status != http.StatusBadRequest ||
			!strings.Contains(string(r.Body), "already used") {
			t.Errorf("the used link: %d", r.Status)
		}
	})
}

// TestPasskeySignsIn: the passkey of a sign-up signs the user in on another browser and in another process.
func TestPasskeySignsIn(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	p := s.person()
	p.open(p.start(ada))
	key := authenticator.New("mine")
	o := p.options()
	p.post("passkey/create", "link", p.state().Link, "action", "register", "data",
		key.Register(authenticator.Ceremony{Challenge: o.Options.Challenge, Origin: origin, RPID: "app.example"}))
	if p.session() != ada {
		t.Fatal("no session")
	}
	q := s.person()
	q.auth = s.auths[1]
	q.read("webauthn-options/passkey?action=authenticate", &o)
	q.post("callback/passkey", "action", "authenticate", "data", key.Authenticate(authenticator.Ceremony{
		Challenge: o.Options.Challenge, Origin: origin, RPID: "app.example", Counter: 1,
	}))
	if q.session() != ada {
		t.Error("the passkey does not sign in")
	}
}

// TestSignUpByProgram: the JSON API, with its problem codes.
func TestSignUpByProgram(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t, withCodes)
	p := s.program()
	if r := p.post("passkey/sign-up", "email", "ada"); r.Status != 422 || code(r) != "email_invalid" {
		t.Errorf("no address: %d %s", r.Status, r.Body)
	}
	if r := p.get("passkey/create"); r.Status != 400 || code(r) != "link_invalid" {
		t.Errorf("before: %d %s", r.Status, r.Body)
	}
	if r := p.post("passkey/sign-up", "email", ada); r.Status != 202 || string(r.Body) != `{"next":"mail"}` {
		t.Errorf("start: %d %s", r.Status, r.Body)
	}
	mail := s.newest(ada, mailkind.VerifyPasskey)
	wrong := "000000"
	if string(mail.Code) == wrong {
		wrong = "000001"
	}
	if r := p.post("passkey/code", "code", wrong); r.Status != 401 || code(r) != "code_wrong" {
		t.Errorf("wrong code: %d %s", r.Status, r.Body)
	}
	if r := p.post("passkey/code", "code", string(mail.Code)); r.Status != 200 ||
		!strings.Contains(string(r.Body), "/auth/passkey/create") {
		t.Fatalf("code: %d %s", r.Status, r.Body)
	}
	if r := p.post("passkey/code", "code", string(mail.Code)); r.Status != 401 || code(r) != "code_expired" {
		t.Errorf("the code again: %d %s", r.Status, r.Body)
	}
	state := p.state()
	if state.Email != ada || state.OtherBrowser {
		t.Errorf("state %+v", state)
	}
	if r := p.get("passkey/options?link=other"); r.Status != 409 || code(r) != "link_invalid" {
		t.Errorf("another link: %d %s", r.Status, r.Body)
	}
	r := p.post("passkey/create", "link", state.Link, "action", "register", "data", "{}")
	if r.Status != 400 || code(r) != "passkey_invalid" {
		t.Errorf("no passkey: %d %s", r.Status, r.Body)
	}
	if r := p.create(); r.Status != 200 || !strings.Contains(string(r.Body), `"url":`) || p.session() != ada {
		t.Errorf("create: %d %s", r.Status, r.Body)
	}
	q := s.program()
	if r := q.post("passkey/sign-up", "email", ada); r.Status != 202 || string(r.Body) != `{"next":"mail"}` {
		t.Errorf("a known address: %d %s", r.Status, r.Body)
	}
	if mail := s.newest(ada, mailkind.ExistsPasskey); mail.Code != "" || !mail.Expires.IsZero() ||
		string(mail.URL) != origin+"/auth/signin" {
		t.Errorf("email %+v", mail)
	}
}

// TestKnownAddress: responses do not reveal whether an address has an account. The owner gets an email that says so.
func TestKnownAddress(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t, withCodes)
	if _, err := s.store.CreateUser(t.Context(), &core.User{ID: "u", Email: ada}); err != nil {
		t.Fatal(err)
	}
	known, unknown := s.person(), s.person()
	var pages [2]string
	for i, p := range []*person{known, unknown} {
		email := []string{ada, mallory}[i]
		r := p.post("passkey/sign-up", "email", email)
		page := p.get("passkey/sent")
		pages[i] = fmt.Sprint(r.Status, r.Redirect, len(r.Cookies), page.Status,
			strings.ReplaceAll(string(blank(page.Body)), email, "…"))
		if got := p.post("passkey/code", "code", "12"); got.Redirect != origin+"/auth/passkey/sent?left=5&error=CodeWrong" {
			t.Errorf("%s: a wrong code: %s", email, got.Redirect)
		}
	}
	if pages[0] != pages[1] {
		t.Errorf("a known address: %s\nan unknown one: %s", pages[0], pages[1])
	}
	s.newest(ada, mailkind.ExistsPasskey)
	s.newest(mallory, mailkind.VerifyPasskey)
	// Mailboxes are compared, not texts.
	known.post("passkey/sign-up", "email", "  Ada@Example.com ")
	s.flush()
	if all := s.mails.to(ada); len(all) != 2 || all[1].Kind != mailkind.ExistsPasskey {
		t.Errorf("emails %v", all)
	}
	// The routes of the provider do not reveal it either.
	var o [2]registration
	for i, email := range []string{ada, mallory} {
		s.person().read("webauthn-options/passkey?email="+email, &o[i])
		o[i].Options.Challenge = ""
	}
	if o[0] != o[1] || o[0].Action != "authenticate" {
		t.Errorf("options %+v", o)
	}
}

// blank removes tokens and nonces from a page.
func blank(page []byte) []byte {
	var out []byte
	for _, part := range strings.Split(string(page), `"`) {
		before := string(out)
		if strings.HasSuffix(before, `nonce="`) || strings.HasSuffix(before, `name="csrfToken" value="`) {
			part = "…"
		}
		out = append(append(out, part...), '"')
	}
	return out
}

// TestProviderOnlyAuthenticates: with a sign-up, the routes of the provider create no user. A signed-in user adds a
// passkey as before.
func TestProviderOnlyAuthenticates(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	p := s.person()
	if r := p.get("webauthn-options/passkey?action=register&email=" + ada); r.Status != 400 ||
		!strings.Contains(string(r.Body), "/passkey/sign-up") {
		t.Errorf("registration: %d %s", r.Status, r.Body)
	}
	// A challenge of the sign-up is not accepted by the provider's callback, and the other way round.
	p.open(p.start(ada))
	o := p.options()
	p.post("callback/passkey", "action", "register", "data", p.answer(o))
	if p.session() != "" || s.user(ada) != nil {
		t.Error("the callback has created a user")
	}
	p.read("webauthn-options/passkey?action=authenticate", &o)
	p.post("passkey/create", "link", p.state().Link, "action", "register", "data", p.answer(o))
	if p.session() != "" {
		t.Error("the challenge of an authentication was accepted")
	}
	if p.create(); p.session() != ada {
		t.Fatal("no session")
	}
	p.read("webauthn-options/passkey?action=register", &o)
	if o.Action != "register" {
		t.Fatalf("options %+v", o)
	}
	p.post("passkey/create", "link", "x", "action", "register", "data", p.answer(o))
	p.read("webauthn-options/passkey?action=register", &o)
	p.post("callback/passkey", "action", "register", "data", p.answer(o))
	if keys, err := s.store.Authenticators(t.Context(), s.user(ada).ID); err != nil || len(keys) != 2 {
		t.Errorf("passkeys %v, %v", keys, err)
	}
}

// TestPreHijacking: an attacker starts the sign-up with the address of another person. When the person opens the link,
// the attacker's browser gets nothing, and nothing that the attacker chose is used.
func TestPreHijacking(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSignUpSite(t, withStrategy(strategy), withCodes)
		attacker, victim := s.person(), s.person()
		attacker.post("passkey/sign-up", "email", ada, "callbackUrl", "/chosen")
		mail := s.newest(ada, mailkind.VerifyPasskey)
		// A mail scanner opens the link first.
		if scanner := s.person(); !scanner.open(string(mail.URL)) || s.user(ada) != nil {
			t.Error("the scanner has created a user")
		}
		if !victim.open(string(mail.URL)) {
			t.Fatal("the link does not work in another browser")
		}
		if page := string(victim.get("passkey/create").Body); !strings.Contains(page, "different browser") ||
			!strings.Contains(page, ada) {
			t.Errorf("the page does not explain: %s", page)
		}
		if attacker.state().Link != "" || attacker.get("passkey/options?link="+victim.state().Link).Status != 400 {
			t.Error("the attacker's browser continues")
		}
		// The code in the email works in the attacker's browser only.
		if r := victim.post("passkey/code", "code", string(mail.Code)); !strings.Contains(r.Redirect, "CodeExpired") {
			t.Errorf("the code in another browser: %s", r.Redirect)
		}
		r := victim.create()
		if victim.session() != ada || attacker.session() != "" || strings.Contains(r.Redirect, "chosen") {
			t.Errorf("sessions %q, %q, redirect %s", victim.session(), attacker.session(), r.Redirect)
		}
		// The attacker learns the code later.
		attacker.post("passkey/code", "code", string(mail.Code))
		if attacker.create(); attacker.state().Link != "" || attacker.session() != "" {
			t.Error("the code works after the sign-up")
		}
		keys, err := s.store.Authenticators(t.Context(), s.user(ada).ID)
		if err != nil || len(keys) != 1 {
			t.Errorf("passkeys %v, %v", keys, err)
		}
	})
}

// TestOldVerification: an attacker who could read the mailbox once, and opened the link, cannot use it later.
func TestOldVerification(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	attacker := s.person()
	link := attacker.start(ada)
	attacker.open(link)
	before := attacker.state()
	o := attacker.options()
	answer := attacker.answer(o)
	s.wait(16 * time.Minute)
	r := attacker.post("passkey/create", "link", before.Link, "action", "register", "data", answer)
	if attacker.session() != "" || attacker.state().Link != "" || r.Status != 400 {
		t.Errorf("after 16 minutes: %d %s", r.Status, attacker.session())
	}
	if !attacker.open(link) {
		t.Error("the link does not work after 16 minutes")
	}
	s.wait(24*time.Hour - 20*time.Minute)
	if !attacker.open(link) || attacker.state().Link == "" {
		t.Error("the link does not work after almost a day")
	}
	s.wait(5 * time.Minute)
	if attacker.state().Link != "" || attacker.open(link) {
		t.Error("the link works after a day")
	}
	s.wait(30 * 24 * time.Hour)
	victim := s.person()
	victim.open(victim.start(ada))
	if victim.create(); victim.session() != ada || attacker.open(link) {
		t.Error("the owner cannot sign up")
	}
}

// TestSeveralLinks: old links work as long as the address has no user. A page of an older link does not continue the
// sign-up of a newer one.
func TestSeveralLinks(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	p := s.person()
	first := p.start(ada)
	second := p.start(mallory)
	p.open(first)
	old, o := p.state(), p.options()
	p.open(second)
	r := p.post("passkey/create", "link", old.Link, "action", "register", "data", p.answer(o))
	if r.Status != 409 || !strings.Contains(string(r.Body), "newer link") || s.user(ada) != nil || s.user(mallory) != nil {
		t.Errorf("the older page: %d", r.Status)
	}
	// A challenge belongs to one sign-up.
	p.post("passkey/create", "link", p.state().Link, "action", "register", "data", p.answer(o))
	if p.session() != "" {
		t.Error("a challenge of another sign-up was accepted")
	}
	third := p.start(ada)
	p.open(first)
	if p.create(); p.session() != ada {
		t.Error("the older link does not work")
	}
	q := s.person()
	q.get(third)
	if r := q.get("passkey/create"); r.Status != 409 || !strings.Contains(string(r.Body), "already has an account") {
		t.Errorf("the link of a user who exists: %d %.200s", r.Status, r.Body)
	}
	// The browser that is signed in continues.
	if r := p.get(third); r.Redirect != origin+"/auth/passkey/create" && r.Redirect != origin {
		t.Errorf("in the signed-in browser: %d %s", r.Status, r.Redirect)
	}
}

// TestMeanwhile: a user with the address is created between the link and the passkey, at each point.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	for i, at := range []string{"page", "options", "create", "transaction"} {
		email := fmt.Sprintf("p%d@example.com", i)
		p := s.person()
		p.open(p.start(email))
		link, o := p.state().Link, p.options()
		answer := p.answer(o)
		add := func() {
			if _, err := s.store.Store.CreateUser(t.Context(), &core.User{ID: "u" + email, Email: email}); err != nil {
				t.Error(err)
			}
		}
		if at == "transaction" {
			s.store.on("InTransaction", add)
		} else {
			add()
		}
		var r *core.Response
		switch at {
		case "page":
			r = p.get("passkey/create")
		case "options":
			p.accept = "application/json"
			r = p.get("passkey/options?link=" + link)
			if code(r) != "account_exists" {
				t.Errorf("options: %d %s", r.Status, r.Body)
			}
		default:
			r = p.post("passkey/create", "link", link, "action", "register", "data", answer)
		}
		if r.Status != 409 && r.Status != 400 || p.session() != "" || r.Err == nil {
			t.Errorf("%s: %d %.300s", at, r.Status, r.Body)
		}
		if _, err := s.store.Account(t.Context(), "passkey", "a2V5"); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s: an account is left", at)
		}
	}
}

// TestOneUser: of concurrent registrations for one address, in two processes, one creates the user.
func TestOneUser(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSignUpSite(t, withStrategy(strategy))
		var all []*person
		var forms [][]string
		for i := range 16 {
			p := s.person()
			p.auth = s.auths[i%2]
			p.open(p.start(ada))
			all = append(all, p)
			forms = append(forms, []string{"link", p.state().Link, "action", "register", "data", p.answer(p.options())})
		}
		twin := &person{s, s.auths[1], map[string]string{}, "text/html"} // a double click on the first one
		for name, value := range all[0].cookies {
			twin.cookies[name] = value
		}
		all, forms = append(all, twin), append(forms, forms[0])
		var group sync.WaitGroup
		for i, p := range all {
			group.Go(func() { p.post("passkey/create", forms[i]...) })
		}
		group.Wait()
		signedIn := 0
		for _, p := range all {
			if p.session() != "" {
				signedIn++
			}
		}
		keys, err := s.store.Authenticators(t.Context(), s.user(ada).ID)
		if err != nil || signedIn != 1 || len(keys) != 1 {
			t.Errorf("%d sessions, passkeys %v, %v", signedIn, keys, err)
		}
	})
}

// TestAgain: a second submission in the signed-in browser continues, and a dismissed or failed prompt can be repeated
// with the same user handle, so that the device replaces the earlier passkey.
func TestAgain(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	p := s.person()
	link := p.start(ada)
	p.open(link)
	before := p.options()
	r := p.create(func(x *authenticator.Ceremony) { x.Flags = authenticator.UserPresent })
	if r.Status != 400 || !strings.Contains(string(r.Body), "Try again") || !strings.Contains(string(r.Body), ada) {
		t.Errorf("without user verification: %d %.300s", r.Status, r.Body)
	}
	p.open(link)
	if after := p.options(); after.Options.User.ID != before.Options.User.ID ||
		after.Options.Challenge == before.Options.Challenge {
		t.Errorf("options %+v, then %+v", before, after)
	}
	form := []string{"link", p.state().Link, "action", "register", "data", p.answer(p.options())}
	old := map[string]string{}
	for name, value := range p.cookies {
		old[name] = value
	}
	if p.post("passkey/create", form...); p.session() != ada {
		t.Fatal("no session")
	}
	for name, value := range old { // the second submission has the cookies of the first one, and the new session
		if _, there := p.cookies[name]; !there {
			p.cookies[name] = value
		}
	}
	if r := p.post("passkey/create", form...); r.Redirect != origin || p.session() != ada {
		t.Errorf("the second submission: %d %s %.200s", r.Status, r.Redirect, r.Body)
	}
}

// TestWithoutTransactions: on a store without transactions, a link creates one user too, and a passkey that a user has
// leaves nothing.
func TestWithoutTransactions(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSignUpSite(t, withStrategy(strategy), withoutTransactions)
		p := s.person()
		link := p.start(ada)
		p.open(link)
		other := s.person()
		other.open(link)
		form := []string{"link", other.state().Link, "action", "register", "data", other.answer(other.options())}
		p.create(func(x *authenticator.Ceremony) { x.ID = []byte("the same") })
		other.post("passkey/create", form...)
		if p.session() != ada || other.session() != "" {
			t.Errorf("sessions %q, %q", p.session(), other.session())
		}
		q := s.person()
		q.open(q.start(mallory))
		if q.create(func(x *authenticator.Ceremony) { x.ID = []byte("the same") }); s.user(mallory) != nil {
			t.Error("a user without a passkey is left")
		}
		if q.create(); q.session() != mallory {
			t.Error("the sign-up does not continue with another passkey")
		}
		// A user who was created in between is not deleted.
		v := s.person()
		v.open(v.start("eve@example.com"))
		link, answer := v.state().Link, v.answer(v.options())
		s.store.on("DeleteRecord passkey-sign-up", func() {
			if _, err := s.store.Store.CreateUser(t.Context(), &core.User{ID: "e", Email: "eve@example.com"}); err != nil {
				t.Error(err)
			}
		})
		v.post("passkey/create", "link", link, "action", "register", "data", answer)
		if u := s.user("eve@example.com"); u == nil || u.ID != "e" || v.session() != "" {
			t.Errorf("user %+v, session %q", u, v.session())
		}
	})
}

// TestAnotherSession: a sign-up in a browser with another user's session creates a new user, and links nothing to the
// other one.
func TestAnotherSession(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSignUpSite(t, withStrategy(strategy))
		p := s.person()
		p.open(p.start(mallory))
		if p.create(); p.session() != mallory {
			t.Fatal("no session")
		}
		p.open(p.start(ada))
		if p.create(); p.session() != ada {
			t.Fatal("no session of the new user")
		}
		keys, err := s.store.Authenticators(t.Context(), s.user(mallory).ID)
		if err != nil || len(keys) != 1 {
			t.Errorf("passkeys %v, %v", keys, err)
		}
		// The session ends between the options and the response.
		q := s.person()
		q.open(q.start("eve@example.com"))
		link, o := q.state().Link, q.options()
		for name, value := range p.cookies {
			if name == session {
				q.cookies[name] = value
			}
		}
		if q.post("passkey/create", "link", link, "action", "register", "data", q.answer(o)); q.session() != ada ||
			s.user("eve@example.com") != nil {
			t.Error("a challenge of another session was accepted")
		}
	})
}

// TestKnownCredential: a credential ID that a user has is refused, and nothing is written.
func TestKnownCredential(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	p := s.person()
	p.open(p.start(ada))
	p.create(func(x *authenticator.Ceremony) { x.ID = []byte("the same") })
	q := s.person()
	q.open(q.start(mallory))
	r := q.create(func(x *authenticator.Ceremony) { x.ID = []byte("the same") })
	if q.session() != "" || s.user(mallory) != nil || r.Status != 400 {
		t.Errorf("a known credential: %d, session %q", r.Status, q.session())
	}
	if q.create(); q.session() != mallory {
		t.Error("the sign-up does not continue with another passkey")
	}
}

// TestDenied: Callbacks.SignIn, sign-in gates and Callbacks.Challenge decide about sign-ups.
func TestDenied(t *testing.T) {
	t.Parallel()
	var params core.SignInParams
	s := newSignUpSite(t, func(_ *webauthn.SignUpOptions, c *core.Config) {
		c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			params = p
			return core.Deny(), nil
		}
	})
	p := s.person()
	p.open(p.start(ada))
	r := p.create()
	if p.session() != "" || s.user(ada) != nil || r.Status != 403 {
		t.Errorf("denied: %d %.200s", r.Status, r.Body)
	}
	if params.User.Email != ada || params.User.EmailVerified.IsZero() || params.Account.Type != core.TypeWebAuthn {
		t.Errorf("Callbacks.SignIn got %+v %+v", params.User, params.Account)
	}
	held := newSignUpSite(t, func(_ *webauthn.SignUpOptions, c *core.Config) { c.Plugins = []core.Plugin{gate{}} })
	p = held.person()
	p.open(p.start(ada))
	if r := p.create(); r.Redirect != origin+"/auth/toll" || p.session() != "" {
		t.Errorf("a gate: %d %s", r.Status, r.Redirect)
	}
	if p.post("toll"); p.session() != ada {
		t.Error("the gate does not complete the sign-in")
	}
	asked := newSignUpSite(t, func(_ *webauthn.SignUpOptions, c *core.Config) {
		c.Callbacks.Challenge = &captcha.Challenge{
			Widget: ui.Challenge{Script: "https://captcha.example/api.js", Class: "captcha", SiteKey: "site"},
			Field:  "captcha",
			Verify: func(_ context.Context, a captcha.Params) error {
				if a.Action != captcha.SignUp || a.Token != "human" {
					return captcha.ErrRefused
				}
				return nil
			},
		}
	})
	p = asked.person()
	r = p.post("passkey/sign-up", "email", ada)
	if asked.flush(); r.Status != 403 || !strings.Contains(string(r.Body), `data-action="sign-up"`) ||
		!strings.Contains(string(r.Body), `role="alert"`) || len(asked.mails.to(ada)) != 0 {
		t.Errorf("without a token: %d %s", r.Status, r.Body)
	}
	p.post("passkey/sign-up", "email", ada, "captcha", "human")
	asked.newest(ada, mailkind.VerifyPasskey)
}

// gate holds every sign-in until POST toll.
type gate struct{}

func (gate) Attach(h *core.PluginHost) error {
	h.AddSignInGate(func(context.Context, *core.PendingSignIn) (string, error) { return "toll", nil })
	h.AddAction(core.Action{Method: "GET", Name: "toll", Handle: func(
		ctx context.Context, c *core.ActionRequest,
	) (*core.Response, error) {
		return c.JSON(ctx, 200, "pay"), nil
	}})
	h.AddAction(core.Action{Method: "POST", Name: "toll", Handle: func(
		ctx context.Context, c *core.ActionRequest,
	) (*core.Response, error) {
		p, err := c.PendingSignIn(ctx)
		if err != nil || p == nil {
			return nil, errors.New("no pending sign-in")
		}
		return c.CompleteSignIn(ctx, p)
	}})
	return nil
}

// TestGuestSignsUp: a guest keeps the user ID, and cannot register a passkey without verifying an address.
func TestGuestSignsUp(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		s := newSignUpSite(t, withStrategy(strategy), func(_ *webauthn.SignUpOptions, c *core.Config) {
			c.Plugins = []core.Plugin{guest.New(guest.Options{})}
		})
		p := s.person()
		p.post("guest")
		var before, after struct{ User struct{ ID, Email string } }
		p.read("session", &before)
		if r := p.get("webauthn-options/passkey?action=register"); r.Status != 400 {
			t.Errorf("a guest registers a passkey: %d %s", r.Status, r.Body)
		}
		p.open(p.start(ada))
		s.took()
		p.create()
		p.read("session", &after)
		user := s.user(ada)
		if user == nil || after.User.Email != ada {
			t.Fatalf("session %+v", after)
		}
		if keys, err := s.store.Authenticators(t.Context(), user.ID); err != nil || len(keys) != 1 ||
			user.EmailVerified.IsZero() {
			t.Errorf("passkeys %v, %v", keys, err)
		}
		got := s.took()
		if !strings.Contains(got, "updated ada@example.com") || !strings.Contains(got, "guest.upgraded ok") ||
			!strings.Contains(got, "passkey.added ok") || strings.Contains(got, "created") {
			t.Errorf("events %q", got)
		}
		// A guest who was upgraded in another tab in between becomes a second user.
		q := s.person()
		q.post("guest")
		q.open(q.start(mallory))
		link, answer := q.state().Link, q.answer(q.options())
		tab := &person{s, s.auths[1], map[string]string{}, "text/html"}
		for name, value := range q.cookies {
			tab.cookies[name] = value
		}
		s.store.on("InTransaction", func() {
			tab.open(tab.start("eve@example.com"))
			tab.create()
		})
		if q.post("passkey/create", "link", link, "action", "register", "data", answer); q.session() != mallory ||
			tab.session() != "eve@example.com" || s.user(mallory).ID == s.user("eve@example.com").ID {
			t.Errorf("sessions %q, %q", q.session(), tab.session())
		}
	})
}

// TestStoreFails: whichever call fails, there is no user without a passkey, and the same page works afterwards.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		for _, call := range []string{
			"Record passkey-sign-up", "UserByEmail", "InTransaction", "DeleteRecord passkey-sign-up", "CreateUser",
			"LinkAccount", "CreateAuthenticator", "commit", "sequence: DeleteRecord passkey-sign-up", "sequence: CreateUser",
			"sequence: LinkAccount", "sequence: CreateAuthenticator",
		} {
			s := newSignUpSite(t, withStrategy(strategy))
			call, inSequence := strings.CutPrefix(call, "sequence: ")
			if inSequence {
				s = newSignUpSite(t, withStrategy(strategy), withoutTransactions)
			}
			p := s.person()
			p.open(p.start(ada))
			link, answer := p.state().Link, p.answer(p.options())
			s.store.failing(call)
			r := p.post("passkey/create", "link", link, "action", "register", "data", answer)
			if s.store.failed() == 0 || r.Status < 500 || s.user(ada) != nil {
				t.Errorf("%s: %d calls, %d %.200s", call, s.store.failed(), r.Status, r.Body)
			}
			s.store.failing("")
			if _, err := s.store.Account(t.Context(), "passkey", "a2V5LWI="); !errors.Is(err, core.ErrNotFound) {
				t.Errorf("%s: an account is left", call)
			}
			if p.create(); p.session() != ada {
				t.Errorf("%s: the page does not work afterwards", call)
			}
		}
		for _, call := range []string{"CreateRecord passkey-sign-up", "UserByEmail"} {
			s := newSignUpSite(t, withStrategy(strategy))
			p := s.person()
			s.store.failing(call)
			r := p.post("passkey/sign-up", "email", ada)
			s.flush()
			if s.store.failed() == 0 || len(s.mails.to(ada)) != 0 || call != "UserByEmail" && r.Status < 500 {
				t.Errorf("%s: %d calls, %d, emails %v", call, s.store.failed(), r.Status, s.mails.to(ada))
			}
		}
		// The result of the commit is unknown: the user exists, and signs in with the passkey.
		s := newSignUpSite(t, withStrategy(strategy))
		p := s.person()
		p.open(p.start(ada))
		s.store.failing("after the commit")
		r := p.create()
		s.store.failing("")
		if r.Status < 500 || p.session() != "" || s.user(ada) == nil {
			t.Errorf("an unknown result: %d", r.Status)
		}
		if r := p.get("passkey/create"); r.Status != 400 {
			t.Errorf("afterwards: %d", r.Status)
		}
	})
}

// TestMailFails: a sign-up whose email was not sent cannot be continued.
func TestMailFails(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	s.mails.fails = errors.New("connection refused")
	s.person().post("passkey/sign-up", "email", ada)
	s.flush()
	records, _, err := s.store.ListRecords(t.Context(), "passkey-sign-up", "", "", 10)
	if err != nil || len(records) != 0 {
		t.Errorf("records %v, %v", records, err)
	}
}

// TestLimits: emails and prompts are limited.
func TestSignUpLimits(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t, func(_ *webauthn.SignUpOptions, c *core.Config) { c.InsecureNoLimits = false })
	p := s.program()
	status := 0
	for range 50 {
		if status = p.post("passkey/sign-up", "email", ada).Status; status == 429 {
			break
		}
	}
	if s.flush(); status != 429 || len(s.mails.to(ada)) == 0 || len(s.mails.to(ada)) > 10 {
		t.Errorf("%d emails, then status %d", len(s.mails.to(ada)), status)
	}
	q := s.program()
	link := q.start(mallory)
	q.open(link)
	state := q.state()
	for range 200 {
		if status = q.get("passkey/options?link=" + state.Link).Status; status == 429 {
			return
		}
	}
	t.Errorf("options are not limited: %d", status)
}

// TestPages: the pages contain what they need without JavaScript, and no token.
func TestSignUpPages(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t, withCodes)
	p := s.person()
	if r := p.post("passkey/sign-up", "email", "no address"); r.Status != 422 ||
		!strings.Contains(string(r.Body), "Enter a valid email address.") ||
		!strings.Contains(string(r.Body), "no address") {
		t.Errorf("no address: %d %.500s", r.Status, r.Body)
	}
	if page := string(p.get("passkey/sign-up?email=x@example.com").Body); strings.Contains(page, "x@example.com") ||
		!strings.Contains(page, `autocomplete="username"`) {
		t.Errorf("the form: %s", page)
	}
	link := p.start(ada)
	if page := string(p.get("passkey/sent").Body); !strings.Contains(page, ada) ||
		!strings.Contains(page, "one-time-code") ||
		!strings.Contains(page, `action="https://app.example/auth/passkey/sign-up"`) {
		t.Errorf("the page after the email: %s", page)
	}
	_, token, _ := strings.Cut(link, "token=")
	r := p.get(link)
	if strings.Contains(r.Redirect, token) {
		t.Error("the token stays in the URL")
	}
	page := string(p.get("passkey/create").Body)
	for _, want := range []string{
		"<noscript>", "Turn on JavaScript", `role="status"`, "data-passkey-options", "Create passkey", "Start over",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if strings.Contains(page, token) || strings.Contains(s.log.String(), token) || strings.Contains(s.log.String(), ada) {
		t.Error("the page or the log contains the token, or the log the address")
	}
	for _, bad := range []string{"", "x", strings.Repeat("x", 200), "%00"} {
		if r := p.get("passkey/confirm?token=" + bad); r.Status != 400 ||
			!strings.Contains(string(r.Body), "already used") {
			t.Errorf("token %q: %d", bad, r.Status)
		}
	}
}

// TestReturns: the user returns to the page that the sign-up was started on.
func TestReturns(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	p := s.person()
	p.post("passkey/sign-up", "email", ada, "callbackUrl", "/cart")
	p.post("passkey/sign-up", "email", ada) // "Resend email"
	p.open(string(s.newest(ada, mailkind.VerifyPasskey).URL))
	if r := p.create(); r.Redirect != origin+"/cart" {
		t.Errorf("redirect %s", r.Redirect)
	}
}

// TestReturnsToItsOwn: a sign-up does not return to the page of another one in the same browser.
func TestReturnsToItsOwn(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	p := s.person()
	p.post("passkey/sign-up", "email", ada, "callbackUrl", "/cart")
	p.post("passkey/sign-up", "email", mallory, "callbackUrl", "/other")
	p.open(string(s.newest(ada, mailkind.VerifyPasskey).URL))
	delete(p.cookies, "__Secure-authjs.callback-url")
	if r := p.create(); r.Redirect != origin {
		t.Errorf("redirect %s", r.Redirect)
	}
}

// TestOverElsewhere: a link that another browser has used is explained to a user who is signed in as another user.
func TestOverElsewhere(t *testing.T) {
	t.Parallel()
	s := newSignUpSite(t)
	p, q := s.person(), s.person()
	p.open(p.start(mallory))
	p.create()
	link := p.start(ada)
	p.open(link)
	q.open(link)
	q.create()
	if r := p.get("passkey/create"); p.session() != mallory || q.session() != ada || r.Status != 400 {
		t.Errorf("sessions %q, %q, page %d %s", p.session(), q.session(), r.Status, r.Redirect)
	}
}

// TestSignUpConfiguration: configuration errors name their fix.
func TestSignUpConfiguration(t *testing.T) {
	t.Parallel()
	rows := memory.New()
	for name, test := range map[string]struct {
		options webauthn.SignUpOptions
		store   core.Store
		want    string
	}{
		"no mail":     {webauthn.SignUpOptions{}, memory.New(), "SignUpOptions.Mail"},
		"bad mail":    {webauthn.SignUpOptions{Mail: unset{}}, memory.New(), "set KEY"},
		"no passkeys": {webauthn.SignUpOptions{Mail: &postbox{}}, plain{rows, rows, rows}, "AuthenticatorStore"},
		"no store":    {webauthn.SignUpOptions{Mail: &postbox{}}, nil, "Config.Store"},
	} {
		_, err := core.New(core.Config{
			URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: test.store,
			EnableWebAuthn: true, Getenv: func(string) string { return "" },
			Providers: []core.Provider{webauthn.WithSignUp(webauthn.WebAuthn(), test.options)},
		})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// unset is a Mailer without its configuration.
type unset struct{}

func (unset) Send(context.Context, core.Email) error   { return nil }
func (unset) Configure(func(name string) string) error { return errors.New("set KEY") }

// plain is a store with records and without transactions.
type plain struct {
	core.Store
	store.RecordStore
	store.SessionStore
}

// TestSignUpCodeAfterFailure: if the store fails after the code of a sign-up was checked, the code works again.
func TestSignUpCodeAfterFailure(t *testing.T) {
	s := newSignUpSite(t, withCodes)
	p := s.program()
	p.post("passkey/sign-up", "email", ada)
	code := string(s.newest(ada, mailkind.VerifyPasskey).Code)
	p.get("csrf")
	s.store.failing("Record passkey-sign-up")
	r := p.post("passkey/code", "code", code)
	n := s.store.failed()
	s.store.failing("")
	if r.Status < 500 || n == 0 {
		t.Errorf("%d failed: %d %s", n, r.Status, r.Body)
	}
	if r := p.post("passkey/code", "code", code); r.Status != 200 {
		t.Errorf("the code is lost: %d %s", r.Status, r.Body)
	}
}
