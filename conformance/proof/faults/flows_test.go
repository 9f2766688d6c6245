package faults

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/app/authenticator"
	"github.com/latchkey-go/latchkey/core"
)

// visit is a person on the way through one flow.
type visit struct {
	*site
	person string
	b      *browser
	key    *authenticator.Credential
	count  uint32 // of the passkey
	// target and form are the request at which trouble comes; without a form it is a GET.
	target string
	form   url.Values
	// held is the session cookie of before.
	held    string
	secrets []string
	// left: a user who was made may be left without a password or an account, as the deadline of the store, which is short
	// here, may have ended on a busy machine what would take them back. A letter is the way in then.
	left bool
}

const (
	goodWord, newWord = "violet otter ladder", "seven quiet lanterns"
)

// flow is a flow: what comes before the request at which there is trouble, and how the person comes back afterwards.
type flow struct {
	name   string
	before func(v *visit)
	// again signs the person in once more; whose address the session is then of is what it returns.
	again func(v *visit, b *browser) string
	// signsIn: a success is a new session. signsOut: the browser's session ends, whatever happens.
	signsIn, signsOut bool
	// reads: nothing is written that a visitor would miss. A request that fails may succeed with less.
	reads bool
	// settled is the call after which what the visitor asked for is done; what fails later is in the log alone.
	settled string
	// atOnce: calls are made side by side, so that they come in another order each time.
	atOnce bool
	// costly: passwords are hashed on the way.
	costly bool
}

// quietly are calls whose failure the visitor is not told of, with the reason.
var quietly = map[string]string{
	"read record invite":    "an invitation ends by itself, and is good for one address, which is somebody's now",
	"read record passkey":   "when a passkey was used is told to its owner, and decides nothing",
	"create record passkey": "as above", "update record passkey": "as above",
	"delete record account-lock": "a lock ends by itself",
	"create record method":       "the date of a sign-in method is for the list of a reset, and decides nothing",
	"create record session":      "what a list shows of a session is no part of it",
	"read record session":        "as above", "list records session": "as above", "update record session": "as above",
	"delete record session": "as above", "delete records session": "as above",
}

