package core_test

import (
	"encoding/base64"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestChallengesAreAnsweredOnce sends an answer again with the cookies that were there before the first: a cookie that
// was cleared is no obstacle to the one who copied it.
func TestChallengesAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	w := newTown(t, power{true, true, true, true}, core.StrategyDatabase)
	register := w.browser()
	w.signedIn(register, w.through(register, "plain", "p1", "ada@x.example", ""))
	w.passkey(register, "action=register", "register", "key")

	options := w.browser()
	if r := options.get("/auth/webauthn-options/passkey?action=authenticate"); r.Status != 200 {
		t.Fatalf("options answered %d: %s", r.Status, r.Body)
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
		t.Fatalf("the first answer: %d %s %v", r.Status, r.Redirect, r.Err)
	}
	for _, later := range []time.Duration{0, time.Minute, 13 * time.Minute, 2 * time.Minute} {
		w.app.clock.Advance(later)
		if r := answer(); !refused(r) {
			t.Errorf("%v later it is good again", later)
		}
	}
}

// TestPasskeyAnswerTwice: a browser that sends its answer twice, because the response was lost or a button was pressed
// twice, continues as the user whom the first has signed in. A registration says that it failed.
func TestPasskeyAnswerTwice(t *testing.T) {
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
				t.Fatalf("options answered %d: %s", r.Status, r.Body)
			}
			form := url.Values{"action": {action}, "data": {`{"id":"` + id + `"}`}, "callbackUrl": {"/orders"}}
			if action == "authenticate" {
				if r := b.submit("/auth/callback/passkey", form); r.Err != nil || r.Redirect != target {
					t.Fatalf("%s: the first answer leads to %s: %v", action, r.Redirect, r.Err)
				}
			} else { // the cookie is gone
				w.app.clock.Advance(16 * time.Minute)
			}
			if r := b.submit("/auth/callback/passkey", form); r.Err == nil || !strings.HasPrefix(r.Redirect, target) {
				t.Errorf("%s: the second answer leads to %s: %v", action, r.Redirect, r.Err)
			}
		}
	}
}

// TestPasskeyOptionsWithoutAProvider asks for options without a provider in the path: those of the only passkey
// provider, and where there is not exactly one a script gets 400 in JSON (docs/protocol.md §12.1).
func TestPasskeyOptionsWithoutAProvider(t *testing.T) {
	t.Parallel()
	passkey := func(id string) core.Provider {
		return &core.WebAuthnProvider{ID: id, Verifier: anyPasskey{}, ConditionalUI: core.Off}
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
				t.Errorf("answered %d %v: %s", r.Status, r.Header, r.Body)
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
					t.Errorf("the log says %s", log)
				}
				return
			}
			// The challenge is the provider's: its callback takes the answer.
			answer := url.Values{"action": {"authenticate"}, "data": {`{"id":"a2V5"}`}}
			r = b.submit("/auth/callback/one", answer)
			if r.Err == nil || !strings.Contains(r.Err.Error(), "no passkey with that credential id") {
				t.Errorf("the answer to these options: %v", r.Err)
			}
		})
	}
}
