package core_test

import (
	"encoding/base64"
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

const (
	challengeCookie = "__Secure-authjs.challenge"
	passkeyCallback = "/auth/callback/passkey"
)

// ceremonies is an application with passkeys, one of them stored: ada's, with the credential id "key". The browser is
// ada's, signed in.
func ceremonies(t *testing.T, change ...func(*core.Config)) (*town, *browser) {
	t.Helper()
	w := newTown(t, power{true, true, true, true}, core.StrategyJWT, change...)
	ada := w.browser()
	w.signedIn(ada, w.through(ada, "plain", "ada", "ada@x.example", ""))
	w.signedIn(ada, w.passkey(ada, "action=register", "register", "key"))
	return w, ada
}

// beginCeremony asks for options.
func beginCeremony(t *testing.T, b *browser, action string) {
	t.Helper()
	r := b.get("/auth/webauthn-options/passkey?action=" + action)
	if r.Status != 200 || b.cookies[challengeCookie] == "" {
		t.Fatalf("options answered %d: %s", r.Status, r.Body)
	}
}

// assertion is the form with an answer, by a passkey of that name.
func assertion(action, name string) url.Values {
	id := base64.RawURLEncoding.EncodeToString([]byte(name))
	return url.Values{"action": {action}, "data": {`{"id":"` + id + `"}`}}
}

// TestPasskeyAnswersNeedTheSite posts answers as programs and pages do: without a word of this site, by its Origin
// header or by the token of its pages, nobody is signed in.
func TestPasskeyAnswersNeedTheSite(t *testing.T) {
	t.Parallel()
	w, _ := ceremonies(t)
	for _, row := range []struct {
		name, origin string
		token, good  bool
	}{
		{"nothing", "", false, false},
		{"the token", "", true, true},
		{"the origin", "https://app.test", false, true},
		{"another origin", "https://evil.example", false, false},
		{"no origin that could be named", "null", false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := w.browser()
			beginCeremony(t, b, "authenticate")
			form := assertion("authenticate", "key")
			if row.token {
				form.Set("csrfToken", b.csrf())
			}
			if row.origin != "" {
				b.header.Set("Origin", row.origin)
			}
			r := b.post(passkeyCallback, form)
			if good := w.who(b) != ""; good != row.good || !good && !errors.Is(r.Err, core.ErrMissingCSRF) {
				t.Errorf("signed in %t: %v", good, r.Err)
			}
		})
	}
}

// TestPasskeyAnswersArePosted has a link answer a ceremony, with the fields where a GET could have them.
func TestPasskeyAnswersArePosted(t *testing.T) {
	t.Parallel()
	w, _ := ceremonies(t)
	b := w.browser()
	beginCeremony(t, b, "authenticate")
	b.header.Set("Origin", "https://app.test")
	form := assertion("authenticate", "key")
	form.Set("csrfToken", b.csrf())
	r := b.send("GET", passkeyCallback+"?"+form.Encode(), "application/x-www-form-urlencoded", form.Encode())
	if !errors.Is(r.Err, core.ErrInvalidProvider) || w.who(b) != "" || b.cookies[challengeCookie] == "" {
		t.Errorf("signed in as %q: %v", w.who(b), r.Err)
	}
}

// TestOneRegistration answers the challenge of a registration twice, with the cookies of before the first answer.
func TestOneRegistration(t *testing.T) {
	t.Parallel()
	w, ada := ceremonies(t)
	beginCeremony(t, ada, "register")
	copied := w.browser()
	ada.csrf()
	copied.cookies = maps.Clone(ada.cookies)
	w.signedIn(ada, ada.submit(passkeyCallback, assertion("register", "second")))
	r := copied.submit(passkeyCallback, assertion("register", "third"))
	if !errors.Is(r.Err, core.ErrInvalidCheck) || len(w.passkeys) != 2 {
		t.Errorf("%d passkeys: %v", len(w.passkeys), r.Err)
	}
}

// TestOneAttemptAtAChallenge: the cookie of a challenge goes with the first answer, a good one or a bad one.
func TestOneAttemptAtAChallenge(t *testing.T) {
	t.Parallel()
	w, _ := ceremonies(t)
	for name, good := range map[string]bool{"key": true, "nobody's": false} {
		b := w.browser()
		beginCeremony(t, b, "authenticate")
		r := b.submit(passkeyCallback, assertion("authenticate", name))
		if (w.who(b) != "") != good || b.cookies[challengeCookie] != "" {
			t.Errorf("%s: signed in as %q, cookie %q: %v", name, w.who(b), b.cookies[challengeCookie], r.Err)
		}
	}
}

// TestChallengeOfTheOtherCeremony answers a challenge of one ceremony as if it were one of the other.
func TestChallengeOfTheOtherCeremony(t *testing.T) {
	t.Parallel()
	w, ada := ceremonies(t)
	for asked, answered := range map[string]string{"register": "authenticate", "authenticate": "register"} {
		beginCeremony(t, ada, asked)
		name := map[string]string{"register": "another", "authenticate": "key"}[answered]
		r := ada.submit(passkeyCallback, assertion(answered, name))
		if !errors.Is(r.Err, core.ErrInvalidCheck) || len(w.passkeys) != 1 {
			t.Errorf("%s answered by %s: %d passkeys, %v", asked, answered, len(w.passkeys), r.Err)
		}
	}
}

// swapped attests another credential than the answer names.
type swapped struct{ anyPasskey }

func (swapped) VerifyRegistration(data []byte, want core.WebAuthnCeremony) (*store.Authenticator, error) {
	if strings.Contains(string(data), base64.RawURLEncoding.EncodeToString([]byte("named"))) {
		data = []byte(assertion("", "attested").Get("data"))
	}
	return anyPasskey{}.VerifyRegistration(data, want)
}

// TestAttestedCredential names another credential beside the attested one.
func TestAttestedCredential(t *testing.T) {
	t.Parallel()
	w, ada := ceremonies(t, verifier(swapped{}))
	beginCeremony(t, ada, "register")
	r := ada.submit(passkeyCallback, assertion("register", "named"))
	if !errors.Is(r.Err, core.ErrWebAuthnVerification) || len(w.passkeys) != 1 {
		t.Errorf("%d passkeys: %v", len(w.passkeys), r.Err)
	}
}

// TestCredentialIDsAreBounded: an id has up to 1023 bytes (WebAuthn section 4), and no longer one reaches the store.
func TestCredentialIDsAreBounded(t *testing.T) {
	t.Parallel()
	w, _ := ceremonies(t)
	for length, asks := range map[int]bool{0: false, 1: true, 1023: true, 1024: false, 4000: false} {
		b, asked := w.browser(), false
		beginCeremony(t, b, "authenticate")
		w.at = func(method string) { asked = asked || method == "Authenticator" }
		r := b.submit(passkeyCallback, assertion("authenticate", strings.Repeat("k", length)))
		w.at = nil
		if r.Err == nil || asked != asks {
			t.Errorf("%d bytes: the store was asked %t: %v", length, asked, r.Err)
		}
	}
}

// TestCeremoniesAreCounted asks for challenges until there are no more: each costs an answer, and names show passkeys.
func TestCeremoniesAreCounted(t *testing.T) {
	t.Parallel()
	w, _ := ceremonies(t)
	b := w.browser()
	for n := range 1000 {
		r := b.get("/auth/webauthn-options/passkey?action=authenticate")
		if r.Status == 429 {
			return
		}
		if r.Status != 200 {
			t.Fatalf("the %d. time: %d %v", n+1, r.Status, r.Err)
		}
	}
	t.Error("1000 challenges for one visitor")
}
