package people_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/apidoc"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/dev/authenticator"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// passkeySite is an application on which users sign up with a passkey, in two processes that share a store.
type passkeySite struct {
	*factorSite
	kept    core.Store
	checker *apidoc.Checker
	mails   struct {
		sync.Mutex
		last map[string]core.Email
	}
}

// Send implements [core.Mailer].
func (s *passkeySite) Send(_ context.Context, e core.Email) error {
	s.mails.Lock()
	defer s.mails.Unlock()
	s.mails.last[e.To] = e
	return nil
}

func newPasskeySite(t *testing.T, kept core.Store, strategy core.Strategy) *passkeySite {
	t.Helper()
	s := &passkeySite{factorSite: &factorSite{T: t, now: time.Now().UTC().Truncate(time.Second)}, kept: kept}
	s.mails.last = map[string]core.Email{}
	for i := range s.auths {
		plugins := []core.Plugin{
			account.New(account.Options{Delete: func(context.Context, *core.User) error { return nil }}),
		}
		if _, ok := kept.(store.Transactor); ok {
			plugins = append(plugins, guest.New(guest.Options{}))
		}
		auth, err := core.New(core.Config{
			URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
			Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, InsecureNoLimits: true,
			EnableWebAuthn: true,
			Now:            func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now },
			Logger:         slog.New(slog.DiscardHandler), Session: core.SessionConfig{Strategy: strategy},
			Providers: []core.Provider{webauthn.WithSignUp(nil, webauthn.SignUpOptions{Mail: s, Code: true})},
			Plugins:   plugins,
		})
		check(t, err)
		s.auths[i] = auth
	}
	var err error
	s.checker, err = apidoc.New(t.Context(), s.auths[0])
	check(t, err)
	return s
}

// call sends a request, and compares the response with the OpenAPI document.
func (s *passkeySite) call(b *factorBrowser, method, path string, fields url.Values) []byte {
	s.Helper()
	status, body := b.send(method, path, fields)
	contentType := "application/json"
	if bytes.Contains(body, []byte(`"code":`)) {
		contentType = "application/problem+json"
	}
	r := httptest.NewRequest(method, "https://app.example/auth/"+path, nil)
	if err := s.checker.Check(r, status, http.Header{"Content-Type": {contentType}}, body); err != nil {
		s.Errorf("%s %s: %d %s: %v", method, path, status, body, err)
	}
	return body
}

// verify requests the email and opens its link, or enters its code. It returns the form that creates the passkey.
func (s *passkeySite) verify(b *factorBrowser, email, credential string, byCode bool) url.Values {
	s.Helper()
	s.call(b, "POST", "passkey/sign-up", url.Values{"email": {email}})
	check(s.T, b.auth.FlushMail(s.Context()))
	s.mails.Lock()
	mail := s.mails.last[email]
	s.mails.Unlock()
	if mail.Kind != mailkind.VerifyPasskey {
		s.Fatalf("email %v", mail)
	}
	if byCode {
		s.call(b, "POST", "passkey/code", url.Values{"code": {string(mail.Code)}})
	} else {
		s.call(b, "GET", strings.TrimPrefix(string(mail.URL), "https://app.example/auth/"), nil)
	}
	var state struct{ Link, Email string }
	check(s.T, json.Unmarshal(s.call(b, "GET", "passkey/create", nil), &state))
	if state.Email != email {
		s.Fatalf("the sign-up of %q is %+v", email, state)
	}
	var o struct {
		Options struct{ Challenge string }
	}
	check(s.T, json.Unmarshal(s.call(b, "GET", "passkey/options?link="+state.Link, nil), &o))
	data := authenticator.New(credential).Register(authenticator.Ceremony{
		Challenge: o.Options.Challenge, Origin: "https://app.example", RPID: "app.example",
	})
	return url.Values{"link": {state.Link}, "action": {"register"}, "data": {data}}
}

