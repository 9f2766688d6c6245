package main

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

// recordings is a folder that core's tests use too.
const recordings = "../../../core/testdata/recordings"

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// sample are the recorded scenarios as text, by ID.
var sample = sync.OnceValues(func() (map[string]string, error) {
	files, err := load(recordings)
	texts := map[string]string{}
	for _, f := range files {
		for _, sc := range f.Scenarios {
			texts[sc.ID] = sc.raw
		}
	}
	return texts, err
})

// recorded returns a scenario that a test can modify.
func recorded(t *testing.T, id string) (sc scenario) {
	t.Helper()
	texts, err := sample()
	if err != nil {
		t.Fatal(err)
	}
	if texts[id] == "" {
		t.Fatalf("no scenario %s in the sample", id)
	}
	if err := json.Unmarshal([]byte(texts[id]), &sc); err != nil {
		t.Fatal(err)
	}
	return sc
}

// TestAllAgree replays every recorded scenario, on core and through every adapter. The race detector is on only for
// core and for fiber, which reuses the memory of a request for the next one.
func TestAllAgree(t *testing.T) {
	plain := ""
	if wire.Raced {
		program, err := wire.Plain(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		plain = program
	}
	for _, way := range append([]string{"core"}, wire.Adapters()...) {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			if plain != "" && way != "core" && way != "fiber" {
				program := exec.CommandContext(t.Context(), plain, "-dir", recordings, "-adapter", way)
				if out, err := program.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				return
			}
			failed, err := run(testWriter{t}, options{dir: recordings, adapter: way})
			if err != nil || failed > 0 {
				t.Errorf("%d failed, %v", failed, err)
			}
		})
	}
}

// TestPartsAgree replays every recorded scenario with all features that Auth.js does not have: passwords, account page,
// limits, audit, revocation, languages. Browsers, providers and mailboxes must see no difference.
func TestPartsAgree(t *testing.T) {
	t.Parallel()
	failed, err := run(testWriter{t}, options{dir: recordings, adapter: "core", parts: true})
	if err != nil || failed > 0 {
		t.Errorf("%d failed, %v", failed, err)
	}
}

