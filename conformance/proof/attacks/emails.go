package main

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// address is an email address, or a body that contains one, and the expected result.
type address struct {
	ID, Want, Why, Value, Raw, Authjs string
	Body                              *struct {
		Form string
		JSON map[string]any
	}
	AuthjsMailsTo any `json:"authjs_mails_to"`
}

// emails requests sign-in links by email, opens them, and signs in at providers whose profiles contain the same
// addresses (docs/protocol.md §9.1). It reads the emails that the application's sender receives.
func emails(a *attack) {
	p := &address{}
	a.read(p)
	kind, one, _ := strings.Cut(p.Want, ":")
	switch kind {
	case "accept", "reject", "accept-or-reject", "no-collide", "no-collide-or-same", "one":
	default:
		a.failf("want %q is not known", p.Want)
		return
	}
	x := a.open(nil)
	owner := ""
	if strings.HasPrefix(kind, "no-collide") { // the address belongs to another user
		b := x.browser("u9")
		b.submit("/auth/signin/email", "email", one)
		if x.openLink(b); !sameMailbox(b.who(), one) {
			a.failf("%s could not sign in: %q", one, b.who())
		}
		owner = x.userID(b)
	}
	bad := x.browser("u2").submit("/auth/signin/email", "email", "nobody")
	tokens := x.store.tokens()
	x.mailed()
	x.logged()
	b := x.browser("u1")
	answer, took := x.timed(func() wire.Answer { return p.ask(b) })
	log := x.logged()
	if took > 10*time.Second { // quadratic time in the length would take minutes; a busy machine adds a second
		a.failf("it took %v", took)
	}
	for _, raw := range []string{p.Value, p.Raw} {
		controls := strings.ContainsFunc(raw, func(c rune) bool { return c < 0x20 || c == 0x7f || c == 0x2028 })
		if controls && strings.Contains(log, raw) {
			a.failf("the value is in the log as it came")
		}
	}
	mails, stored := x.mailed(), x.store.tokens()[len(tokens):]
	if len(mails) == 0 {
		switch {
		case kind == "accept" || kind == "one":
			a.failf("no email: %d to %q; log: %.300s", answer.Status, answer.Header.Get("Location"), log)
		case len(stored) > 0:
			a.failf("no email, and yet a token for %q", stored)
		case answer.Status/100 == 3 &&
			(answer.Status != bad.Status || errorIn(answer) == "" || errorIn(answer) != errorIn(bad)),
			answer.Status/100 != 3 && answer.Status/100 != 4:
			a.failf("answered %d to %q, another bad address %d to %q",
				answer.Status, answer.Header.Get("Location"), bad.Status, bad.Header.Get("Location"))
		}
	} else {
		p.checkEmails(x, b, kind, one, owner, mails, stored)
	}
	if p.Body == nil && p.Raw == "" {
		p.asProfile(a, kind, one)
	}
	x.alive()
}

// ask requests an email.
func (p *address) ask(b *browser) wire.Answer {
	token := b.csrf()
	body, contentType := url.Values{"csrfToken": {token}, "email": {p.Value}}.Encode(), formType
	switch {
	case p.Raw != "":
		body = "csrfToken=" + token + "&email=" + p.Raw
	case p.Body != nil && p.Body.JSON != nil:
		p.Body.JSON["csrfToken"] = token
		body, contentType = string(must(json.Marshal(p.Body.JSON))), "application/json"
	case p.Body != nil:
		body = strings.Replace(p.Body.Form, "csrfToken=ok", "", 1) + "&csrfToken=" + token
	}
	return b.ask("POST", "/auth/signin/email", contentType, body)
}

// checkEmails checks the sent emails, and which user their link signs in.
func (p *address) checkEmails(x *app, b *browser, kind, one, owner string, mails []core.Email, stored []string) {
	if kind == "reject" {
		x.failf("an email to %q", mails[0].To)
		return
	}
	if len(mails) > 1 || len(stored) != 1 {
		x.failf("%d emails, %d tokens", len(mails), len(stored))
		return
	}
	to := mails[0].To
	link, err := url.Parse(string(mails[0].URL))
	x.must(err)
	if stored[0] != to || link.Query().Get("email") != to {
		x.failf("the email goes to %q, the token is of %q, the link of %q", to, stored[0], link.Query().Get("email"))
	}
	b.get(link.RequestURI())
	if who := b.who(); who != to {
		x.failf("the email goes to %q, and signs in %q", to, who)
	}
	switch kind {
	case "accept", "accept-or-reject":
		if !sameMailbox(to, one) {
			x.failf("the email goes to %q, want %q", to, one)
		}
	case "one":
		if strings.Count(to, "@") != 1 || strings.ContainsAny(to, ", ;") {
			x.failf("the email goes to %q", to)
		}
	case "no-collide":
		if sameMailbox(to, one) || x.userID(b) == owner {
			x.failf("signed in as %s by an email to %q", one, to)
		}
	case "no-collide-or-same":
		if sameMailbox(to, one) != (x.userID(b) == owner) {
			x.failf("an email to %q signs in another user than %s", to, one)
		}
	}
}

// asProfile puts the address into a provider's profile. It must be stored in canonical form or not at all, and must
// never select another user.
func (p *address) asProfile(a *attack, kind, one string) {
	x := a.open(nil)
	if strings.HasPrefix(kind, "no-collide") {
		b := x.browser("u9")
		b.submit("/auth/signin/email", "email", one)
		x.openLink(b)
	}
	x.op.mu.Lock()
	x.op.odd = &oddAnswer{Endpoint: "userinfo", Body: map[string]any{"email": p.Value}}
	x.op.mu.Unlock()
	x.signInAt(x.browser("u1"), "a")
	user, err := x.store.UserByAccount(x, "a", "u1")
	if err != nil {
		return // refused
	}
	switch {
	case user.Email == "":
	case kind == "reject",
		(kind == "accept" || kind == "accept-or-reject") && !sameMailbox(user.Email, one),
		kind == "no-collide" && sameMailbox(user.Email, one):
		a.failf("a profile's address is kept as %q", user.Email)
	case kind == "no-collide-or-same" && user.Email == one:
		a.failf("a profile's address links to the user of %s", one)
	}
}

// sameMailbox reports whether ours, the canonical form, is the payload's address: as written, or as a mail server would
// read it.
func sameMailbox(ours, written string) bool {
	return ours == written || core.Email{To: ours}.Recipient() == written
}

// openLink opens the link of the last email.
func (x *app) openLink(b *browser) {
	mails := x.mailed()
	if len(mails) == 0 {
		x.failf("there is no email: %.300s", x.logged())
		return
	}
	link, err := url.Parse(string(mails[len(mails)-1].URL))
	x.must(err)
	b.get(link.RequestURI())
}