var flows = []*flow{
	{name: "first sign-in at a provider", settled: "create session", signsIn: true, again: byProvider,
		before: func(v *visit) { v.target = v.toProvider(v.b) }},
	{name: "returning from a provider", settled: "create session", signsIn: true, again: byProvider,
		before: func(v *visit) { byProvider(v, v.browser()); v.target = v.toProvider(v.b) }},
	{name: "linking a provider", again: func(v *visit, _ *browser) string { return byProvider(v, v.b) },
		before: func(v *visit) { byMail(v, v.b); v.target = v.toProvider(v.b) }},
	{name: "asking for a link", again: byMail,
		before: func(v *visit) {
			v.target, v.form = "/auth/signin/email", v.b.posting("email", address(v.person))
		}},
	{
		name: "first link", settled: "create session", signsIn: true, again: byMail,
		before: func(v *visit) { v.target = v.link(v.b) }},
	{name: "later link", settled: "create session", signsIn: true, again: byMail,
		before: func(v *visit) { byMail(v, v.browser()); v.target = v.link(v.b) }},
	{name: "reading a session", atOnce: true, reads: true, again: byMail,
		before: func(v *visit) { byMail(v, v.b); v.target = "/auth/session" }},
	{name: "reading a session that is due", atOnce: true, reads: true, again: byMail,
		before: func(v *visit) { byMail(v, v.b); v.clock.wait(48 * time.Hour); v.target = "/auth/session" }},
	{name: "reading a session that has ended", atOnce: true, reads: true, signsOut: true, again: byMail,
		before: func(v *visit) { byMail(v, v.b); v.clock.wait(31 * 24 * time.Hour); v.target = "/auth/session" }},
	{name: "updating a session", again: byMail,
		before: func(v *visit) { byMail(v, v.b); v.target, v.form = "/auth/session", v.b.posting("data", "{}") }},
	{name: "signing out", signsOut: true, again: byMail,
		before: func(v *visit) { byMail(v, v.b); v.target, v.form = "/auth/signout", v.b.posting() }},
	{name: "logout by the provider", again: byProvider, before: func(v *visit) {
		byProvider(v, v.b)
		v.logoutAt(v.person)
	}},
	{
		name: "registering a passkey", settled: "create session", signsIn: true, again: byPasskey,
		before: func(v *visit) { v.ceremony(v.b, "register") }},
	{
		name: "signing in by passkey", settled: "create session", signsIn: true, again: byPasskey, before: func(v *visit) {
			byPasskey(v, v.browser())
			v.ceremony(v.b, "authenticate")
		}},
	{name: "adding a passkey", again: byMail,
		before: func(v *visit) { byMail(v, v.b); v.ceremony(v.b, "register") }},
	{
		name: "signing up with a password", settled: "create record signup", costly: true, again: bySignUp,
		before: func(v *visit) {
			v.target, v.form = "/auth/password/sign-up", v.b.posting("email", address(v.person), "password", goodWord)
		}},
	{
		name: "confirming a sign-up", settled: "create session", costly: true, signsIn: true, again: bySignUp,
		before: func(v *visit) {
			v.b.post("/auth/password/sign-up", "email", address(v.person), "password", goodWord)
			v.keeps(token(v.letter(address(v.person), core.LetterVerify)))
			v.target, v.form = "/auth/password/confirm", v.b.posting("token", v.secrets[len(v.secrets)-1])
		}},
	{
		name: "signing in by password", settled: "create session", costly: true, signsIn: true, again: byPassword,
		before: func(v *visit) {
			bySignUp(v, v.browser())
			v.target, v.form = "/auth/callback/password", v.b.posting("email", address(v.person), "password", goodWord)
		}},
	{
		name: "resetting a password", settled: "update record password", costly: true, again: byPassword,
		before: func(v *visit) {
			bySignUp(v, v.browser())
			v.openReset(v.b)
			v.target, v.form = "/auth/password/reset", v.b.posting("newPassword", newWord)
		}},
	{
		name: "changing a password", settled: "update record password", costly: true, again: byPassword,
		before: func(v *visit) {
			bySignUp(v, v.b)
			v.target, v.form = "/auth/password/change", v.b.posting("current", goodWord, "newPassword", newWord)
		}},
	{
		name: "the account page", atOnce: true, reads: true, again: byMail,
		before: func(v *visit) { byMail(v, v.b); v.target = "/auth/account" }},
	{
		name: "ending other sessions", settled: "delete session", atOnce: true, again: byMail, before: func(v *visit) {
			byMail(v, v.browser())
			byMail(v, v.b)
			v.target, v.form = "/auth/account/end", v.b.posting("session", "others")
		}},
	{
		name: "unlinking a provider", settled: "unlink account", atOnce: true, again: byMail, before: func(v *visit) {
			byMail(v, v.b)
			byProvider(v, v.b)
			var page struct{ Accounts []struct{ ID string } }
			v.read(v.b, &page)
			v.target, v.form = "/auth/account/unlink", v.b.posting("account", page.Accounts[0].ID)
		}},
	{name: "asking for another address", atOnce: true, again: byMail, before: func(v *visit) {
		byMail(v, v.b)
		v.target, v.form = "/auth/account/email", v.b.posting("email", "new-"+address(v.person))
	}},
	{name: "confirming another address", atOnce: true, settled: "update user", before: func(v *visit) {
		byMail(v, v.b)
		v.b.post("/auth/account/email", "email", "new-"+address(v.person))
		v.keeps(token(v.letter("new-"+address(v.person), core.LetterEmailChange)))
		v.target, v.form = "/auth/account/confirm", v.b.posting("token", v.secrets[len(v.secrets)-1])
	}, again: func(v *visit, _ *browser) string {
		// The same link, where it was not used; one of the two addresses is the person's.
		v.b.post("/auth/account/confirm", "token", v.secrets[len(v.secrets)-1])
		if who := v.b.who(); who != "" {
			return strings.TrimPrefix(who, "new-")
		}
		moved := *v
		moved.person, moved.b = "new-"+v.person, v.browser()
		return strings.TrimPrefix(byMail(&moved, moved.b), "new-")
	}},
	{
		name: "deleting the account", atOnce: true, settled: "delete user", signsOut: true, again: byMail,
		before: func(v *visit) {
			byMail(v, v.b)
			v.target, v.form = "/auth/account/delete", v.b.posting("phrase", "delete my account")
		}},
}

// keeps notes a secret that no log may have.
func (v *visit) keeps(secret string) { v.secrets = append(v.secrets, secret) }

// toProvider begins a sign-in at the provider and returns where it sends the browser.
func (v *visit) toProvider(b *browser) string {
	v.Helper()
	begun := b.post("/auth/signin/p")
	at, err := url.Parse(begun.Redirect)
	if err != nil || begun.Err != nil {
		v.Fatalf("a sign-in was answered %d %q: %v, %v", begun.Status, begun.Redirect, begun.Err, err)
	}
	v.keeps(at.Query().Get("state"))
	answer := url.Values{"code": {v.person}}
	if state := at.Query().Get("state"); state != "" {
		answer.Set("state", state)
	}
	return "/auth/callback/p?" + answer.Encode()
}

