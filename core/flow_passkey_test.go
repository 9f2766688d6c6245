package core_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

const (
	challengeCookie = "__Secure-authjs.challenge"
	passkeyCallback = "/auth/callback/passkey"
)

// ceremonies returns an application with passkeys. One is stored: ada's, with the credential ID "key". Ada is signed in
// in the browser.
func ceremonies(t *testing.T, change ...func(*core.Config)) (*town, *browser) {
	t.Helper()
	w := newTown(t, power{true, true, true, true}, core.StrategyJWT, change...)
	ada := w.browser()
	w.signedIn(ada, w.through(ada, "plain", "ada", "ada@x.example", ""))
	w.signedIn(ada, w.passkey(ada, "action=register", "register", "key"))
	return w, ada
}

// beginCeremony requests options.
func beginCeremony(t *testing.T, b *browser, action string) {
	t.Helper()
	r := b.get("/auth/webauthn-options/passkey?action=" + action)
	if r.Status != 200 || b.cookies[challengeCookie] == "" {
		t.Fatalf("options returned %d: %s", r.Status, r.Body)
	}
}

// assertion returns the form with a response of the passkey with that name.
func assertion(action, name string) url.Values {
	id := base64.RawURLEncoding.EncodeToString([]byte(name))
	return url.Values{"action": {action}, "data": {`{"id":"` + id + `"}`}}
}

// TestPasskeyResponsesNeedTheOrigin posts responses as API clients and pages do. Without the site's Origin header or
// its CSRF token, no user is signed in.
func TestPasskeyResponsesNeedTheOrigin(t *testing.T) {
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

// TestPasskeyResponsesArePosted sends the fields of a response in the query of a GET.
func TestPasskeyResponsesArePosted(t *testing.T) {
	t.Parallel()
	w, _ := ceremonies(t)
	b := w.browser()
	beginCeremony(t, b, "authenticate")
	b.header.Set("Origin", "https://app.test")
	form := assertion("authenticate", "key")
	form.Set("csrfToken", b.csrf())
	r := b.send("GET", passkeyCallback+"?"+form.Encode(), "application/x-www-form-urlencoded", form.Encode())
	if !errors.Is(r.Err, core.ErrorType("InvalidProvider")) || w.who(b) != "" || b.cookies[challengeCookie] == "" {
		t.Errorf("signed in as %q: %v", w.who(b), r.Err)
	}
}

// TestOneRegistration answers the challenge of a registration twice, the second time with a copy of the first cookies.
func TestOneRegistration(t *testing.T) {
	t.Parallel()
	w, ada := ceremonies(t)
	beginCeremony(t, ada, "register")
	copied := w.browser()
	ada.csrf()
	copied.cookies = maps.Clone(ada.cookies)
	w.signedIn(ada, ada.submit(passkeyCallback, assertion("register", "second")))
	r := copied.submit(passkeyCallback, assertion("register", "third"))
	if !errors.Is(r.Err, core.ErrorType("InvalidCheck")) || len(w.passkeys) != 2 {
		t.Errorf("%d passkeys: %v", len(w.passkeys), r.Err)
	}
}

// TestOneAttemptAtAChallenge checks that the challenge cookie is deleted after the first response, valid or not.
func TestOneAttemptAtAChallenge(t *testing.T) {
	t.Parallel()
	w, _ := ceremonies(t)
	for name, good := range map[string]bool{"key": true, "unknown": false} {
		b := w.browser()
		beginCeremony(t, b, "authenticate")
		r := b.submit(passkeyCallback, assertion("authenticate", name))
		if (w.who(b) != "") != good || b.cookies[challengeCookie] != "" {
			t.Errorf("%s: signed in as %q, cookie %q: %v", name, w.who(b), b.cookies[challengeCookie], r.Err)
		}
	}
}

// TestChallengeOfTheOtherCeremony answers a challenge of one ceremony as the other ceremony.
func TestChallengeOfTheOtherCeremony(t *testing.T) {
	t.Parallel()
	w, ada := ceremonies(t)
	for asked, answered := range map[string]string{"register": "authenticate", "authenticate": "register"} {
		beginCeremony(t, ada, asked)
		name := map[string]string{"register": "another", "authenticate": "key"}[answered]
		r := ada.submit(passkeyCallback, assertion(answered, name))
		if !errors.Is(r.Err, core.ErrorType("InvalidCheck")) || len(w.passkeys) != 1 {
			t.Errorf("%s used as %s: %d passkeys, %v", asked, answered, len(w.passkeys), r.Err)
		}
	}
}

// swapped is a verifier that returns another credential than the one in the response.
type swapped struct{ anyPasskey }

func (swapped) VerifyRegistration(data []byte, want core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	if strings.Contains(string(data), base64.RawURLEncoding.EncodeToString([]byte("named"))) {
		data = []byte(assertion("", "attested").Get("data"))
	}
	return anyPasskey{}.VerifyRegistration(data, want)
}

// TestAttestedCredential sends a response whose ID is not that of the attested credential.
func TestAttestedCredential(t *testing.T) {
	t.Parallel()
	w, ada := ceremonies(t, verifier(swapped{}))
	beginCeremony(t, ada, "register")
	r := ada.submit(passkeyCallback, assertion("register", "named"))
	if !errors.Is(r.Err, core.ErrorType("WebAuthnVerificationError")) || len(w.passkeys) != 1 {
		t.Errorf("%d passkeys: %v", len(w.passkeys), r.Err)
	}
}

// TestCredentialIDsAreBounded checks that a credential ID has at most 1023 bytes (WebAuthn section 4), and that a
// longer one does not reach the store.
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

// TestCeremoniesAreCounted requests challenges until the rate limit: each costs a response, and requests for a name
// reveal its passkeys.
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
	t.Error("1000 challenges for one client")
}