// passkeysOf returns the number of passkeys and accounts of the user with an address, and their ID.
func (s *passkeySite) passkeysOf(email string) (keys, accounts int, id string) {
	s.Helper()
	user, err := s.kept.UserByEmail(s.Context(), email)
	check(s.T, err)
	all, err := s.kept.(store.AuthenticatorStore).Authenticators(s.Context(), user.ID)
	check(s.T, err)
	linked, err := s.kept.(store.AccountStore).Accounts(s.Context(), user.ID)
	check(s.T, err)
	if user.EmailVerified.IsZero() {
		s.Errorf("the address of %s is not verified", email)
	}
	return len(all), len(linked), user.ID
}

// guest returns the ID of the only guest.
func (s *passkeySite) guest() string {
	s.Helper()
	for cursor := ""; ; {
		page, next, err := s.kept.(store.RecordLister).ListRecords(s.Context(), "guest", "", cursor, 10)
		check(s.T, err)
		if len(page) == 1 {
			return page[0].UserID
		}
		if cursor = next; next == "" {
			s.Fatal("there is no guest")
		}
	}
}

// TestPasskeySignUps signs users up with a passkey on each store, by link and by code, and upgrades a guest. Of
// concurrent sign-ups with one address, in two processes, one creates the user. A passkey that another user has is
// refused, and leaves nothing. All responses are as in the OpenAPI document.
func TestPasskeySignUps(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, _ *core.User) {
		s := newPasskeySite(t, kept, strategy)
		for _, byCode := range []bool{false, true} {
			email := fmt.Sprintf("new-%v@example.com", byCode)
			b := s.browse(0)
			if s.call(b, "POST", "passkey/create", s.verify(b, email, email, byCode)); !b.signedIn() {
				t.Errorf("code %v: no session", byCode)
			}
			if keys, accounts, _ := s.passkeysOf(email); keys != 1 || accounts != 1 {
				t.Errorf("%d passkeys, %d accounts", keys, accounts)
			}
		}

		const raced = "raced@example.com"
		var all []*factorBrowser
		var forms []url.Values
		for i := range 8 {
			b := s.browse(i)
			all, forms = append(all, b), append(forms, s.verify(b, raced, fmt.Sprint("raced", i), false))
		}
		together(len(all), func(i int) bool { all[i].send("POST", "passkey/create", forms[i]); return true })
		signedIn := 0
		for _, b := range all {
			if b.signedIn() {
				signedIn++
			}
		}
		if keys, accounts, _ := s.passkeysOf(raced); keys != 1 || accounts != 1 || signedIn != 1 {
			t.Errorf("%d passkeys, %d accounts, %d sessions", keys, accounts, signedIn)
		}

		thief := s.browse(0)
		form := s.verify(thief, "thief@example.com", "new-false@example.com", false)
		body := s.call(thief, "POST", "passkey/create", form)
		if _, err := kept.UserByEmail(t.Context(), "thief@example.com"); err == nil || thief.signedIn() {
			t.Errorf("a passkey of another user: %s", body)
		}
		id := base64.StdEncoding.EncodeToString([]byte("new-false@example.com"))
		_, _, owner := s.passkeysOf("new-false@example.com")
		if a, err := kept.(store.AccountStore).Account(t.Context(), "passkey", id); err != nil || a.UserID != owner {
			t.Errorf("account %+v, %v", a, err)
		}

		if _, ok := kept.(store.Transactor); !ok { // there are no guests
			return
		}
		b := s.browse(1)
		b.send("POST", "guest", url.Values{})
		var after struct{ User struct{ Email string } }
		guestID := s.guest()
		b.send("POST", "passkey/create", s.verify(b, "guest@example.com", "guest", false))
		_, body = b.send("GET", "session", nil)
		check(t, json.Unmarshal(body, &after))
		if keys, _, id := s.passkeysOf("guest@example.com"); after.User.Email != "guest@example.com" || keys != 1 ||
			id != guestID {
			t.Errorf("the guest %s is %s with %d passkeys, session %+v", guestID, id, keys, after)
		}
	})
}