func byProvider(v *visit, b *browser) string {
	v.Helper()
	b.get(v.toProvider(b))
	return b.who()
}

// link asks for a letter and returns where its link leads.
func (v *visit) link(b *browser) string {
	v.Helper()
	b.post("/auth/signin/email", "email", address(v.person))
	l := v.letter(address(v.person), core.LetterSignIn)
	v.keeps(token(l))
	return strings.TrimPrefix(string(l.URL), home)
}

func byMail(v *visit, b *browser) string {
	v.Helper()
	b.get(v.link(b))
	return b.who()
}

// ceremony asks for a challenge; the request with its answer is the next.
func (v *visit) ceremony(b *browser, action string) {
	v.Helper()
	target := "/auth/webauthn-options/passkey?action=" + action
	if action == "register" && b.cookies[sessionCookie] == "" {
		target += "&email=" + url.QueryEscape(address(v.person))
	}
	var body struct{ Options struct{ Challenge string } }
	if err := json.Unmarshal(b.get(target).Body, &body); err != nil {
		v.Fatal(err)
	}
	v.count++
	x := authenticator.Ceremony{Challenge: body.Options.Challenge, Origin: home, RPID: "app.test", Counter: v.count}
	answer := v.key.Authenticate
	if action == "register" {
		answer = v.key.Register
	}
	v.target, v.form = "/auth/callback/passkey", b.posting("action", action, "data", answer(x))
}

func byPasskey(v *visit, b *browser) string {
	v.Helper()
	for _, action := range []string{"authenticate", "register"} {
		v.ceremony(b, action)
		b.request(b.Context(), b.well, http.MethodPost, v.target, v.form)
		if who := b.who(); who != "" {
			return who
		}
	}
	return ""
}

func byPassword(v *visit, b *browser) string {
	v.Helper()
	for _, word := range []string{goodWord, newWord} {
		b.post("/auth/callback/password", "email", address(v.person), "password", word)
		if who := b.who(); who != "" {
			return who
		}
	}
	return ""
}

// bySignUp signs in with the password, or signs up for one.
func bySignUp(v *visit, b *browser) string {
	v.Helper()
	if who := byPassword(v, b); who != "" {
		return who
	}
	b.post("/auth/password/sign-up", "email", address(v.person), "password", goodWord)
	kinds := []core.LetterKind{core.LetterVerify}
	if v.left {
		kinds = append(kinds, core.LetterExists)
	}
	for range 2 { // a letter of before may be on its way, whose link has given way to the new one
		l := v.letter(address(v.person), kinds...)
		if l.Kind == core.LetterExists {
			return byReset(v, b)
		}
		b.post("/auth/password/confirm", "token", token(l))
		if who := b.who(); who != "" {
			return who
		}
	}
	return ""
}

// byReset is the way of somebody who is known and has no password: they choose one by a letter, and sign in with it.
func byReset(v *visit, b *browser) string {
	v.Helper()
	v.openReset(b)
	b.post("/auth/password/reset", "newPassword", newWord)
	return byPassword(v, b)
}

// openReset asks for a letter to choose a new password, and opens its link.
func (v *visit) openReset(b *browser) {
	v.Helper()
	b.post("/auth/password/forgot", "email", address(v.person))
	v.keeps(token(v.letter(address(v.person), core.LetterReset)))
	b.get("/auth/password/reset?token=" + url.QueryEscape(v.secrets[len(v.secrets)-1]))
}

// logoutAt has the provider end the sessions of a subject.
func (v *visit) logoutAt(subject string) {
	v.Helper()
	u, err := v.store.UserByAccount(v.Context(), "p", subject)
	if err != nil {
		v.Fatal(err)
	}
	err = v.store.LinkAccount(v.Context(), &core.Account{
		UserID: u.ID, Type: core.TypeOIDC, Provider: "o", ProviderAccountID: subject,
	})
	if err != nil {
		v.Fatal(err)
	}
	v.target = "/auth/backchannel-logout/o"
	v.form = url.Values{"logout_token": {logoutToken(subject, v.clock.Now())}}
}

// read asks for the account page as data.
func (v *visit) read(b *browser, into any) {
	v.Helper()
	r := &core.Request{
		Method: http.MethodGet, Target: "/auth/account", Hosts: []string{"app.test"}, Scheme: "https",
		Header: http.Header{"Accept": {"application/json"}},
	}
	var pairs []string
	for name, value := range b.cookies {
		pairs = append(pairs, name+"="+url.QueryEscape(value))
	}
	r.Header.Set("Cookie", strings.Join(pairs, "; "))
	if err := json.Unmarshal(b.well.Handle(b.Context(), r).Body, into); err != nil {
		v.Fatal(err)
	}
}
