package people_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/providers/password"
)

// nameSite is an application whose users need no address, in two processes that share a store and a mailbox.
type nameSite struct {
	*factorSite
	box *mailbox.Mailbox
}

func newNameSite(t *testing.T, kept core.Store, strategy core.Strategy) *nameSite {
	t.Helper()
	s := &nameSite{&factorSite{T: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}, mailbox.New()}
	many := limit.Rate{Burst: 10_000, Every: time.Millisecond}
	few := limit.Rates{
		Network: many, Identifier: many, Visitor: limit.Rate{Burst: 9_999, Every: time.Millisecond},
	}
	for i := range s.auths {
		auth, err := core.New(core.Config{
			URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
			Getenv: func(string) string { return "" }, StoreTimeout: time.Minute,
			Session: core.SessionConfig{Strategy: strategy, Revocation: core.Revocation{Every: time.Nanosecond}},
			Now:     func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now },
			Limits: core.Limits{Rates: map[limit.Attempt]limit.Rates{
				limit.AttemptSignUp: {Network: many}, limit.AttemptMail: {Network: many},
				limit.AttemptCode: few, limit.AttemptCredentials: few,
			}},
			Plugins: []core.Plugin{account.New(account.Options{
				Mail: s.box, Download: true, Delete: func(context.Context, *core.User) error { return nil },
			})},
			Providers: []core.Provider{password.New(password.Options{
				Mail: s.box, Usernames: password.Usernames{On: true, Alone: true}, MaxConcurrent: 32,
				Hash: cheap,
			})},
		})
		check(t, err)
		s.auths[i] = auth
	}
	return s
}

// signUp signs up without an address, and returns the browser and the recovery codes.
func (s *nameSite) signUp(process int, name, secret string) (b *factorBrowser, codes []string) {
	b = s.browse(process)
	_, body := b.send("POST", "password/sign-up", url.Values{"username": {name}, "password": {secret}})
	var answer struct{ RecoveryCodes []string }
	_ = json.Unmarshal(body, &answer)
	return b, answer.RecoveryCodes
}

// enters reports whether a password signs in.
func (s *nameSite) enters(process int, name, secret string) bool {
	b := s.browse(process)
	b.send("POST", "callback/password", url.Values{"email": {name}, "password": {secret}})
	return b.signedIn()
}

// recovers reports whether a recovery code sets a password.
func (s *nameSite) recovers(process int, name, code, secret string) bool {
	status, _ := s.browse(process).send("POST", "password/recover", url.Values{
		"username": {name}, "code": {code}, "newPassword": {secret},
	})
	return status == http.StatusOK
}

// TestUsernamesAlone signs users up without an address, in two processes, on the store of each database and with both
// strategies. Of concurrent sign-ups with one name and of concurrent uses of one code, one succeeds. Later an address
// is added, and the deletion of the account frees the name.
func TestUsernamesAlone(t *testing.T) {
	for _, engine := range stores {
		for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
			t.Run(engine.name+", "+string(strategy), func(t *testing.T) {
				t.Parallel()
				kept := engine.empty(t)
				usernamesAlone(t, newNameSite(t, kept, strategy), kept.(store.RecordStore))
			})
		}
	}
}

const racingNames = 6

