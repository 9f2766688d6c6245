package secondfactor_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
)

// TestRequired signs in a user who must enroll: there is no session before the factor and the recovery codes.
func TestRequired(t *testing.T) {
	for _, strategy := range strategies {
		t.Run(string(strategy), func(t *testing.T) {
			s := newSite(t, setup{strategy: strategy, options: secondfactor.Options{Required: secondfactor.Always}})
			b := s.browse()
			b.held(b.signIn(ada))
			b.refused(b.call("second-factor", "code", "000000"), http.StatusForbidden, "enroll_required")
			b.refused(b.call("second-factor/later"), http.StatusForbidden, "enroll_required")
			b.refused(b.call("second-factor/saved"), http.StatusGone, "pending_expired")
			if r := b.open("second-factor"); r.Redirect != origin+"/auth/second-factor/enroll?signin=1" {
				t.Fatalf("redirected to %s", r.Redirect)
			}
			page := b.open("second-factor/enroll?signin=1")
			found := hidden.FindSubmatch(page.Body)
			if page.Status != http.StatusOK || found == nil || !strings.Contains(string(page.Body), "<svg") {
				t.Fatalf("the page is %d %s", page.Status, page.Body)
			}
			p := &phone{site: s, secret: strings.ReplaceAll(string(found[1]), " ", "")}
			made := b.post("second-factor/enroll", url.Values{"signin": {"1"}, "code": {p.code(0)}})
			if made.Status != http.StatusOK || b.signedIn() || !strings.Contains(string(made.Body), "recovery-codes") {
				t.Fatalf("after the code: %d %s", made.Status, made.Body)
			}
			if r := b.post("second-factor/saved", url.Values{"signin": {"1"}}); r.Redirect != origin || !b.signedIn() {
				t.Errorf("the sign-in ends at %d %s %v", r.Status, r.Redirect, r.Err)
			}
			session := s.browse()
			session.held(session.signIn(ada))
			if r := session.open("second-factor/enroll?signin=1"); r.Redirect != origin+"/auth/second-factor" {
				t.Errorf("an enrolled user may enroll another factor with the password only: %d %s", r.Status, r.Redirect)
			}
			status, err := s.factors.Status(t.Context(), "ada")
			if s.must(err); !status.Saved || !status.Enrolled || status.RecoveryCodes != 10 {
				t.Errorf("the state is %+v", status)
			}
		})
	}
}

// TestEnrollmentRace: an attacker's sign-in waits for enrollment while the owner enrolls. The attacker's enrollment is
// refused, and so is the completion of the sign-in.
func TestEnrollmentRace(t *testing.T) {
	s := newSite(t, setup{options: secondfactor.Options{Required: secondfactor.Always, Grace: time.Hour}})
	attacker, owner := s.browse(), s.browse()
	attacker.held(attacker.signIn(ada))
	secret := (&phone{site: s, secret: attacker.newSecret()}).code(0)
	owner.signIn(ada)
	owner.enroll()
	for _, r := range []*core.Response{
		attacker.call("second-factor/enroll", "code", secret, "signin", "1"), attacker.call("second-factor/later"),
		attacker.call("second-factor/saved"),
	} {
		if attacker.signedIn() || r.Status == http.StatusOK && !strings.Contains(string(r.Body), `/auth/second-factor"`) {
			t.Errorf("answered %d %s", r.Status, r.Body)
		}
	}
	status, err := s.factors.Status(t.Context(), "ada")
	if s.must(err); len(status.Apps) != 1 {
		t.Errorf("%d apps are enrolled", len(status.Apps))
	}
}