// TestPasskeyOrigins checks that New validates RelyingParty.Origins.
func TestPasskeyOrigins(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("a certificate"))
	hash := base64.RawURLEncoding.EncodeToString(sum[:])
	for origin, ok := range map[string]bool{
		"https://www.app.test": true, "https://app.test:8443": true, "https://related.example": true,
		"http://localhost:3000": true, "android:apk-key-hash:" + hash: true,
		"": false, "app.test": false, "https://app.test/": false, "https://app.test/login": false, "https://App.test": false,
		"https://app.test:443": false, "http://www.app.test": false, "https://*.app.test": false,
		"https://ada@app.test": false,
		"https://app.test?x":   false, "null": false, "ios:bundle-id:test.app": false, "android:apk-key-hash:": false,
		"android:apk-key-hash:" + hash + "=": false, "android:apk-key-hash:" + hash[1:]: false,
		"android:apk-key-hash:" + base64.StdEncoding.EncodeToString(sum[:]): false, "javascript:alert(1)": false,
	} {
		t.Run(origin, func(t *testing.T) {
			t.Parallel()
			_, err := core.New(core.Config{
				URL: "https://app.test", Secrets: []core.Secret{testSecret}, Getenv: func(string) string { return "" },
				Store: newPeople().as(power{true, true, true, true}), EnableWebAuthn: true,
				Providers: []core.Provider{&core.WebAuthnProvider{
					Verifier: anyPasskey{}, RelyingParty: core.RelyingParty{ID: "app.test", Origins: []string{origin}},
				}},
			})
			if (err == nil) != ok {
				t.Errorf("ok %v, want %v: %v", err == nil, ok, err)
			}
			if err != nil && !strings.Contains(err.Error(), "RelyingParty.Origins[0]") {
				t.Error(err)
			}
		})
	}
}

// ceremoniesOf is a verifier that records the ceremonies.
type ceremoniesOf struct {
	anyPasskey
	seen []core.WebAuthnCeremony
}

func (v *ceremoniesOf) VerifyRegistration(data []byte, want core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	v.seen = append(v.seen, want)
	return v.anyPasskey.VerifyRegistration(data, want)
}

func (v *ceremoniesOf) VerifyAuthentication(
	data []byte, stored *store.Authenticator, want core.WebAuthnCeremony,
) (uint32, error) {
	v.seen = append(v.seen, want)
	return v.anyPasskey.VerifyAuthentication(data, stored, want)
}