func usernamesAlone(t *testing.T, s *nameSite, records store.RecordStore) {
	const name = "ada.l"
	secret := func(i int) string { return fmt.Sprintf("violet otter ladder %d", i) }
	var codes []string
	winner := -1
	browsers, sets := make([]*factorBrowser, racingNames), make([][]string, racingNames)
	won := together(racingNames, func(i int) bool {
		browsers[i], sets[i] = s.signUp(i, name, secret(i))
		return len(sets[i]) == 10
	})
	entering := 0
	for i := range racingNames {
		if len(sets[i]) == 10 {
			winner, codes = i, sets[i]
		}
		if s.enters(i, name, secret(i)) {
			entering++
		}
	}
	if won != 1 || entering != 1 || !browsers[winner].signedIn() {
		t.Fatalf("%d sign-ups with one name succeeded, %d passwords sign in", won, entering)
	}
	claim, err := records.Record(t.Context(), "username", name)
	check(t, err)

	won = together(racingNames, func(i int) bool { return s.recovers(i, name, codes[3], secret(100+i)) })
	current := -1
	for i := range racingNames {
		if s.enters(i+1, name, secret(100+i)) {
			current = 100 + i
		}
	}
	if won != 1 || current < 0 {
		t.Fatalf("%d of %d uses of one code succeeded, and password %d signs in", won, racingNames, current)
	}
	s.wait(time.Second) // a process knows the sessions that another one has ended after Revocation.Every
	if s.enters(0, name, secret(winner)) || browsers[winner].signedIn() {
		t.Fatal("after the recovery, the old password signs in, or the old session continues")
	}
	if s.recovers(0, name, codes[3], secret(1)) || s.recovers(1, "nobody", codes[4], secret(1)) {
		t.Error("a used code, or one of another user, sets a password")
	}
	// Different codes at the same time are all used up.
	used := together(4, func(i int) bool { return s.recovers(i, name, codes[5+i], secret(200+i)) })
	b := s.browse(0)
	for i := range 4 {
		b.send("POST", "callback/password", url.Values{"email": {name}, "password": {secret(200 + i)}})
	}
	if !b.signedIn() {
		b.send("POST", "callback/password", url.Values{"email": {name}, "password": {secret(current)}})
	}
	if _, body := b.send("GET", "password/recovery-codes", nil); string(body) != fmt.Sprintf(`{"left":%d}`, 9-used) {
		t.Errorf("after %d more codes: %s", used, body)
	}
	_, body := b.send("POST", "password/recovery-codes", url.Values{})
	var fresh struct{ RecoveryCodes []string }
	if err := json.Unmarshal(body, &fresh); err != nil || len(fresh.RecoveryCodes) != 10 {
		t.Fatalf("new codes: %s", body)
	}
	if s.recovers(1, name, codes[9], secret(1)) {
		t.Error("an old code sets a password")
	}
	s.addsAddress(t, b, name)
	if !s.recovers(1, name, fresh.RecoveryCodes[0], secret(300)) || !s.enters(0, "ada@example.com", secret(300)) {
		t.Error("after an address was added, a code does not set a password")
	}

	b = s.browse(1)
	b.send("POST", "callback/password", url.Values{"email": {name}, "password": {secret(300)}})
	if status, body := b.send("POST", "account/download", url.Values{}); status != http.StatusOK ||
		!strings.Contains(string(body), `"username": "ada.l"`) || !strings.Contains(string(body), `"recoveryCodes": 9`) ||
		strings.Contains(string(body), "salted") {
		t.Errorf("the download is %d %s", status, body)
	}
	if status, body := b.send("POST", "account/delete", url.Values{"phrase": {"delete my account"}}); status >= 400 {
		t.Fatalf("the deletion is answered %d %s", status, body)
	}
	for _, kind := range []string{"username-recovery", "user-name", "password"} {
		if _, err := records.Record(t.Context(), kind, claim.UserID); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("after the deletion there is a record of kind %s: %v", kind, err)
		}
	}
	if _, again := s.signUp(0, name, secret(400)); len(again) != 10 || !s.enters(1, name, secret(400)) {
		t.Error("the name cannot be used again after the deletion")
	}
}

// addsAddress adds an address on the account page.
func (s *nameSite) addsAddress(t *testing.T, b *factorBrowser, name string) {
	t.Helper()
	const address = "ada@example.com"
	if status, body := b.send("POST", "account/email", url.Values{"email": {address}}); status >= 400 {
		t.Fatalf("the address: %d %s", status, body)
	}
	check(t, b.auth.FlushMail(t.Context()))
	for _, m := range s.box.Mails() {
		if m.To != address {
			t.Errorf("an email to %q", m.To)
		}
	}
	link, err := url.Parse(s.box.Mails()[0].URL)
	check(t, err)
	form := url.Values{"token": {link.Query().Get("token")}}
	if status, body := b.send("POST", "account/confirm", form); status >= 400 || !b.signedIn() {
		t.Fatalf("the confirmation: %d %s", status, body)
	}
}