// TestGrace postpones the enrollment until the grace period is over. It starts once.
func TestGrace(t *testing.T) {
	s := newSite(t, setup{options: secondfactor.Options{Required: secondfactor.Always, Grace: 48 * time.Hour}})
	for range 2 {
		b := s.browse()
		b.held(b.signIn(ada))
		if page := b.open("second-factor/enroll?signin=1"); !strings.Contains(string(page.Body), "January 4, 2030") {
			t.Errorf("the page does not name the end of the grace period: %s", page.Body)
		}
		if b.post("second-factor/later", nil); !b.signedIn() {
			t.Error("the enrollment cannot be postponed")
		}
		s.wait(25 * time.Hour)
	}
	b := s.browse()
	b.held(b.signIn(ada))
	b.refused(b.call("second-factor/later"), http.StatusForbidden, "enroll_required")
}

// TestRequiredByRole requires a factor of one user. An error of the function refuses the sign-in.
func TestRequiredByRole(t *testing.T) {
	fails := false
	s := newSite(t, setup{options: secondfactor.Options{
		Required: func(_ context.Context, p *core.PendingSignIn) (bool, error) {
			if fails {
				return false, context.DeadlineExceeded
			}
			return p.User.ID == "ada", nil
		},
	}})
	s.as(eve)
	b := s.browse()
	b.held(b.signIn(ada))
	fails = true
	b = s.browse()
	if b.signIn(eve); b.signedIn() {
		t.Error("the policy failed, and the user is signed in")
	}
}

// TestTrusts lets a provider vouch for two factors, and only the one that the function names.
func TestTrusts(t *testing.T) {
	s := newSite(t, setup{options: secondfactor.Options{
		Trusts: func(p *core.PendingSignIn) bool { return p.Account.Provider == "hub" },
	}})
	s.as(ada).enroll()
	b := s.browse()
	if signIns["oauth"](b); !b.signedIn() {
		t.Error("the trusted provider's sign-in is held")
	}
	b = s.browse()
	b.held(b.signIn(ada))
}

// TestTrustedBrowser trusts a browser for 30 days. The trust ends with a change of the factors, when the user forgets
// the browsers, and after 30 days. The cookie of another browser or user does not help.
func TestTrustedBrowser(t *testing.T) {
	for name, end := range map[string]func(s *site, b *browser, p *phone){
		"nothing":     func(*site, *browser, *phone) {},
		"30 days":     func(s *site, _ *browser, _ *phone) { s.wait(31 * 24 * time.Hour) },
		"forget":      func(_ *site, b *browser, _ *phone) { b.fine(b.call("second-factor/forget"), http.StatusOK, nil) },
		"another app": func(s *site, b *browser, _ *phone) { s.wait(time.Minute); b.enroll() },
		"password": func(s *site, _ *browser, _ *phone) { // as providers/password does after a change
			s.must(s.store.DeleteUserRecords(s.Context(), "ada", "device"))
		},
		"reset and enroll again": func(s *site, _ *browser, _ *phone) {
			s.must(s.factors.Reset(s.Context(), "ada"))
			s.as(ada).enroll()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{})
			p := s.as(ada).enroll()
			s.wait(time.Minute)
			b := s.browse()
			b.held(b.signIn(ada))
			b.fine(b.call("second-factor", "code", p.code(0), "remember", "1"), http.StatusOK, nil)
			status, err := s.factors.Status(t.Context(), "ada")
			if s.must(err); status.Browsers != 1 {
				t.Errorf("%d browsers are trusted", status.Browsers)
			}
			end(s, b, p)
			delete(b.cookies, "__Host-authjs.session-token")
			delete(b.cookies, "__Secure-authjs.session-token")
			b.signIn(ada)
			if b.signedIn() != (name == "nothing") {
				t.Errorf("signed in without a code: %v", b.signedIn())
			}
			if name != "nothing" {
				return
			}
			b.refused(b.call("second-factor/codes"), http.StatusForbidden, "factor_required")
			other := s.browse()
			other.held(other.signIn(ada))
		})
	}
}