// TestVerifiersGetAllOrigins: registration and authentication pass all origins to the verifier. If the
// application changes its slice later, this has no effect.
func TestVerifiersGetAllOrigins(t *testing.T) {
	t.Parallel()
	verifier, origins := &ceremoniesOf{}, []string{"https://www.app.test"}
	w := newTown(t, power{true, true, true, true}, core.StrategyJWT, func(c *core.Config) {
		for _, p := range c.Providers {
			if passkeys, ok := p.(*core.WebAuthnProvider); ok {
				passkeys.Verifier, passkeys.RelyingParty.Origins = verifier, origins
			}
		}
	})
	origins[0] = "https://evil.example"
	ada := w.browser()
	w.signedIn(ada, w.passkey(ada, "action=register&email=ada%40x.example", "register", "key"))
	again := w.browser()
	w.signedIn(again, w.passkey(again, "action=authenticate", "authenticate", "key"))
	if len(verifier.seen) != 2 {
		t.Fatalf("%d ceremonies", len(verifier.seen))
	}
	for _, c := range verifier.seen {
		if c.Origin != "https://app.test" || len(c.Origins) != 1 || c.Origins[0] != "https://www.app.test" {
			t.Errorf("the origins are %q, %q", c.Origin, c.Origins)
		}
	}
}

// TestChallengesAreUsedOnce repeats a response with a copy of the cookies from before the first one: deleting the
// cookie does not stop an attacker who has copied it.
func TestChallengesAreUsedOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{true, true, true, true}, core.StrategyDatabase)
	register := w.browser()
	w.signedIn(register, w.through(register, "plain", "p1", "ada@x.example", ""))
	w.passkey(register, "action=register", "register", "key")

	options := w.browser()
	if r := options.get("/auth/webauthn-options/passkey?action=authenticate"); r.Status != 200 {
		t.Fatalf("options returned %d: %s", r.Status, r.Body)
	}
	options.csrf()
	id := base64.RawURLEncoding.EncodeToString([]byte("key"))
	answer := func() *core.Response {
		b := w.browser()
		b.cookies = maps.Clone(options.cookies)
		return b.submit("/auth/callback/passkey", url.Values{"action": {"authenticate"}, "data": {`{"id":"` + id + `"}`}})
	}
	refused := func(r *core.Response) bool { return strings.Contains(r.Redirect, "error=") || r.Err != nil }
	if r := answer(); refused(r) {
		t.Fatalf("the first response: %d %s %v", r.Status, r.Redirect, r.Err)
	}
	for _, later := range []time.Duration{0, time.Minute, 13 * time.Minute, 2 * time.Minute} {
		w.app.clock.Advance(later)
		if r := answer(); !refused(r) {
			t.Errorf("%v later the challenge is accepted again", later)
		}
	}
}

// TestPasskeyResponseTwice repeats a response, as a browser does if the first HTTP response was lost or the user
// pressed the button twice. The sign-in continues with the user whom the first response signed in. A registration
// reports a failure.
func TestPasskeyResponseTwice(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		w := newTown(t, power{true, true, true, true}, strategy)
		register := w.browser()
		w.signedIn(register, w.through(register, "plain", "p1", "ada@x.example", ""))
		w.passkey(register, "action=register", "register", "key")
		id := base64.RawURLEncoding.EncodeToString([]byte("key"))
		for action, target := range map[string]string{
			"authenticate": "https://app.test/orders", "register": "https://app.test/auth/error?error=Configuration&reason=",
		} {
			b := w.browser()
			if action == "register" {
				b = register
			}
			if r := b.get("/auth/webauthn-options/passkey?action=" + action); r.Status != 200 {
				t.Fatalf("options returned %d: %s", r.Status, r.Body)
			}
			form := url.Values{"action": {action}, "data": {`{"id":"` + id + `"}`}, "callbackUrl": {"/orders"}}
			if action == "authenticate" {
				if r := b.submit("/auth/callback/passkey", form); r.Err != nil || r.Redirect != target {
					t.Fatalf("%s: the first response redirects to %s: %v", action, r.Redirect, r.Err)
				}
			} else { // the cookie was deleted
				w.app.clock.Advance(16 * time.Minute)
			}
			if r := b.submit("/auth/callback/passkey", form); r.Err == nil || !strings.HasPrefix(r.Redirect, target) {
				t.Errorf("%s: the second response redirects to %s: %v", action, r.Redirect, r.Err)
			}
		}
	}
}

