package faults

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/dev/authenticator"
)

// visit is a user in one flow.
type visit struct {
	*site
	person string
	b      *browser
	key    *authenticator.Credential
	app    string // the secret of the authenticator app
	// bearer is the API key, refresh the refresh token, and device the response to the device's request. If calls is set,
	// the request is one with the key.
	bearer, refresh string
	calls           bool
	device          struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
	}
	count uint32 // the passkey's counter
	// target and form are the request with the failure. Without a form it is a GET.
	target string
	form   url.Values
	// held is the session cookie before the request.
	held    string
	secrets []string
	// left is set if a new user may remain without a password or an account. The store's timeout, which is short here,
	// may have stopped the cleanup on a busy machine. The user can then sign in by email.
	left bool
}

const (
	goodWord, newWord = "violet otter ladder", "seven quiet lanterns"
)

// flow is a flow: the steps before the request with the failure, and the second attempt.
type flow struct {
	name   string
	before func(v *visit)
	// again signs the user in again and returns the email of the session's user.
	again func(v *visit, b *browser) string
	// challenge is set if the request belongs to a challenge or a state in a cookie, which works once. consumes is the
	// call after which the request cannot be repeated for another reason, which the flow states.
	challenge bool
	consumes  string
	// If signsIn is set, success creates a new session. If signsOut is set, the browser's session ends even if the flow
	// fails.
	signsIn, signsOut bool
	// reads is set if the flow writes nothing that a user needs. A failing request may then succeed with less data.
	reads bool
	// settled is the store call that completes the user's request. A later failure is only logged.
	settled string
	// atOnce is set if calls run concurrently and in random order.
	atOnce bool
	// program is set if the request has a credential of a program. A failure must not read as a wrong credential.
	program bool
	// once is the store call that fails with a duplicate key if the credential of a program was used before.
	once string
	// costly is set if the flow hashes passwords.
	costly bool
	// grace is account.Options.DeleteAfter.
	grace time.Duration
}

// quietly are the store calls whose failure the response does not report, with the reason.
var quietly = map[string]string{
	"read record invite":    "an invitation expires, and is valid for one address, which now has a user",
	"read record passkey":   "the last use of a passkey is only shown to its user",
	"create record passkey": "as above", "update record passkey": "as above",
	"delete record account-lock": "a lock expires",
	"read record link-sent":      "it only prevents a second email within minutes",
	"create record link-sent":    "as above", "delete record link-sent": "as above",
	"create record method":  "the date of a sign-in method is only for the list of a reset",
	"create record session": "the data in a list of sessions is not part of the session",
	"read record session":   "as above", "list records session": "as above", "update record session": "as above",
	"delete record session": "as above", "delete records session": "as above",
}

var flows = []*flow{
	{name: "first sign-in at a provider", challenge: true, settled: "create session", signsIn: true, again: byProvider,
		before: func(v *visit) { v.target = v.toProvider(v.b) }},
	{name: "returning from a provider", challenge: true, settled: "create session", signsIn: true, again: byProvider,
		before: func(v *visit) { byProvider(v, v.browser()); v.target = v.toProvider(v.b) }},
	{name: "linking a provider", challenge: true, settled: "create record method",
		again:  func(v *visit, _ *browser) string { return byProvider(v, v.b) },
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
		name: "registering a passkey", challenge: true, settled: "create session", signsIn: true, again: byPasskey,
		before: func(v *visit) { v.ceremony(v.b, "register") }},
	{
		name: "signing in by passkey", challenge: true, settled: "create session", signsIn: true, again: byPasskey,
		before: func(v *visit) {
			byPasskey(v, v.browser())
			v.ceremony(v.b, "authenticate")
		}},
	{name: "adding a passkey", settled: "create record method", challenge: true, again: byMail,
		before: func(v *visit) { byMail(v, v.b); v.ceremony(v.b, "register") }},
	{
		name: "signing up with a password", settled: "create record signup", costly: true, again: bySignUp,
		before: func(v *visit) {
			v.target, v.form = "/auth/password/sign-up", v.b.posting("email", address(v.person), "password", goodWord)
		}},
	{
		// The user exists, and can sign in with the password.
		name: "confirming a sign-up", settled: "create session", consumes: "create record password", costly: true,
		signsIn: true, again: bySignUp,
		before: func(v *visit) {
			v.b.post("/auth/password/sign-up", "email", address(v.person), "password", goodWord)
			v.keeps(token(v.letter(address(v.person), mailkind.Verify)))
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
		v.keeps(token(v.letter("new-"+address(v.person), mailkind.AddressChange)))
		v.target, v.form = "/auth/account/confirm", v.b.posting("token", v.secrets[len(v.secrets)-1])
	}, again: func(v *visit, _ *browser) string {
		// The same link, if it was not used. One of the two addresses is the user's.
		v.b.post("/auth/account/confirm", "token", v.secrets[len(v.secrets)-1])
		if who := v.b.who(); who != "" {
			return strings.TrimPrefix(who, "new-")
		}
		moved := *v
		moved.person, moved.b = "new-"+v.person, v.browser()
		return strings.TrimPrefix(byMail(&moved, moved.b), "new-")
	}},
	{
		// Sessions end first, so that none remains. The user signs in again.
		name: "deleting the account", atOnce: true, settled: "delete user", consumes: "delete sessions", signsOut: true,
		again: byMail,
		before: func(v *visit) {
			byMail(v, v.b)
			v.target, v.form = "/auth/account/delete", v.b.posting("phrase", "delete my account")
		}},
	{
		name: "asking for a deletion", atOnce: true, settled: "create record account-deletion", signsOut: true,
		grace: 14 * 24 * time.Hour, again: byKeeping,
		before: func(v *visit) {
			byMail(v, v.b)
			v.target, v.form = "/auth/account/delete", v.b.posting("phrase", "delete my account")
		}},
	{
		name: "keeping the account", settled: "update record account-deletion", signsIn: true,
		grace: 14 * 24 * time.Hour, again: byKeeping,
		before: func(v *visit) {
			byMail(v, v.b)
			v.b.post("/auth/account/delete", "phrase", "delete my account")
			if who := byMail(v, v.b); who != "" {
				v.Fatalf("the sign-in of %s did not wait for the decision", who)
			}
			v.target, v.form = "/auth/account/keep", v.b.posting()
		}},
	{
		// A code is accepted once. The app shows another one in the next half minute.
		name: "a code of an authenticator app", settled: "create session", consumes: "update record factors", signsIn: true,
		again: byCode,
		before: func(v *visit) {
			v.enrolled()
			v.b.get(v.link(v.b))
			v.target, v.form = "/auth/second-factor", v.b.posting("code", v.code())
		}},
	{
		name: "enrolling an authenticator app", settled: "create record factors", again: byMaybeCode,
		before: func(v *visit) {
			byMail(v, v.b)
			shown := regexp.MustCompile(`<code dir="ltr">([A-Z2-7 ]+)</code>`).FindSubmatch(
				v.b.get("/auth/second-factor/enroll").Body)
			if shown == nil {
				v.Fatal("the page has no secret")
			}
			v.app = strings.ReplaceAll(string(shown[1]), " ", "")
			v.keeps(v.app)
			v.target, v.form = "/auth/second-factor/enroll", v.b.posting("code", v.code())
		}},
}