// TestKnownBrowserBudget: an attacker uses up the budget of the codes. In a browser in which the owner has used a
// second factor before, the app still works.
func TestKnownBrowserBudget(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	p := b.enroll()
	s.wait(time.Minute)
	for range 4 {
		attacker := s.browse()
		attacker.held(attacker.signIn(ada))
		for range 5 {
			attacker.call("second-factor", "code", "000000")
		}
	}
	stranger := s.browse()
	stranger.held(stranger.signIn(ada))
	stranger.refused(stranger.call("second-factor", "code", p.code(0)), http.StatusTooManyRequests, "too_many")
	b.post("signout", nil)
	b.held(b.signIn(ada))
	b.fine(b.call("second-factor", "code", p.code(0)), http.StatusOK, nil)
}

// TestRotation: after a rotation of the secrets, the first code encrypts the app's secret again.
func TestRotation(t *testing.T) {
	s := newSite(t, setup{})
	p := s.as(ada).enroll()
	if strings.Contains(string(s.records("ada", "factors")[0].Value), p.secret) {
		t.Error("the secret is stored in plain text")
	}
	config := s.config
	use := func(ok bool, secrets ...core.Secret) {
		t.Helper()
		s.wait(time.Minute)
		config.Secrets, config.Plugins = secrets, []core.Plugin{secondfactor.New(secondfactor.Options{})}
		b := s.browse()
		b.auth = s.build(config)
		b.held(b.signIn(ada))
		if b.call("second-factor", "code", p.code(0)); b.signedIn() != ok {
			t.Errorf("with %d secrets the app works: %v", len(secrets), !ok)
		}
	}
	const next core.Secret = "another-secret-of-more-than-thirty-two-bytes"
	use(false, next)
	use(true, next, secret)
	use(true, next)
}

// TestForeignSecret: an app that was copied from another user's record does not work.
func TestForeignSecret(t *testing.T) {
	s := newSite(t, setup{})
	p := s.as(eve).enroll()
	s.as(ada).enroll()
	r, ada := s.records("eve", "factors")[0], s.records("ada", "factors")[0]
	ada.Value = r.Value
	s.must(s.store.UpdateRecord(t.Context(), ada))
	s.wait(time.Minute)
	b := s.browse()
	b.held(b.signIn("ada@example.com"))
	if b.call("second-factor", "code", p.code(0)); b.signedIn() {
		t.Error("the app of another user works")
	}
}

// believer accepts every response of an authenticator, because these tests are not about verification.
type believer struct{}

func (believer) VerifyRegistration(data []byte, _ core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	var credential struct{ ID string }
	err := json.Unmarshal(data, &credential)
	raw, _ := base64.RawURLEncoding.DecodeString(credential.ID)
	return &core.VerifiedPasskey{Authenticator: store.Authenticator{
		CredentialID: base64.StdEncoding.EncodeToString(raw), CredentialPublicKey: "a2V5",
		CredentialDeviceType: "multiDevice", CredentialBackedUp: true,
	}}, err
}

func (believer) VerifyAuthentication([]byte, *store.Authenticator, core.WebAuthnCeremony) (uint32, error) {
	return 0, nil
}

func withPasskeys(c *core.Config) {
	c.EnableWebAuthn = true
	c.Providers = append(c.Providers, &core.WebAuthnProvider{ID: "passkey", Name: "Passkey", Verifier: believer{}})
}

func credential(id string) string {
	return `{"id":"` + base64.RawURLEncoding.EncodeToString([]byte(id)) + `"}`
}

// passkey registers a passkey, or signs in with one.
func (b *browser) passkey(action, id string) {
	b.Helper()
	if r := b.ask("webauthn-options/passkey?action=" + action); r.Status != http.StatusOK {
		b.Fatalf("options: %d %s", r.Status, r.Body)
	}
	r := b.post("callback/passkey", url.Values{"action": {action}, "data": {credential(id)}})
	if r.Err != nil || r.Status != http.StatusFound {
		b.Fatalf("%s: %d %v", action, r.Status, r.Err)
	}
}