// TestPasskeyOptionsWithoutAProvider requests options without a provider in the path. The response is that of the only
// passkey provider. If there is not exactly one, a script gets 400 in JSON (docs/protocol.md §12.1).
func TestPasskeyOptionsWithoutAProvider(t *testing.T) {
	t.Parallel()
	passkey := func(id string) core.Provider {
		return &core.WebAuthnProvider{ID: id, Verifier: anyPasskey{}, ConditionalUI: core.False}
	}
	for _, row := range []struct {
		name      string
		providers []core.Provider
		status    int
		body      string
	}{
		{"the only one", []core.Provider{passkey("one"), passwords()}, 200, `{"action":"authenticate","options":{`},
		{"none", []core.Provider{passwords()}, 400, `{"error":"Invalid request"}`},
		{"two", []core.Provider{passkey("one"), passkey("two")}, 400, `{"error":"Invalid request"}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{
				Store: newPeople().as(power{}), Session: core.SessionConfig{Strategy: core.StrategyJWT},
				EnableWebAuthn: true, Providers: row.providers,
			})
			b := visit(t, a)
			r := b.get("/auth/webauthn-options")
			if r.Status != row.status || !strings.HasPrefix(string(r.Body), row.body) ||
				r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("status %d %v: %s", r.Status, r.Header, r.Body)
			}
			for _, path := range []string{"/auth/callback", "/auth/signin"} {
				if r := b.submit(path, nil); (r.Err == nil || !strings.Contains(r.Err.Error(), "needs a provider")) &&
					!strings.HasSuffix(r.Redirect, "/auth/signin") {
					t.Errorf("POST %s without a provider: %d %s %v", path, r.Status, r.Redirect, r.Err)
				}
			}
			if row.status != 200 {
				a.log.Reset()
				b.get("/auth/webauthn-options")
				if log := a.log.String(); !strings.Contains(log, "webauthn-options/<provider id>") {
					t.Errorf("the log is %s", log)
				}
				return
			}
			// The challenge belongs to the provider, so its callback accepts the response.
			answer := url.Values{"action": {"authenticate"}, "data": {`{"id":"a2V5"}`}}
			r = b.submit("/auth/callback/one", answer)
			if r.Err == nil || !strings.Contains(r.Err.Error(), "no passkey with that credential ID") {
				t.Errorf("the response to these options: %v", r.Err)
			}
		})
	}
}

// TestPasskeyHints: the options of both ceremonies have the configured hints, and none by default. An unknown hint is a
// configuration error.
func TestPasskeyHints(t *testing.T) {
	t.Parallel()
	provider := &core.WebAuthnProvider{ID: "passkey", Verifier: anyPasskey{}}
	w := newTown(t, power{true, true, true, true}, core.StrategyJWT, func(c *core.Config) {
		c.Providers = []core.Provider{provider}
	})
	options := func() (all []string) {
		for _, query := range []string{"action=authenticate", "email=new@x.example"} {
			all = append(all, string(w.browser().get("/auth/webauthn-options/passkey?"+query).Body))
		}
		return all
	}
	for _, body := range options() {
		if !strings.Contains(body, `"challenge"`) || strings.Contains(body, "hints") {
			t.Errorf("without hints: %s", body)
		}
	}
	provider.Hints = []string{"security-key", "client-device"}
	w = newTown(t, power{true, true, true, true}, core.StrategyJWT, func(c *core.Config) {
		c.Providers = []core.Provider{provider}
	})
	for _, body := range options() {
		if !strings.Contains(body, `"hints":["security-key","client-device"]`) {
			t.Errorf("with hints: %s", body)
		}
	}
	_, err := core.New(core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", EnableWebAuthn: true, Store: newPeople().as(power{}),
		Providers: []core.Provider{&core.WebAuthnProvider{Verifier: anyPasskey{}, Hints: []string{"usb"}}},
	})
	if err == nil || !strings.Contains(err.Error(), `Hints[0] is "usb": use client-device, hybrid, security-key`) {
		t.Errorf("an unknown hint: %v", err)
	}
}
