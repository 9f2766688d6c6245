package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/dev/authenticator"
)

// through signs in at a provider with a subject and these profile members.
func (r *relation) through(b *browser, provider, subject string, members map[string]any) wire.Answer {
	r.app.op.describe(subject, members)
	b.subject = subject
	r.provider, r.subject = provider, subject
	return r.app.signInAt(b, provider)
}

// profile returns a profile with an address. It contains email_verified only if more does.
func profile(address string, more map[string]any) map[string]any {
	members := map[string]any{"email": address, "email_verified": absent}
	if address == "" {
		members["email"] = absent
	}
	for name, value := range more {
		members[name] = value
	}
	return members
}

// byMail requests an email and opens its link in the same browser.
func (r *relation) byMail(b *browser, address string) wire.Answer {
	link := r.requestLink(b, address)
	if link == nil {
		return wire.Answer{}
	}
	return r.opened(b, link.RequestURI())
}

// requestLink requests an email and returns its link.
func (r *relation) requestLink(b *browser, address string) *url.URL {
	answer := b.submit("/auth/signin/email", "email", address)
	mails := r.app.mailed()
	if len(mails) != 1 {
		r.failf("%d emails to %s: %d to %q", len(mails), address, answer.Status, answer.Header.Get("Location"))
		return nil
	}
	link, err := url.Parse(string(mails[0].URL))
	r.must(err)
	return link
}

// button matches the page that asks for confirmation before a link is used.
var button = regexp.MustCompile(`name="csrfToken"`)

// opened opens a link, and presses the confirmation button if there is one.
func (r *relation) opened(b *browser, target string) wire.Answer {
	answer := b.get(target)
	if answer.Status == http.StatusOK && button.Match(answer.Body) {
		answer = b.submit(target)
	}
	return answer
}

// byPasskey registers a passkey, or signs in with the person's existing passkey.
func (r *relation) byPasskey(h *human, b *browser, address string) {
	action := "authenticate"
	query := "action=authenticate"
	if h.passkey == nil {
		action, query = "register", "action=register&email="+url.QueryEscape(address)
	}
	var body struct{ Options struct{ Challenge string } }
	_ = json.Unmarshal(b.get("/auth/webauthn-options/passkey?"+query).Body, &body)
	x := authenticator.Ceremony{Challenge: body.Options.Challenge, Origin: home, RPID: "app.example", Counter: 1}
	data := ""
	if h.passkey == nil {
		h.passkey = authenticator.New("passkey of " + h.name)
		data = h.passkey.Register(x)
	} else {
		x.Counter = 2
		data = h.passkey.Authenticate(x)
	}
	form := url.Values{"action": {action}, "data": {data}}
	b.ask("POST", "/auth/callback/passkey", formType, form.Encode(), [2]string{"Origin", home})
}

// settled records the user of a person whose sign-in was part of the initial state.
func (r *relation) settled(h *human, b *browser) {
	if h.id = r.userIn(b); h.id == "" {
		r.failf("%s could not sign in: %.300s", h.name, r.app.logged())
	}
}

// waysOf signs a person in again with each of their sign-in methods, in other browsers, and returns the users.
func (r *relation) waysOf(h *human) (users []string) {
	for _, way := range h.ways {
		b := r.app.browser(h.name)
		if provider, subject, ok := strings.Cut(way, " "); ok {
			r.app.op.mu.Lock()
			b.subject = subject
			r.app.op.mu.Unlock()
			r.app.signInAt(b, provider)
		} else {
			r.byPasskey(h, b, h.address)
		}
		users = append(users, r.userIn(b))
	}
	return users
}