// TestPasskey uses a passkey as the second factor. It works after all codes are blocked, and only with the challenge
// of the pending sign-in and a passkey of its user. A sign-in with a passkey that verifies the user has two factors.
func TestPasskey(t *testing.T) {
	s := newSite(t, setup{configure: withPasskeys})
	b := s.as(ada)
	b.passkey("register", "adas")
	s.as(eve).passkey("register", "eves")
	var on struct{ RecoveryCodes []string }
	b.fine(b.call("second-factor/passkeys", "on", "1"), http.StatusOK, &on)
	if len(on.RecoveryCodes) != 10 {
		t.Errorf("recovery codes %q", on.RecoveryCodes)
	}
	in := s.browse()
	if in.passkey("authenticate", "adas"); !in.signedIn() {
		t.Error("a sign-in with a verified passkey is held")
	}
	held := s.browse()
	held.held(held.signIn(ada))
	var challenge struct{ Methods []string }
	held.fine(held.ask("second-factor"), http.StatusOK, &challenge)
	if !slices.Equal(challenge.Methods, []string{"passkey", "recovery"}) {
		t.Errorf("methods %q", challenge.Methods)
	}
	try := func(id string) *core.Response {
		return held.call("second-factor", "action", "authenticate", "data", credential(id))
	}
	held.refused(try("adas"), http.StatusUnprocessableEntity, "code_wrong") // without a challenge
	options := held.ask("second-factor/passkey")
	if options.Status != http.StatusOK || !strings.Contains(string(options.Body), "allowCredentials") {
		t.Fatalf("options: %d %s", options.Status, options.Body)
	}
	held.refused(try("eves"), http.StatusUnprocessableEntity, "code_wrong")
	held.refused(try("adas"), http.StatusUnprocessableEntity, "code_wrong") // the challenge was answered
	held.ask("second-factor/passkey")
	held.fine(try("adas"), http.StatusOK, nil)
	if !held.signedIn() {
		t.Error("the passkey is not accepted")
	}
	b = s.browse()
	b.refused(b.ask("second-factor/passkey"), http.StatusGone, "pending_expired")
}

// TestLowRecoveryCodes warns when two codes are left.
func TestLowRecoveryCodes(t *testing.T) {
	s := newSite(t, setup{})
	p := s.as(ada).enroll()
	for i, code := range p.codes[:8] {
		b := s.browse()
		b.held(b.signIn(ada))
		r := b.post("second-factor", url.Values{"code": {code}})
		want := origin
		if i == 7 {
			want = origin + "/auth/second-factor/settings"
		}
		if r.Redirect != want || !b.signedIn() {
			t.Errorf("after code %d the browser opens %s", i, r.Redirect)
		}
		if i == 7 && !strings.Contains(string(b.open("second-factor/settings").Body), "running out of recovery codes") {
			t.Error("the page does not warn")
		}
	}
}

// TestReset: support removes all factors. Sessions and pending sign-ins end, and no code works.
func TestReset(t *testing.T) {
	s := newSite(t, setup{})
	b := s.as(ada)
	p := b.enroll()
	held := s.browse()
	held.held(held.signIn(ada))
	s.told()
	s.must(s.factors.Reset(t.Context(), "ada"))
	if got := s.told(); !slices.Contains(got, "factors.reset ok ada") {
		t.Errorf("audit events %q", got)
	}
	if b.signedIn() {
		t.Error("a session has outlived the reset")
	}
	for _, kind := range []string{"factors", "recovery", "device"} {
		if left := s.records("ada", kind); len(left) != 0 {
			t.Errorf("%d records of kind %s are left", len(left), kind)
		}
	}
	s.wait(time.Minute)
	if held.call("second-factor", "code", p.code(0)); held.signedIn() {
		t.Error("a code of a removed app works")
	}
	s.as(ada)
}
