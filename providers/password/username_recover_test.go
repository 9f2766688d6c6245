package password_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
)

// wrongCode has the form of a recovery code.
const wrongCode = "3AAA-AAAA-AAAA-AAAA"

// TestAloneRules: a sign-up without an address needs a valid username and a password that is not the username. With an
// address it is confirmed as always.
func TestAloneRules(t *testing.T) {
	t.Parallel()
	w := site(t, alone, func(o *password.Options, _ *core.Config) { o.Usernames.Reserved = []string{"acme"} })
	for name, row := range map[string]struct{ username, secret, display, want string }{
		"no name":         {"", good, "", "username_invalid"},
		"bad name":        {"a b", good, "", "username_invalid"},
		"an address":      {ada, good, "", "username_invalid"},
		"reserved":        {"acme", good, "", "username_taken"},
		"short":           {"ada.l", "short", "", "password_short"},
		"common":          {"ada.l", "passwordpassword", "", "password_common"},
		"the own name":    {"ada.lovelace", "ada.lovelace ada.lovelace", "", "password_context"},
		"the site's name": {"ada.l", "app.test app.test app.test", "", "password_context"},
		"bad full name":   {"ada.l", good, "a\x01b", "name_invalid"},
	} {
		r := w.visit().post("password/sign-up", "username", row.username, "password", row.secret, "name", row.display)
		if !strings.Contains(string(r.Body), `"code":"`+row.want+`"`) || r.Status < 400 {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	r := w.visit().post("password/sign-up", "username", "ada.l", "password", good, "email", "ada@")
	says(t, r, 422, "email_invalid")
	b := w.visit()
	says(t, b.post("password/sign-up", "username", "ada.l", "password", good, "email", ada), 202, "mail")
	if b.name() != "" {
		t.Error("signed in without a confirmation")
	}
	b.post("password/confirm", "token", token(t, w.newestEmail(ada, mailkind.Verify)))
	if b.session() != ada || w.signIn("ada.l", good) != ada {
		t.Error("no session after the confirmation")
	}
	off := site(t, withNames)
	says(t, off.visit().post("password/sign-up", "username", "ada.l", "password", good), 422, "email_invalid")
	if r := off.visit().post("password/recover", "username", "ada.l"); r.Status != 400 && r.Status != 404 {
		t.Errorf("without the option, recovery is answered %d %s", r.Status, r.Body)
	}
}

// TestAloneConfiguration: contradicting options are configuration errors.
func TestAloneConfiguration(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]password.Options{
		"Usernames.Alone is set and Usernames.On is not": {Usernames: password.Usernames{Alone: true}},
		"Usernames.Alone is set and SignUp is ByInvitation": {
			Usernames: password.Usernames{On: true, Alone: true}, SignUp: password.ByInvitation,
		},
		"the column of the email address is NOT NULL": {Usernames: password.Usernames{On: true, Alone: true}},
		"": {Usernames: password.Usernames{On: true, Alone: true}, SignUp: password.Closed},
	} {
		o.Mail = &postbox{}
		_, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test",
			Store:  notNull{site(t).store, strings.Contains(want, "NOT NULL")},
			Getenv: func(string) string { return "" }, Providers: []core.Provider{password.New(o)},
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// notNull is a store whose column of the address may be NOT NULL.
type notNull struct {
	*troubled
	is bool
}

func (s notNull) RequiresEmail() bool { return s.is }

// TestAloneFaults: whichever call of the store fails, there is no half user: afterwards the username can be used for a
// sign-up, or its user can sign in.
func TestAloneFaults(t *testing.T) {
	t.Parallel()
	for _, tx := range []bool{true, false} {
		for _, call := range []string{
			"Record username", "InTransaction", "CreateUser", "CreateRecord password", "CreateRecord username-recovery",
			"CreateRecord username", "CreateRecord user-name", "UpdateRecord username", "CreateSession",
		} {
			w := site(t, alone, transactions(tx))
			b := w.visit()
			csrf := b.csrf()
			w.store.took()
			w.store.failing(call)
			r := b.send("POST", "/auth/password/sign-up", "application/x-www-form-urlencoded",
				encode("csrfToken", csrf, "username", "ada.l", "password", good))
			met := w.store.count(call) > 0
			w.store.failing("")
			if !met {
				continue
			}
			if r.Status < 500 || strings.Contains(string(r.Body), "recoveryCodes") {
				t.Errorf("%s, transactions %t: answered %d %s", call, tx, r.Status, r.Body)
			}
			w.advance(11 * time.Minute)
			if call == "CreateSession" {
				if w.entersAs("ada.l", good) != "ada.l" {
					t.Errorf("%s, transactions %t: the account cannot be used", call, tx)
				}
				continue
			}
			if w.signUpAlone("ada.l", better); w.entersAs("ada.l", good) != "" || w.entersAs("ada.l", better) == "" {
				t.Errorf("%s, transactions %t: a half account", call, tx)
			}
		}
	}
}

// TestAloneDenied: a sign-up that Callbacks.SignIn denies or redirects writes nothing and shows no codes.
func TestAloneDenied(t *testing.T) {
	t.Parallel()
	var answer func() (core.SignInResult, error)
	w := site(t, alone, func(_ *password.Options, c *core.Config) {
		c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
			if p.User.Name != "ada.l" || p.User.Email != "" {
				t.Errorf("asked about %q %q", p.User.Name, p.User.Email)
			}
			return answer()
		}
	})
	for name, result := range map[string]core.SignInResult{
		"denied": core.Deny(), "redirected": core.RedirectTo("/waiting-list"),
	} {
		answer = func() (core.SignInResult, error) { return result, nil }
		w.store.took()
		r := w.visit().post("password/sign-up", "username", "ada.l", "password", good)
		if strings.Contains(string(r.Body), "recoveryCodes") || w.store.count("CreateUser")+w.store.count("InTr") > 0 {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	answer = func() (core.SignInResult, error) { return core.Allow(), nil }
	w.signUpAlone("ada.l", good)
}

// TestRecoverFaults: whichever call of the store fails, either the old password stays valid and the code works
// afterwards, or the code was used and the new password is valid.
func TestRecoverFaults(t *testing.T) {
	t.Parallel()
	for _, call := range []string{
		"Record username", "Record user-name", "User", "Record username-recovery", "Record password", "Sessions",
		"UpdateRecord username-recovery", "UpdateRecord password",
	} {
		w := site(t, alone)
		_, codes := w.signUpAlone("ada.l", good)
		b := w.visit()
		csrf := b.csrf()
		w.store.took()
		w.store.failing(call)
		r := b.send("POST", "/auth/password/recover", "application/x-www-form-urlencoded",
			encode("csrfToken", csrf, "username", "ada.l", "code", codes[0], "newPassword", better))
		if w.store.count(call) == 0 {
			t.Errorf("%s is not called", call)
		}
		w.store.failing("")
		if r.Status < 500 || w.entersAs("ada.l", good) == "" || w.entersAs("ada.l", better) != "" {
			t.Errorf("%s: answered %d %s", call, r.Status, r.Body)
		}
		says(t, w.recover("ada.l", codes[0], better), 200, "signin")
	}
}

// TestRecoverUnrestored: if a code cannot be restored after a failure, it stays used.
func TestRecoverUnrestored(t *testing.T) {
	t.Parallel()
	w := site(t, alone)
	_, codes := w.signUpAlone("ada.l", good)
	// New codes are created between the failure and the restoration.
	var fresh []string
	w.store.before("UpdateRecord password", func() {
		fresh = w.renew("ada.l", good)
		w.store.failing("UpdateRecord password")
	})
	if r := w.recover("ada.l", codes[0], better); r.Status < 500 {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	w.store.failing("")
	says(t, w.recover("ada.l", codes[0], better), 422, "recovery_wrong")
	says(t, w.recover("ada.l", fresh[0], better), 200, "signin")
}

// renew signs in and creates new codes.
func (w *world) renew(name, secret string) []string {
	w.t.Helper()
	b := w.visit()
	b.post("callback/password", "email", name, "password", secret)
	return codesIn(w.t, b.post("password/recovery-codes"))
}

// TestUnknownRecovery: the response and the calls to the store are the same for an unknown username, a user without
// codes and a wrong code.
func TestUnknownRecovery(t *testing.T) {
	t.Parallel()
	w := site(t, alone)
	w.signUpAlone("ada.l", good)
	w.signUpAlone("bob", good)
	if _, err := w.store.DeleteUserRecords(t.Context(), w.owner("bob"), "username-recovery"); err != nil {
		t.Fatal(err)
	}
	try := func(name, code string) (answer string, calls []string) {
		b := w.visit()
		csrf := b.csrf()
		w.store.took()
		r := b.send("POST", "/auth/password/recover", "application/x-www-form-urlencoded",
			encode("csrfToken", csrf, "username", name, "code", code, "newPassword", better))
		body := regexp.MustCompile(`"reference":"[a-z0-9]+"`).ReplaceAllString(string(r.Body), "")
		return fmt.Sprint(r.Status, " ", body, r.Redirect), w.store.took()
	}
	known, calls := try("ada.l", wrongCode)
	if !strings.Contains(known, "422") || !strings.Contains(known, "recovery_wrong") {
		t.Fatalf("a wrong code is answered %s", known)
	}
	for _, row := range []struct{ name, code string }{
		{"bob", wrongCode}, {"nobody", wrongCode}, {"", wrongCode}, {"-", wrongCode}, {"a b", wrongCode},
		{strings.Repeat("x", 1000), wrongCode}, {"ada.l", ""}, {"ada.l", "x"}, {"nobody", ""},
		{"ada.l", strings.Repeat("3", 1000)},
	} {
		if answer, took := try(row.name, row.code); answer != known || !slices.Equal(took, calls) {
			t.Errorf("%.20q %.20q: %s, calls %v; want %s, calls %v", row.name, row.code, answer, took, known, calls)
		}
	}
	if !slices.Contains(calls, "Record username-recovery") {
		t.Errorf("calls %v", calls)
	}
}

// owner returns the ID of the user of a name.
func (w *world) owner(name string) string {
	w.t.Helper()
	r, err := w.store.Store.Record(w.t.Context(), "username", name)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.UserID
}

// TestRecoverLimits: wrong codes are counted for the name, whether or not it exists, and do not prevent sign-ins. A
// right code gives its attempt back, and resets the count of wrong passwords.
func TestRecoverLimits(t *testing.T) {
	t.Parallel()
	limited := func(_ *password.Options, c *core.Config) {
		c.InsecureNoLimits = false
		c.Limits.Rates = map[limit.Attempt]limit.Rates{limit.AttemptSignUp: {Network: limit.Rate{Burst: 100, Every: 1}}}
	}
	w := site(t, alone, limited)
	_, codes := w.signUpAlone("ada.l", good)
	for i, code := range codes { // more than the limit of wrong codes
		w.advance(time.Minute) // of the limit of the network
		if r := w.recover("ada.l", code, fmt.Sprintf("violet otter ladder %d", i)); r.Status != 200 {
			t.Fatalf("right code %d: %d %s", i, r.Status, r.Body)
		}
	}
	for _, name := range []string{"ada.l", "nobody"} {
		refused := 0
		for i := range 100 {
			from := fmt.Sprintf("192.0.2.%d:1", i+1)
			b := w.visit()
			b.from = from
			r := b.post("password/recover", "username", name, "code", wrongCode, "newPassword", better)
			switch r.Status {
			case 429:
				refused++
			case 422:
			default:
				t.Fatalf("%s: %d %s", name, r.Status, r.Body)
			}
		}
		if refused != 90 {
			t.Errorf("%s: %d of 100 wrong codes are refused", name, refused)
		}
	}
	if w.entersAs("ada.l", "violet otter ladder 9") != "ada.l" {
		t.Error("wrong codes prevent the sign-in")
	}
}

// TestRecoverResetsFailures: after many wrong passwords in a row, a recovery code is the way back.
func TestRecoverResetsFailures(t *testing.T) {
	t.Parallel()
	w := site(t, alone, func(_ *password.Options, c *core.Config) { c.InsecureNoLimits = false })
	_, codes := w.signUpAlone("ada.l", good)
	for i := range 300 {
		w.advance(10 * time.Minute)
		b := w.visit()
		b.from = fmt.Sprintf("198.51.100.%d:1", i%200+1)
		b.post("callback/password", "email", "ada.l", "password", evil)
	}
	w.advance(time.Hour)
	if w.entersAs("ada.l", good) != "" {
		t.Fatal("300 wrong passwords in a row, and the password still signs in")
	}
	says(t, w.recover("ada.l", codes[0], better), 200, "signin")
	if w.entersAs("ada.l", better) != "ada.l" {
		t.Error("the new password does not sign in")
	}
}

// TestRecoveryCodesOfSession: a signed-in user sees the number of codes, and creates new ones after a recent sign-in.
// The old ones are void. Without an address they cannot be removed.
func TestRecoveryCodesOfSession(t *testing.T) {
	t.Parallel()
	w := site(t, alone)
	b, codes := w.signUpAlone("ada.l", good)
	if r := b.get("/auth/password/recovery-codes"); string(r.Body) != `{"left":10}` {
		t.Errorf("answered %s", r.Body)
	}
	fresh := codesIn(t, b.post("password/recovery-codes"))
	says(t, w.recover("ada.l", codes[0], better), 422, "recovery_wrong")
	says(t, b.post("password/remove-recovery-codes"), 409, "no_address")
	w.advance(time.Hour)
	for _, verb := range []string{"recovery-codes", "remove-recovery-codes"} {
		if r := b.post("password/" + verb); r.Status < 400 {
			t.Errorf("%s an hour after the sign-in: %d %s", verb, r.Status, r.Body)
		}
	}
	says(t, w.recover("ada.l", fresh[0], better), 200, "signin")
	if r := w.visit().post("password/recovery-codes"); r.Status != 401 {
		t.Errorf("without a session: %d", r.Status)
	}
	without := w.signUp(ada, good)
	says(t, without.post("password/recovery-codes"), 409, "username_missing")
}

// withAddress adds a verified address to a user, as the account page does.
func (w *world) withAddress(name, email string) *core.User {
	w.t.Helper()
	u, err := w.store.Store.User(w.t.Context(), w.owner(name))
	if err == nil {
		u.Email, u.EmailVerified = email, w.Now()
		u, err = w.store.UpdateUser(w.t.Context(), u)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return u
}

// TestAddressLater: after the user has added an address, the password, the codes and the reset by email work. A changed
// password stays valid too, and the codes can be removed.
func TestAddressLater(t *testing.T) {
	t.Parallel()
	w := site(t, alone)
	b, codes := w.signUpAlone("ada.l", good)
	says(t, b.post("password/change", "current", good, "newPassword", better), 200, "done")
	b.accept = "text/html"
	if page := string(b.get("/auth/password/done").Body); strings.Contains(page, "emailed") {
		t.Errorf("the page says that an email was sent: %s", page)
	}
	b.accept = "application/json"
	w.withAddress("ada.l", ada)
	if w.signIn("ada.l", better) != ada || w.signIn(ada, better) != ada {
		t.Fatal("the password is void after an address was added")
	}
	says(t, w.recover("ada.l", codes[0], good), 200, "signin")
	w.newestEmail(ada, mailkind.PasswordChanged)
	w.reset(ada, better)
	says(t, w.recover("ada.l", codes[1], good), 200, "signin")
	again := w.visit()
	again.post("callback/password", "email", ada, "password", good)
	codesIn(t, again.post("password/recovery-codes"))
	w.newestEmail(ada, mailkind.RecoveryRenewed)
	says(t, again.post("password/remove-recovery-codes"), 200, "done")
	if r := again.get("/auth/password/recovery-codes"); string(r.Body) != `{"left":0}` {
		t.Errorf("answered %s", r.Body)
	}
}

// TestResetRemovesRecoveryCodes: the owner who resets the password by email sees codes that were created in the last
// month, possibly by an attacker, and can remove them.
func TestResetRemovesRecoveryCodes(t *testing.T) {
	t.Parallel()
	for _, age := range []time.Duration{30 * 24 * time.Hour, 32 * 24 * time.Hour} {
		for _, removes := range []bool{false, true} {
			w := site(t, alone)
			_, codes := w.signUpAlone("ada.l", good)
			w.withAddress("ada.l", ada)
			w.advance(age)
			b := w.open(w.forgot(ada))
			b.accept = "text/html"
			page := string(b.get("/auth/password/reset").Body)
			if shown := strings.Contains(page, `name="remove-recovery-codes"`); shown != (age < 31*24*time.Hour) {
				t.Errorf("after %v the codes are shown: %t", age, shown)
			}
			b.accept = "application/json"
			fields := []string{"newPassword", better}
			if removes {
				fields = append(fields, "remove-recovery-codes", "yes")
			}
			r := b.post("password/reset", fields...)
			says(t, r, 200, "signin")
			if strings.Contains(string(r.Body), "Recovery codes") != removes {
				t.Errorf("answered %s", r.Body)
			}
			if works := w.recover("ada.l", codes[0], evil).Status == 200; works == removes {
				t.Errorf("removed %t: a code works: %t", removes, works)
			}
		}
	}
}

// TestDisavowedCodes: "This wasn't me" removes the codes if they were created or used by another person.
func TestDisavowedCodes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		kind    mailkind.Kind
		method  string
		removed bool
	}{
		{mailkind.RecoveryRenewed, "username", true}, {mailkind.RecoveryRenewed, "", false},
		{mailkind.PasswordChanged, "", true}, {mailkind.PasskeyAdded, "", false},
	} {
		plugin := &disavowing{}
		w := site(t, alone, func(_ *password.Options, c *core.Config) { c.Plugins = append(c.Plugins, plugin) })
		b, _ := w.signUpAlone("ada.l", good)
		u := w.withAddress("ada.l", ada)
		codesIn(t, b.post("password/recovery-codes"))
		w.newestEmail(ada, mailkind.RecoveryRenewed)
		if len(plugin.links) != 1 || plugin.links[0].Method != "username" {
			t.Fatalf("links of %+v", plugin.links)
		}
		plugin.notice = core.SecurityNotice{Kind: row.kind, Method: row.method, UserID: u.ID, At: w.Now()}
		w.visit().post("toy/reverse")
		_, err := w.store.Record(t.Context(), "username-recovery", u.ID)
		if (err != nil) != row.removed {
			t.Errorf("%s %q: %v", row.kind, row.method, err)
		}
	}
}

// TestFiftyRecoveries: of fifty concurrent uses of one code, one succeeds, and its password is valid. Ten concurrent
// codes are all used up.
func TestFiftyRecoveries(t *testing.T) {
	t.Parallel()
	for _, tx := range []bool{true, false} {
		w := site(t, alone, patient, transactions(tx))
		other := site(t, alone, patient, func(_ *password.Options, c *core.Config) { c.Store = w.store }, transactions(tx))
		_, codes := w.signUpAlone("ada.l", good)
		secret := func(i int) string { return strings.Repeat(string(rune('A'+i)), 3) + " quiet lanterns" }
		won := race(func(i int) bool {
			at := []*world{w, other}[i%2]
			return at.recover("ada.l", codes[0], secret(i)).Status == 200
		})
		valid := 0
		for i := range racers {
			if w.entersAs("ada.l", secret(i)) != "" {
				valid++
			}
		}
		if won != 1 || valid != 1 {
			t.Errorf("%d recoveries, %d passwords are valid", won, valid)
		}
	}
}

// TestRecoverMeanwhile: a code that another request uses after it was compared does not set a password, and a code that
// was compared before new codes were created neither.
func TestRecoverMeanwhile(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(w *world, code string){
		"used":     func(w *world, code string) { says(w.t, w.recover("ada.l", code, good), 200, "signin") },
		"replaced": func(w *world, _ string) { w.renew("ada.l", good) },
	} {
		w := site(t, alone)
		_, codes := w.signUpAlone("ada.l", good)
		w.store.before("UpdateRecord username-recovery", func() { meanwhile(w, codes[0]) })
		says(t, w.recover("ada.l", codes[0], better), 422, "recovery_wrong")
		if w.entersAs("ada.l", better) != "" || w.entersAs("ada.l", good) == "" {
			t.Errorf("%s: the password was replaced", name)
		}
	}
}

// TestRecoverChanged: if the password is changed while a code is used, the change wins and the code stays valid.
func TestRecoverChanged(t *testing.T) {
	t.Parallel()
	w := site(t, alone)
	_, codes := w.signUpAlone("ada.l", good)
	other := site(t)
	other.signUp(ada, better)
	// The record of the codes is written between the read and the write of the password.
	w.store.before("UpdateRecord username-recovery", func() {
		id := w.owner("ada.l")
		if err := w.provider.Remove(t.Context(), id); err != nil {
			t.Error(err)
		}
		if err := w.provider.Import(t.Context(), id, other.hash(ada)); err != nil {
			t.Error(err)
		}
	})
	says(t, w.recover("ada.l", codes[0], evil), 409, "password_changed")
	if w.entersAs("ada.l", better) == "" || w.entersAs("ada.l", evil) != "" {
		t.Error("the recovery wins")
	}
	says(t, w.recover("ada.l", codes[0], evil), 200, "signin")
}

// TestRecoverAudit: each use of a code is audited, and a wrong one without a user.
func TestRecoverAudit(t *testing.T) {
	t.Parallel()
	var events []string
	w := site(t, alone, func(_ *password.Options, c *core.Config) {
		c.Audit = func(_ context.Context, e audit.Event) {
			if e.Name != audit.SignIn && e.Name != audit.Config {
				events = append(events, fmt.Sprintf("%s %s %s %t", e.Name, e.Outcome, e.Reason, e.UserID != ""))
			}
		}
	})
	_, codes := w.signUpAlone("ada.l", good)
	w.recover("ada.l", codes[0], better)
	w.recover("nobody", codes[0], better)
	want := []string{
		"password.set ok  true", "username.changed ok  true", "recovery.renewed ok  true", "user.created ok  true",
		"signup ok  true", "recovery.used ok  true", "password.set ok  true", "recovery.used refused credentials false",
	}
	kept := slices.DeleteFunc(events, func(e string) bool { return strings.HasPrefix(e, "sessions.ended") })
	if !slices.Equal(kept, want) {
		t.Errorf("events %q, want %q", kept, want)
	}
}

// TestRecoverChallenge: a sign-up and a recovery need the token of a CAPTCHA service.
func TestRecoverChallenge(t *testing.T) {
	t.Parallel()
	w := challenged(t, alone)
	up := func(token string) *core.Response {
		return w.visit().post("password/sign-up", "username", "ada.l", "password", good, "captcha", token)
	}
	says(t, up(""), 403, "challenge_failed")
	codes := codesIn(t, up("sign-up-right"))
	use := func(token string) *core.Response {
		return w.visit().post("password/recover", "username", "ada.l", "code", codes[0], "newPassword", better, "captcha",
			token)
	}
	says(t, use("sign-up-right"), 403, "challenge_failed")
	if page := w.person().get("/auth/password/recover"); !strings.Contains(string(page.Body), `data-action="reset"`) {
		t.Error("the page has no widget")
	}
	says(t, use("reset-right"), 200, "signin")
}

// TestAlonePages: each step works in a browser without JavaScript.
func TestAlonePages(t *testing.T) {
	t.Parallel()
	shows := &sections{}
	w := site(t, alone, func(_ *password.Options, c *core.Config) { c.Plugins = append(c.Plugins, shows) })
	shows.provider = w.provider
	b := w.person()
	has := func(page *core.Response, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(string(page.Body), text) {
				t.Errorf("%d: the page has no %q: %s", page.Status, text, page.Body)
			}
		}
	}
	form := b.get("/auth/password/sign-up?username=eve")
	has(form, `name="username"`, "Email (optional)", "Without an email")
	if strings.Contains(string(form.Body), "eve") {
		t.Error("a link fills in the form")
	}
	has(b.post("password/sign-up", "username", "a b", "password", good), "Use 3 to 32", `value="a b"`, "aria-invalid")
	done := b.post("password/sign-up", "username", "ada.l", "password", good, "callbackUrl", "/orders")
	has(done, "Save your recovery codes", "https://app.test/orders", "data:text/plain;charset=utf-8;base64,")
	codes := regexp.MustCompile(`[0-9A-Z]{4}(-[0-9A-Z]{4}){3}`).FindAllString(string(done.Body), -1)
	if len(codes) != 10 || b.name() != "ada.l" {
		t.Fatalf("codes %q, session of %q", codes, b.name())
	}
	if done.Header.Get("Cache-Control") == "" || !strings.Contains(done.Header.Get("Cache-Control"), "no-store") {
		t.Errorf("the page may be stored: %v", done.Header)
	}
	has(b.get("/auth/password/recovery-codes"), "Recovery codes left: 10.", "Create new codes")
	has(b.post("password/recovery-codes"), "Save your recovery codes")
	has(b.get("/auth/toy/section"), "Recovery codes left: 10.", "/auth/password/recovery-codes", "ada.l")
	out := w.person()
	has(out.get("/auth/password/forgot"), "/auth/password/recover", "Use a recovery code")
	page := out.get("/auth/password/recover?username=eve&code=1")
	has(page, `name="username"`, `name="code"`, `name="newPassword"`)
	if strings.Contains(string(page.Body), "eve") {
		t.Error("a link fills in the form")
	}
	wrong := out.post("password/recover", "username", "ada.l", "code", codes[0], "newPassword", better)
	has(wrong, "username or recovery code", `value="ada.l"`)
	if strings.Contains(string(wrong.Body), codes[0]) {
		t.Error("the form repeats the code")
	}
	has(out.post("password/recover", "username", "ada.l", "code", codes[1], "newPassword", "short"), "at least 15")
	off := site(t, withNames)
	if strings.Contains(string(off.person().get("/auth/password/forgot").Body), "password/recover") {
		t.Error("without the option, the page links to the recovery")
	}
}

// TestRecoveredPage: the page after a recovery says how many codes remain, and asks for new ones if few do.
func TestRecoveredPage(t *testing.T) {
	t.Parallel()
	w := site(t, alone)
	_, codes := w.signUpAlone("ada.l", good)
	for i, code := range codes {
		page := string(w.person().post("password/recover", "username", "ada.l", "code", code, "newPassword",
			fmt.Sprintf("violet otter ladder %d", i)).Body)
		left := 9 - i
		if !strings.Contains(page, fmt.Sprintf("Recovery codes left: %d.", left)) ||
			strings.Contains(page, "create new ones") != (left <= 2) {
			t.Errorf("%d codes are left: %s", left, page)
		}
	}
}

// TestBreachedAlone: after a breach of the password, a user without an address continues with a recovery code.
func TestBreachedAlone(t *testing.T) {
	t.Parallel()
	l := &leaks{}
	w := site(t, alone, func(o *password.Options, _ *core.Config) { o.Breached, o.BreachedAtSignIn = l.breached, true })
	_, codes := w.signUpAlone("ada.l", good)
	l.leak(good)
	b := w.visit()
	b.post("callback/password", "email", "ada.l", "password", good)
	r := b.get("/auth/password/breached")
	says(t, r, 409, "no_address")
	says(t, b.post("password/breached"), 409, "no_address")
	b.accept = "text/html"
	page := string(b.get("/auth/password/breached").Body)
	if !strings.Contains(page, "one of your recovery codes") || !strings.Contains(page, "/auth/password/recover") {
		t.Errorf("the page is %s", page)
	}
	says(t, w.recover("ada.l", codes[0], good), 422, "password_breached")
	says(t, w.recover("ada.l", codes[0], better), 200, "signin")
	if w.entersAs("ada.l", better) != "ada.l" {
		t.Error("the new password does not sign in")
	}
}

// TestAloneFields: the fields of the application are checked and saved, and a failure leaves no user.
func TestAloneFields(t *testing.T) {
	t.Parallel()
	w, app := crewSite(t, alone)
	up := func(company string) *core.Response {
		return w.visit().post("password/sign-up", "username", "ada.l", "password", good, "company", company)
	}
	says(t, up(""), 422, "field_required")
	app.fails = errEngine
	if r := up("Acme"); r.Status < 500 || w.entersAs("ada.l", good) != "" {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	app.fails, app.panics = nil, true
	if r := up("Acme"); r.Status < 500 || w.entersAs("ada.l", good) != "" {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	app.panics = false
	codesIn(t, up("Acme"))
	if saved := app.saved[w.owner("ada.l")]; saved["company"] != "Acme" || w.entersAs("ada.l", good) != "ada.l" {
		t.Errorf("saved %v", saved)
	}
}

// sections is a plugin that shows the section of the account page.
type sections struct{ provider *password.Provider }

func (p *sections) Attach(h *core.PluginHost) error {
	h.AddAction(core.Action{
		Method: "GET", Name: "toy", Verb: "section",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			section, err := p.provider.AccountSection(ctx, c)
			if err != nil {
				return nil, err
			}
			page := c.Page("")
			return c.Render(ctx, 200, page, section), nil
		},
	})
	return nil
}

// TestResetLink: an administrator gives a link to a user without an address. It sets a new password once, and proves no
// address.
func TestResetLink(t *testing.T) {
	t.Parallel()
	w := site(t, alone)
	b, codes := w.signUpAlone("ada.l", good)
	id := w.owner("ada.l")
	link, err := w.provider.ResetLink(t.Context(), id)
	if err != nil || strings.Contains(fmt.Sprint(link), "token=") {
		t.Fatalf("the link prints as %v, %v", link, err)
	}
	at, err := url.Parse(string(link))
	if err != nil || at.Host != "app.test" {
		t.Fatalf("the link is %s, %v", string(link), err)
	}
	token := at.Query().Get("token")
	says(t, w.open(token).post("password/reset", "newPassword", better), 200, "signin")
	if w.entersAs("ada.l", better) != "ada.l" || w.entersAs("ada.l", good) != "" || b.name() != "" {
		t.Error("the password was not replaced, or a session is still valid")
	}
	if u, err := w.store.Store.User(t.Context(), id); err != nil || !u.EmailVerified.IsZero() {
		t.Errorf("the address is verified: %+v, %v", u, err)
	}
	says(t, w.open(token).post("password/reset", "newPassword", evil), 400, "link_invalid")
	says(t, w.recover("ada.l", codes[0], good), 200, "signin")
	w.clean(token)

	expired, err := w.provider.ResetLink(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	w.advance(31 * time.Minute)
	at, _ = url.Parse(string(expired))
	says(t, w.open(at.Query().Get("token")).post("password/reset", "newPassword", evil), 400, "link_invalid")

	with := w.withAddress("ada.l", ada)
	if link, err := w.provider.ResetLink(t.Context(), with.ID); err == nil || !strings.Contains(err.Error(), "SendReset") {
		t.Errorf("for a user with an address: %s, %v", string(link), err)
	}
	if _, err := w.provider.ResetLink(t.Context(), "nobody"); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("for nobody: %v", err)
	}
	w.signUpAlone("bob", good)
	bob := w.owner("bob")
	w.store.failing("CreateRecord reset")
	if link, err := w.provider.ResetLink(t.Context(), bob); err == nil || link != "" {
		t.Errorf("without the store: %s, %v", string(link), err)
	}
}
