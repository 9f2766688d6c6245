package main

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// address is an e-mail address, or the body that is to have one, and what may become of it.
type address struct {
	ID, Want, Why, Value, Raw, Authjs string
	Body                              *struct {
		Form string
		JSON map[string]any
	}
	AuthjsMailsTo any `json:"authjs_mails_to"`
}

// emails asks for links by mail, opens them, and signs in at providers whose profiles have the same addresses
// (docs/protocol.md §9.1). The letter is what the application's sender is given.
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
	if strings.HasPrefix(kind, "no-collide") { // another user has the address already
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
	if took > 10*time.Second { // what grows with the square of an address takes minutes, and a busy machine a second
		a.failf("it took %v", took)
	}
	for _, raw := range []string{p.Value, p.Raw} {
		controls := strings.ContainsFunc(raw, func(c rune) bool { return c < 0x20 || c == 0x7f || c == 0x2028 })
		if controls && strings.Contains(log, raw) {
			a.failf("the value is in the log as it came")
		}
	}
	letters, stored := x.mailed(), x.store.tokens()[len(tokens):]
	if len(letters) == 0 {
		switch {
		case kind == "accept" || kind == "one":
			a.failf("no letter: %d to %q; log: %.300s", answer.Status, answer.Header.Get("Location"), log)
		case len(stored) > 0:
			a.failf("no letter, and yet a token for %q", stored)
		case answer.Status/100 == 3 &&
			(answer.Status != bad.Status || errorIn(answer) == "" || errorIn(answer) != errorIn(bad)),
			answer.Status/100 != 3 && answer.Status/100 != 4:
			a.failf("answered %d to %q, another bad address %d to %q",
				answer.Status, answer.Header.Get("Location"), bad.Status, bad.Header.Get("Location"))
		}
	} else {
		p.letters(x, b, kind, one, owner, letters, stored)
	}
	if p.Body == nil && p.Raw == "" {
		p.asProfile(a, kind, one)
	}
	x.alive()
}

// ask asks for a letter.
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

// letters looks at what was sent, and at which user its link signs in.
func (p *address) letters(x *app, b *browser, kind, one, owner string, letters []core.SignInMail, stored []string) {
	if kind == "reject" {
		x.failf("a letter to %q", letters[0].To)
		return
	}
	if len(letters) > 1 || len(stored) != 1 {
		x.failf("%d letters, %d tokens", len(letters), len(stored))
		return
	}
	to := letters[0].To
	link, err := url.Parse(string(letters[0].URL))
	x.must(err)
	if stored[0] != to || link.Query().Get("email") != to {
		x.failf("the letter goes to %q, the token is of %q, the link of %q", to, stored[0], link.Query().Get("email"))
	}
	b.get(link.RequestURI())
	if who := b.who(); who != to {
		x.failf("the letter goes to %q, and signs in %q", to, who)
	}
	switch kind {
	case "accept", "accept-or-reject":
		if !sameMailbox(to, one) {
			x.failf("the letter goes to %q, want %q", to, one)
		}
	case "one":
		if strings.Count(to, "@") != 1 || strings.ContainsAny(to, ", ;") {
			x.failf("the letter goes to %q", to)
		}
	case "no-collide":
		if sameMailbox(to, one) || x.userID(b) == owner {
			x.failf("signed in as %s by a letter to %q", one, to)
		}
	case "no-collide-or-same":
		if sameMailbox(to, one) != (x.userID(b) == owner) {
			x.failf("a letter to %q signs in another user than %s", to, one)
		}
	}
}

// asProfile has a provider say the address: it is kept in its one form, or not at all, and never leads to the user of
// another.
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

// sameMailbox reports whether our one form of an address is that of the payload: as it is written, or as mail servers
// are told it.
func sameMailbox(ours, written string) bool {
	return ours == written || core.SignInMail{To: ours}.Recipient() == written
}

// openLink opens the link of the last letter.
func (x *app) openLink(b *browser) {
	letters := x.mailed()
	if len(letters) == 0 {
		x.failf("there is no letter: %.300s", x.logged())
		return
	}
	link, err := url.Parse(string(letters[len(letters)-1].URL))
	x.must(err)
	b.get(link.RequestURI())
}