// TestPartsAreThere: the account page and the password form exist if plugins are on, and only then.
func TestPartsAreThere(t *testing.T) {
	for _, parts := range []bool{false, true} {
		w := &world{parts: parts, rec: &recorder{}, binder: newBinder(), store: newMemory(&recorder{}, start)}
		w.peer = &peer{world: w}
		w.setClock(start)
		c, err := declaration{w}.config(object{
			"secret": strings.Repeat("s", 32), "trustHost": true, "adapter": object{"kind": "memory"},
			"providers": []any{object{"kind": "email"}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		auth, err := core.New(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/auth/password/forgot", "/auth/account"} {
			r := auth.Handle(t.Context(), &core.Request{
				Method: "GET", Target: path, Hosts: []string{"app.test"}, Scheme: "https",
			})
			if there := r.Status != 400 && r.Status != 404; there != parts {
				t.Errorf("parts %v: %s is answered %d", parts, path, r.Status)
			}
		}
	}
}

type testWriter struct{ *testing.T }

func (w testWriter) Write(p []byte) (int, error) { w.Log(string(p)); return len(p), nil }

var _ io.Writer = testWriter{}

// unseen are modifications that no browser sees. They are not compared if plugins are on, because plugins make calls
// too.
var unseen = []string{
	"the order of store calls", "an argument of a store call", "an event's payload", "an argument of a callback",
	"an error's type",
}

// TestAlteredScenariosFail modifies one recorded value at a time. Each modification must be reported.
func TestAlteredScenariosFail(t *testing.T) {
	k, err := newKeys()
	if err != nil {
		t.Fatal(err)
	}
	last := func(sc *scenario) *step { return &sc.Steps[len(sc.Steps)-1] }
	for _, row := range []struct {
		name, id string
		alter    func(*scenario)
	}{
		{"status", "credentials.ok", func(sc *scenario) { sc.Steps[1].Response.Status = 303 }},
		{"a cookie attribute", "session.jwt.valid", func(sc *scenario) {
			sc.Steps[0].Response.SetCookies[2].Attributes["SameSite"] = "Strict"
		}},
		{"a cookie more", "session.jwt.valid", func(sc *scenario) {
			r := &sc.Steps[0].Response
			r.SetCookies = append(r.SetCookies, r.SetCookies[0])
		}},
		{"a cookie less", "session.jwt.valid", func(sc *scenario) {
			sc.Steps[0].Response.SetCookies = sc.Steps[0].Response.SetCookies[:2]
		}},
		{"the order of cookies", "session.jwt.valid", func(sc *scenario) { slices.Reverse(sc.Steps[0].Response.SetCookies) }},
		{"a claim of a sealed cookie", "session.jwt.valid", func(sc *scenario) {
			sc.Steps[0].Response.SetCookies[2].Decoded.Claims["role"] = "user"
		}},
		{"a body member", "session.jwt.valid", func(sc *scenario) {
			sc.Steps[0].Response.Body.value.(object)["user"].(object)["name"] = "Eve"
		}},
		{"a body member more", "session.jwt.valid", func(sc *scenario) {
			sc.Steps[0].Response.Body.value.(object)["more"] = json.Number("1")
		}},
		{"a header", "session.jwt.valid", func(sc *scenario) { sc.Steps[0].Response.Headers["cache-control"] = "public" }},
		{"a redirect's query", "signin-oauth.oidc-all-checks", func(sc *scenario) {
			h := last(sc).Response.Headers
			h["location"] = strings.Replace(h["location"], "client-1", "client-2", 1)
		}},
		{"a redirect's path", "signin-oauth.oidc-all-checks", func(sc *scenario) {
			h := last(sc).Response.Headers
			h["location"] = strings.Replace(h["location"], "/authorize", "/other", 1)
		}},
		{"the order of store calls", "callback-oauth.oidc.db.new", func(sc *scenario) {
			swap(sc.Steps[2].Trace, "createUser", "linkAccount")
		}},
		{"an argument of a store call", "callback-oauth.oidc.db.new", func(sc *scenario) {
			entry(sc.Steps[2].Trace, "createUser")["args"].([]any)[0].(object)["name"] = "Eve"
		}},
		{"an event's payload", "callback-oauth.oidc.db.new", func(sc *scenario) {
			entry(sc.Steps[2].Trace, "signIn")["payload"].(object)["isNewUser"] = false
		}},
		{"a request to the provider", "callback-oauth.oidc.db.new", func(sc *scenario) {
			for _, e := range sc.Steps[2].Trace {
				if e["endpoint"] == "token" {
					e["request"].(object)["form"].(object)["grant_type"] = "other"
				}
			}
		}},
		{"a mail", "email.callback.new", func(sc *scenario) {
			for _, st := range sc.Steps {
				for _, e := range st.Trace {
					if e["kind"] == "email" {
						e["identifier"] = "eve@example.com"
					}
				}
			}
		}},
		{"a stored row", "callback-oauth.oidc.db.new", func(sc *scenario) {
			sc.FinalState["users"][0]["email"] = "eve@example.com"
		}},
		{"a form of a page", "error-page.AccessDenied", func(sc *scenario) {
			sc.Steps[0].Response.Page["forms"] = []any{object{"action": "/x"}}
		}},
		{"a heading of a page", "error-page.AccessDenied", func(sc *scenario) {
			sc.Steps[0].Response.Page["heading"] = "Welcome"
		}},
		{"a link of a page", "error-page.AccessDenied", func(sc *scenario) {
			sc.Steps[0].Response.Page["links"].([]any)[0].(object)["href"] = "https://evil.test"
		}},
		{"a fact of a page that is gone", "error-page.AccessDenied", func(sc *scenario) {
			delete(sc.Steps[0].Response.Page, "message")
			delete(sc.Steps[0].Response.Page, "links")
		}},
		{"an argument of a callback", "credentials.ok", func(sc *scenario) {
			for _, e := range last(sc).Trace {
				if e["kind"] == "callback" && e["name"] == "jwt" {
					e["args"].(object)["trigger"] = "update"
				}
			}
		}},
		{"an error's type", "email.callback.expired", func(sc *scenario) {
			for _, e := range last(sc).Trace {
				if e["kind"] == "log" {
					e["error"].(object)["type"] = "AccessDenied"
				}
			}
		}},
		{"a warning more", "session.jwt.valid", func(sc *scenario) {
			sc.Steps[0].Trace = append(sc.Steps[0].Trace, object{"kind": "log", "level": "warn", "code": "debug-enabled"})
		}},
		{"a warning less", "raw.csrf-disabled", func(sc *scenario) {
			for i := range sc.Steps {
				sc.Steps[i].Trace = slices.DeleteFunc(sc.Steps[i].Trace,
					func(e object) bool { return e["code"] == "csrf-disabled" })
			}
		}},
		{"another warning", "raw.csrf-disabled", func(sc *scenario) {
			for i := range sc.Steps {
				for _, e := range sc.Steps[i].Trace {
					if e["code"] == "csrf-disabled" {
						e["code"] = "env-url-basepath-redundant"
					}
				}
			}
		}},
		{"an unknown key of the configuration", "session.jwt.valid", func(sc *scenario) {
			sc.Config = maps.Clone(sc.Config)
			sc.Config["unheard"] = true
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			sc := recorded(t, row.id)
			if diffs := replay(sc, start, k, &textGroups{}, viaCore, false); len(diffs) > 0 {
				t.Fatalf("fails unaltered: %s", diffs[0])
			}
			sc = recorded(t, row.id)
			row.alter(&sc)
			for _, parts := range []bool{false, true} {
				seen := !parts || !slices.Contains(unseen, row.name)
				if diffs := replay(sc, start, k, &textGroups{}, viaCore, parts); seen && len(diffs) == 0 {
					t.Errorf("the alteration was not noticed, parts: %v", parts)
				}
			}
		})
	}
}

// TestAlteredCasesFail does the same with recorded function calls.
func TestAlteredCasesFail(t *testing.T) {
	for _, row := range []struct{ id, member, value string }{
		{"get-token.cookie", "result", `{"sub":"u-2"}`},
		{"get-token.bearer", "headers", `{}`},
		{"url-env.host", "result", `"https://evil.test/signin"`},
		{"url-env.secrets", "result", `{"secret":["s1"]}`},
		{"url-env.providers", "result", `{"providers":[{"id":"github","clientId":"other"}]}`},
		{"vectors.key-derivation", "kid", `"AAAA"`},
		{"vectors.session-tokens", "token", `"a.b.c.d.e"`},
		{"vectors.foreign-tokens", "accepted", `false`},
		{"vectors.csrf-cookie", "acceptedByReference", `false`},
		{"vectors.verification-token-hash", "storedToken", `"00"`},
		{"vectors.check-cookies", "expectedTTLSeconds", `901`},
		{"vectors.default-cookies", "cookies",
			`{"sessionToken":{"name":"__Secure-authjs.session-token","options":{"httpOnly":false}}}`},
		{"vectors.errors", "errorParameter", `"Verification"`},
		{"vectors.cookie-chunks", "result", `[]`},
		{"vectors.cookie-join", "value", `"x"`},
		{"vectors.cookie-serialize", "result", `"a=c"`},
		{"vectors.cookie-parse", "result", `{"a":"c"}`},
		{"vectors.email-normalize", "result", `"other@example.com"`},
		{"vectors.paths", "throws", `{"type":"UnknownAction"}`},
		{"vectors.callback-urls", "inBody", `{}`},
		{"vectors.paths", "surprise", `1`},
	} {
		t.Run(row.id+" "+row.member, func(t *testing.T) {
			sc := recorded(t, row.id)
			start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			sc.Cases = sc.Cases[:1]
			if diffs := runCases(sc, start); len(diffs) > 0 {
				t.Fatalf("fails unaltered: %s", diffs[0])
			}
			altered := maps.Clone(sc.Cases[0].(object))
			var value any
			if err := decodeExact([]byte(row.value), &value); err != nil {
				t.Fatal(err)
			}
			altered[row.member] = value
			sc.Cases = []any{altered}
			if len(runCases(sc, start)) == 0 {
				t.Error("the alteration was not noticed")
			}
		})
	}
	if len(runCases(scenario{ID: "x", Function: "unheard", Cases: []any{}}, time.Time{})) == 0 {
		t.Error("an unknown function was passed over")
	}
}

func entry(trace []object, what string) object {
	for _, e := range trace {
		if e["method"] == what || e["kind"] == "event" && e["name"] == what {
			return e
		}
	}
	return object{}
}

func swap(trace []object, a, b string) {
	i := slices.IndexFunc(trace, func(e object) bool { return e["method"] == a })
	j := slices.IndexFunc(trace, func(e object) bool { return e["method"] == b })
	trace[i], trace[j] = trace[j], trace[i]
}

func TestUnknownMembersAreErrors(t *testing.T) {
	dir := t.TempDir()
	scenarios := []byte(`{"scenarios":[{"id":"x","steps":[{"surprise":1}]}]}`)
	if err := os.WriteFile(dir+"/x.json", scenarios, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(dir); err == nil {
		t.Error("an unknown member was passed over")
	}
	if _, err := load(t.TempDir()); err == nil {
		t.Error("a folder without files was passed over")
	}
}

// TestSoftwareAuthenticator creates the responses that recordings describe, and verifies them. Modified ones fail, and
// an unusually short signature is valid.
func TestSoftwareAuthenticator(t *testing.T) {
	for _, row := range []struct {
		key  string
		v    any
		good bool
	}{
		{"counter", json.Number("1"), true},
		{"shortSignature", true, true},
		{"badSignature", true, false},
		{"truncatedSignature", true, false},
		{"type", "webauthn.create", false},
		{"clientDataType", "payment.get", false},
		{"crossOrigin", true, false},
		{"challenge", "b3RoZXI", false},
	} {
		t.Run(row.key, func(t *testing.T) {
			w := &softAuthenticator{binder: newBinder(), challenge: "Y2hhbGxlbmdl"}
			soft := object{
				"ceremony": "authenticate", "credentialId": "c1", "rpId": "app.test", "origin": "https://app.test",
				"challenge": "{{from-options}}", row.key: row.v,
			}
			data, err := w.answerOf(object{"data": object{"$softAuthenticator": soft}})
			if err != nil {
				t.Fatal(err)
			}
			stored := &store.Authenticator{
				CredentialPublicKey: base64.StdEncoding.EncodeToString(w.credential("c1").PublicKey()),
				CredentialID:        base64.StdEncoding.EncodeToString([]byte("c1")),
			}
			_, err = webauthn.Passkey().Verifier.VerifyAuthentication([]byte(data), stored, core.WebAuthnCeremony{
				Challenge: "Y2hhbGxlbmdl", RPID: "app.test", Origin: "https://app.test", UserVerification: true,
			})
			if (err == nil) != row.good {
				t.Errorf("verified: %v", err)
			}
		})
	}
	soft := object{"credentialId": "c1", "colour": "blue"}
	w := &softAuthenticator{binder: newBinder()}
	if _, err := w.answerOf(object{"data": object{"$softAuthenticator": soft}}); err == nil {
		t.Error("an unknown key is let through")
	}
}
