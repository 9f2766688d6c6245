package password_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
)

// alone makes the email address optional.
func alone(o *password.Options, _ *core.Config) {
	o.Usernames = password.Usernames{On: true, Alone: true}
}

// codeForm is the form of a recovery code that users see.
var codeForm = regexp.MustCompile(`^[0-9][0-9A-HJKMNP-TV-Z]{3}(-[0-9A-HJKMNP-TV-Z]{4}){3}$`)

// codesIn returns the recovery codes in a JSON response.
func codesIn(t testing.TB, r *core.Response) []string {
	t.Helper()
	var answer struct {
		Next          string
		URL           string
		RecoveryCodes []string
	}
	_ = json.Unmarshal(r.Body, &answer)
	if r.Status != 200 || answer.Next != "done" || len(answer.RecoveryCodes) != 10 || answer.URL == "" {
		t.Fatalf("answered %d %s; %v", r.Status, r.Body, r.Err)
	}
	for _, code := range answer.RecoveryCodes {
		if !codeForm.MatchString(code) {
			t.Errorf("the code %q", code)
		}
	}
	return answer.RecoveryCodes
}

// signUpAlone signs up without an email address.
func (w *world) signUpAlone(name, secret string) (*browser, []string) {
	w.t.Helper()
	b := w.visit()
	return b, codesIn(w.t, b.post("password/sign-up", "username", name, "password", secret, "callbackUrl", "/orders"))
}

// name returns the name of the session's user, or "".
func (b *browser) name() string {
	var answer struct{ User struct{ Name string } }
	_ = json.Unmarshal(b.get("/auth/session").Body, &answer)
	return answer.User.Name
}

// entersAs signs in with a new browser, and returns the name of the user.
func (w *world) entersAs(name, secret string) string {
	w.t.Helper()
	b := w.visit()
	b.post("callback/password", "email", name, "password", secret)
	return b.name()
}

// recover uses a recovery code in a new browser.
func (w *world) recover(name, code, secret string) *core.Response {
	w.t.Helper()
	return w.visit().post("password/recover", "username", name, "code", code, "newPassword", secret)
}

// TestAlone: a user signs up with a username and a password, and sets a new password with a recovery code, under both
// strategies, with and without transactions, and in two processes.
func TestAlone(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		for _, tx := range []bool{true, false} {
			as := func(_ *password.Options, c *core.Config) { c.Session.Strategy = strategy }
			w := site(t, alone, as, transactions(tx))
			b, codes := w.signUpAlone(" Ada.L ", good)
			if b.name() != "ada.l" || b.session() != "" {
				t.Fatalf("signed in as %q with the address %q", b.name(), b.session())
			}
			if w.entersAs("ada.l", good) != "ada.l" || w.entersAs("ada.l", evil) != "" {
				t.Error("the username does not sign in, or signs in with a wrong password")
			}
			r := w.visit().post("password/sign-up", "username", "ADA.L", "password", evil)
			says(t, r, 409, "username_taken")

			other := site(t, alone, as, func(_ *password.Options, c *core.Config) { c.Store = w.store }, transactions(tx))
			typed := strings.ToLower(strings.ReplaceAll(codes[3], "-", " "))
			r = other.recover("ada.l", typed, better)
			says(t, r, 200, "signin")
			if !strings.Contains(string(r.Body), `"left":9`) {
				t.Errorf("answered %s", r.Body)
			}
			if w.entersAs("ada.l", good) != "" || w.entersAs("ada.l", better) != "ada.l" {
				t.Error("the password was not replaced")
			}
			if strategy == core.StrategyDatabase && b.name() != "" {
				t.Error("the session from before the recovery is valid")
			}
			says(t, w.recover("ada.l", codes[3], evil), 422, "recovery_wrong")
			says(t, w.recover("ada.l", codes[4], good), 200, "signin")
			for _, record := range w.store.all(t, "username-recovery") {
				for _, code := range codes {
					if strings.Contains(record, code) || strings.Contains(record, strings.ReplaceAll(code, "-", "")) {
						t.Errorf("the store has the code %s", code)
					}
				}
			}
			w.clean(codes...)
		}
	}
}

// all returns the values of the records of a kind.
func (s *troubled) all(t testing.TB, kind string) (values []string) {
	t.Helper()
	records, _, err := s.ListRecords(t.Context(), kind, "", "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		values = append(values, string(r.Value))
	}
	if len(values) == 0 || slices.Contains(values, "") {
		t.Errorf("%d records of kind %s", len(values), kind)
	}
	return values
}