// appKey is the secret of all authenticator apps that are imported.
const appKey = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

// enrolled gives the user an authenticator app.
func (v *visit) enrolled() {
	v.Helper()
	byMail(v, v.browser())
	u, err := v.store.UserByEmail(v.Context(), address(v.person))
	if err == nil {
		err = v.factors.Import(v.Context(), u.ID, "otpauth://totp/App?secret="+appKey)
	}
	if err != nil {
		v.Fatal(err)
	}
	v.app = appKey
	v.keeps(appKey)
}

// code returns the present code of the app (RFC 6238).
func (v *visit) code() string {
	key, _ := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(v.app)
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(v.clock.Now().Unix()/30)))
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}

// byCode signs in by email and with the next code. There is no session before the code.
func byCode(v *visit, b *browser) string {
	v.Helper()
	v.clock.wait(time.Minute)
	if who := byMail(v, b); who != "" {
		return "without a code: " + who
	}
	b.post("/auth/second-factor", "code", v.code())
	return b.who()
}

// byMaybeCode signs in by email, and with a code if the enrollment has succeeded.
func byMaybeCode(v *visit, b *browser) string {
	v.Helper()
	v.clock.wait(time.Minute)
	if who := byMail(v, b); who != "" {
		return who
	}
	b.post("/auth/second-factor", "code", v.code())
	return b.who()
}

// byKeeping signs in by email, and keeps the account if its deletion is scheduled.
func byKeeping(v *visit, b *browser) string {
	v.Helper()
	if who := byMail(v, b); who != "" {
		return who
	}
	b.post("/auth/account/keep")
	return b.who()
}

// keeps records a secret that must not be in any log.
func (v *visit) keeps(secret string) { v.secrets = append(v.secrets, secret) }

// toProvider starts a sign-in at the provider and returns the redirect URL.
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

// link requests an email and returns its link.
func (v *visit) link(b *browser) string {
	v.Helper()
	b.post("/auth/signin/email", "email", address(v.person))
	l := v.letter(address(v.person), mailkind.SignIn)
	v.keeps(token(l))
	return strings.TrimPrefix(string(l.URL), home)
}

func byMail(v *visit, b *browser) string {
	v.Helper()
	b.get(v.link(b))
	return b.who()
}

// ceremony requests a challenge. The request with the response to it is the next one.
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

// bySignUp signs in with the password, or signs up with one.
func bySignUp(v *visit, b *browser) string {
	v.Helper()
	if who := byPassword(v, b); who != "" {
		return who
	}
	b.post("/auth/password/sign-up", "email", address(v.person), "password", goodWord)
	kinds := []mailkind.Kind{mailkind.Verify}
	if v.left {
		kinds = append(kinds, mailkind.Exists)
	}
	for range 2 { // an earlier email may arrive late; its link was replaced by the new one
		l := v.letter(address(v.person), kinds...)
		if l.Kind == mailkind.Exists {
			return byReset(v, b)
		}
		b.post("/auth/password/confirm", "token", token(l))
		if who := b.who(); who != "" {
			return who
		}
	}
	return ""
}

// byReset signs in an existing user without a password: with a password reset and the new password.
func byReset(v *visit, b *browser) string {
	v.Helper()
	v.openReset(b)
	b.post("/auth/password/reset", "newPassword", newWord)
	return byPassword(v, b)
}

// openReset requests a password reset and opens the link in the email.
func (v *visit) openReset(b *browser) {
	v.Helper()
	b.post("/auth/password/forgot", "email", address(v.person))
	v.keeps(token(v.letter(address(v.person), mailkind.Reset)))
	b.get("/auth/password/reset?token=" + url.QueryEscape(v.secrets[len(v.secrets)-1]))
}

// logoutAt makes the provider end a subject's sessions.
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

// read requests the account page as JSON.
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
