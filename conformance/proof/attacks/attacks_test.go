package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/internal/recoverycode"
)

func TestMain(m *testing.M) {
	recoverycode.Rounds = 10 // with 10,000, hashing would take a tenth of the CPU time
	code := m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

// builtIn is the folder of the program that plain builds.
var builtIn string

// plain builds this program without the race detector, once. It is empty if the tests run without the race detector
// too.
var plain = sync.OnceValues(func() (program string, err error) {
	if !wire.Raced {
		return "", nil
	}
	if builtIn, err = os.MkdirTemp("", "attacks"); err != nil {
		return "", err
	}
	return wire.Plain(context.Background(), builtIn)
})

// TestPayloads sends every payload through every router. Only fiber runs under the race detector, because fiber reuses
// the memory of a request for the next one. The other adapters have their own tests with the race detector.
func TestPayloads(t *testing.T) {
	plain, err := plain()
	if err != nil {
		t.Fatal(err)
	}
	for _, adapter := range wire.Routers() {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			send := here
			if plain != "" && adapter != "fiber" {
				send = through(plain)
			}
			out, err := send(t, adapter)
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			lines := strings.Split(strings.TrimSpace(out), "\n")
			t.Log("attacks, " + adapter + ": " + lines[len(lines)-1])
		})
	}
}

// here sends all payloads through an adapter in this process.
func here(t *testing.T, adapter string) (out string, err error) {
	var text bytes.Buffer
	failed, err := run(t.Context(), &text, "testdata", adapter, "", false)
	if err == nil && failed > 0 {
		err = errors.New("payloads got through")
	}
	return text.String(), err
}

// through sends all payloads through an adapter in a process of the program.
func through(program string) func(t *testing.T, adapter string) (string, error) {
	return func(t *testing.T, adapter string) (string, error) {
		out, err := exec.CommandContext(t.Context(), program, "-dir", "testdata", "-adapter", adapter).CombinedOutput()
		return string(out), err
	}
}

// TestAlteredPayloads inverts the expectations. A runner that cannot fail proves nothing.
func TestAlteredPayloads(t *testing.T) {
	for _, row := range []struct{ file, id, old, new string }{
		{"redirects.json", "RD-002", `exact:https://app.example/dashboard`, `exact:https://app.example/other`},
		{"redirects.json", "RD-047", `same:https://app.example`, `same:https://other.example`},
		{"redirects.json", "RD-009", `"stay"`, `"exact:https://evil.example"`},
		{"hosts.json", "HO-001", `"listed": "origin:https://app.example"`, `"listed": "refuse"`},
		{"hosts.json", "HO-009", `"listed": "refuse"`, `"listed": "origin:https://app.example"`},
		{"hosts.json", "HO-010", `"open": "any-valid"`, `"open": "refuse"`},
		{"csrf.json", "CX-001", `"verified"`, `"refused"`},
		{"csrf.json", "CX-005", `"refused"`, `"verified"`},
		{"csrf.json", "CX-040", `"verified"`, `"refused"`},
		{"cookies.json", "CO-001", `"session"`, `"none"`},
		{"cookies.json", "CO-006", `"none"`, `"session"`},
		{"cookies.json", "CO-025", `"none"`, `"none", "untouched": ["N"]`},
		{"jwe.json", "JW-001", `"accept"`, `"reject"`},
		{"jwe.json", "JW-006", `"reject"`, `"accept"`},
		{"jwe.json", "JW-001", `user-1`, `user-2`},
		{"jwe.json", "JW-092", `"accept"`, `"reject"`},
		{"oauth.json", "OF-001", `"session": true`, `"session": false`},
		{"oauth.json", "OF-001", `"token_calls": 1`, `"token_calls": 2`},
		{"oauth.json", "OF-006", `"error": "Configuration"`, `"error": "AccessDenied"`},
		{"oauth.json", "OF-049", `scope=x`, `scope=y`},
		{"oauth.json", "OF-053", `"session": true`, `"session": false`},
		{"oauth.json", "OF-001", `"B1 return"`, `"B1 stands on its head"`},
		{"idtoken.json", "IT-001", `"accept"`, `"reject"`},
		{"idtoken.json", "IT-011", `"reject"`, `"accept"`},
		{"idtoken.json", "IT-065", `"reject"`, `"accept"`},
		{"idtoken.json", "IT-074", `"accept"`, `"reject"`},
		{"upstream.json", "US-001", `"no"`, `"yes"`},
		{"upstream.json", "US-020", `"yes"`, `"no"`},
		{"upstream.json", "US-036", `"times": 1`, `"times": 0`},
		{"upstream.json", "US-072", `"id": 583231`, `"id": 583232`},
		{"upstream.json", "US-001", `"why"`, `"wherefore"`},

		{"idtoken.json", "IT-043", `"key": "evil"`, `"key": "wicked"`},
		{"idtoken.json", "IT-054", `"weak"`, `"feeble"`},
		{"idtoken.json", "IT-H09", `"reject"`, `"accept"`},
		{"idtoken.json", "IT-H12", `"reject"`, `"accept"`},
		{"idtoken.json", "IT-H16", `"reject"`, `"accept"`},
		{"idtoken.json", "IT-H20", `"accept"`, `"reject"`},
		{"idtoken.json", "IT-H22", `"nest"`, `"nested"`},
		{"idtoken.json", "IT-H23", `"reject"`, `"accept"`},
		{"idtoken.json", "IT-H24", `append:.x`, `append:`},
		{"idtoken.json", "IT-H10", `duplicate-exp`, `tripled-exp`},
		{"idtoken.json", "IT-H26", `{8m}`, `{8x}`},
		{"jwe.json", "JW-H21", `good token`, `bad token`},
		{"jwe.json", "JW-H40", `"reject"`, `"accept"`},
		{"jwe.json", "JW-H46", `"reject"`, `"accept"`},
		{"jwe.json", "JW-H51", `json_recipients`, `xml_recipients`},
		{"jwe.json", "JW-H53", `"reject"`, `"accept"`},
		{"jwe.json", "JW-H54", `JW-001`, `JW-006`},
		{"oauth.json", "OF-H01", `"session": false`, `"session": true`},
		{"oauth.json", "OF-H01", `%00`, ``},
		{"oauth.json", "OF-H06", `4xx or error redirect`, `5xx`},
		{"oauth.json", "OF-H07", `"session": true`, `"session": false`},
		{"oauth.json", "OF-H10", `"never evil.example"`, `"never app.example"`},
		{"oauth.json", "OF-H12", `whose`, `where`},
		{"oauth.json", "OF-H14", `keeps our own values`, `carries the three`},
		{"oauth.json", "OF-H15", `one scope parameter`, `carries the three`},
		{"oauth.json", "OF-H16", `"S256 or refused`, `"plain or refused`},
		{"oauth.json", "OF-H17", `another oauth_token`, `oauth_token=good`},
		{"oauth.json", "OF-H18", `"session": false`, `"session": true`},
		{"oauth.json", "OF-H19", `"of the first"`, `false`},
		{"upstream.json", "US-H02", `"no"`, `"yes"`},
		{"upstream.json", "US-H04", `30`, `2`},
		{"upstream.json", "US-H06", `"no"`, `"yes"`},
		{"upstream.json", "US-H08", `"no"`, `"yes"`},
		{"upstream.json", "US-H12", `"no, then yes"`, `"yes"`},
		{"upstream.json", "US-H16", `"no"`, `"yes"`},
		{"upstream.json", "US-H17", `"no"`, `"yes"`},
		{"upstream.json", "US-H20", `stable text`, `other text`},
		{"upstream.json", "US-H24", `"yes; `, `"no; `},
		{"emails.json", "EM-001", `"accept:user@example.com"`, `"accept:user@other.example"`},
		{"emails.json", "EM-001", `"accept:user@example.com"`, `"reject"`},
		{"emails.json", "EM-009", `"reject"`, `"accept:victim@corp.example"`},
		{"emails.json", "EM-014", `"reject"`, `"one"`},
		{"emails.json", "EM-023", `"reject"`, `"refuse"`},
		{"emails.json", "EM-052", `no-collide:user@corp.example`, `no-collide:u\u0455er@corp.example`},
		{"emails.json", "EM-062", `"accept-or-reject:user@corp.example"`, `"accept:user@corp.example"`},
		{"emails.json", "EM-065", `%ff`, `x`},
		{"emails.json", "EM-068", `"one"`, `"reject"`},
		{"headers.json", "CR-001", `"value"`, `"worth"`},
		{"paths.json", "PA-001", `action:session`, `action:providers`},
		{"paths.json", "PA-001", `action:session`, `refuse`},
		{"paths.json", "PA-006", `"refuse"`, `"action:session"`},
		{"paths.json", "PA-013", `/AUTH/`, `/auth/`},
		{"paths.json", "PA-023", `error:Configuration`, `error:AccessDenied`},
		{"paths.json", "PA-026", `error-on-GET`, `action:session`},

		{"bodies.json", "BO-001", `"4xx"`, `"200-or-3xx"`},
		{"bodies.json", "BO-025", `"200-or-3xx"`, `"4xx"`},
		{"bodies.json", "BO-002", `"why"`, `"wherefore"`},
		{"bodies.json", "BO-011", `"max_mem_kb": 4096`, `"max_mem_kb": 1`},
		{"xss.json", "XS-001", `"value"`, `"worth"`},
		{"webauthn.json", "WN-002", `"accept"`, `"refuse"`},
		{"webauthn.json", "WN-001", `"accept"`, `"refuse"`},
		{"webauthn.json", "WN-006", `"refuse"`, `"accept"`},
		{"webauthn.json", "WN-009", `clientData.origin`, `clientData.original`},
		{"webauthn.json", "WN-009", `https://evil.example`, `https://app.example`},
		{"webauthn.json", "WN-020", `flip a bit`, `flip a coin`},
		{"webauthn.json", "WN-025", `[5, 5]`, `[5, 6]`},
		{"webauthn.json", "WN-028", `answer with c2`, `answer with c1`},
		{"webauthn.json", "WN-030", `signed in as u1`, `signed in as u2`},
		{"webauthn.json", "WN-039", `email=u1`, `email=new@app.example`},
		{"webauthn.json", "WN-045", `updateAuthenticatorCounter fails`, `getUserByEmail fails`},
		{"linking.json", "LI-001", `one account`, `two accounts`},
		{"linking.json", "LI-002", `OAuthAccountNotLinked`, `Verification`},
		{"linking.json", "LI-003", `linked to V`, `never linked to V`},
		{"linking.json", "LI-004", `email_verified false`, `email_verified true`},
		{"linking.json", "LI-014", `signed up with a`, `paid a`},
		{"linking.json", "LI-016", `V signs in with a`, `V dances with a`},
		{"linking.json", "LI-020", `"a different user"`, `"signed in as V"`},
		{"linking.json", "LI-025", `returns false`, `returns true`},
		{"linking.json", "LI-031", `null, cookie`, `glory, cookie`},
		{"linking.json", "LI-033", `V's token still works`, `linked to V`},
		{"faults.json", "FA-001", `"error"`, `"mild surprise"`},
		{"factors.json", "SF-001", `W is signed in as ada`, `W is not signed in`},
		{"factors.json", "SF-002", `A is not signed in`, `A is signed in as ada`},
		{"factors.json", "SF-025", `answered 409 code_used`, `answered 409 code_wrong`},
		{"factors.json", "SF-029", `1 of them succeeded`, `2 of them succeeded`},
		{"factors.json", "SF-030", `at most 5 of them`, `at most 4 of them`},
		{"factors.json", "SF-001", `{code:0}`, `{code:9}`},
		{"reauth.json", "RA-002", `ada has 1 key`, `ada has 2 keys`},
		{"reauth.json", "RA-002", `audited reauth ok`, `audited reauth refused`},
		{"codes.json", "EC-002", `code_expired`, `code_wrong`},
		{"keys.json", "AK-001", `{K} opens the API`, `{K} does not open the API`},
		{"keys.json", "AK-001", `session false`, `session true`},
		{"accesstokens.json", "AT-002", `does not open`, `opens`},
		{"accesstokens.json", "AT-010", `signed by evil-ed`, `signed by a friend`},
		{"exchanges.json", "IX-001", `ada has 1 app`, `ada has 0 apps`},
		{"exchanges.json", "IX-002", `by rs1`, `by evil`},
		{"exchanges.json", "IX-006", `answered 400`, `answered 200`},
		{"admin.json", "AD-001", `ada by root`, `ada by grace`},
		{"admin.json", "AD-001", `is signed in as root`, `is not signed in`},
		{"admin.json", "AD-002", `is not signed in`, `is signed in as ada by root`},
		{"admin.json", "AD-027", `is signed in as root`, `is not signed in`},
		{"admin.json", "AD-062", `ada is banned`, `ada is not banned`},
		{"organizations.json", "OR-001", `{K} opens the API`, `{K} does not open the API`},
		{"organizations.json", "OR-006", `answered 404`, `answered 200`},
		{"apps.json", "TK-001", `ada has 1 app`, `ada has 0 apps`},
		{"apps.json", "TK-023", `no code in the response`, `sent nowhere`},
		{"apps.json", "TK-032", `sent nowhere`, `sent to http`},
		{"apps.json", "TK-073", `https://app.example`, `https://evil.example`},
	} {
		t.Run(row.id+" "+row.new, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join("testdata", row.file))
			if err != nil {
				t.Fatal(err)
			}
			var f map[string]json.RawMessage
			if err := json.Unmarshal(raw, &f); err != nil {
				t.Fatal(err)
			}
			var payloads []json.RawMessage
			if err := json.Unmarshal(f["payloads"], &payloads); err != nil {
				t.Fatal(err)
			}
			changed := false
			for i, p := range payloads {
				if strings.Contains(string(p), `"id": "`+row.id+`"`) {
					payloads[i] = json.RawMessage(strings.Replace(string(p), row.old, row.new, 1))
					changed = string(payloads[i]) != string(p)
				}
			}
			if !changed {
				t.Fatalf("%s has no %s", row.id, row.old)
			}
			if f["payloads"], err = json.Marshal(payloads); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			raw, err = json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, row.file), raw, 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if failed, err := run(t.Context(), &out, dir, "gin", row.id, false); err != nil || failed != 1 {
				t.Errorf("the alteration was not noticed: %v\n%s", err, out.String())
			}
		})
	}
}

// TestDifferingHeaders checks the comparison with responses that a header-splitting value would produce.
func TestDifferingHeaders(t *testing.T) {
	good := wire.Answer{
		Status: 302, Header: http.Header{"Date": {""}, "Location": {home}},
		Cookies: []string{csrfCookie + "=x; Path=/"},
	}
	for _, row := range []struct {
		name string
		got  wire.Answer
		same bool
	}{
		{"harmless", good, true},
		{"refused", wire.Answer{Status: 400}, true},
		{"another status", wire.Answer{Status: 200, Header: good.Header, Cookies: good.Cookies}, false},
		{"a header more", wire.Answer{
			Status: 302, Header: http.Header{"Date": {""}, "Location": {home}, "X": {""}}, Cookies: good.Cookies,
		}, false},
		{"a header less", wire.Answer{Status: 302, Header: http.Header{"Date": {""}}, Cookies: good.Cookies}, false},
		{"a foreign cookie", wire.Answer{
			Status: 302, Header: good.Header, Cookies: append([]string{"evil=1"}, good.Cookies...),
		}, false},
		{"a foreign cookie of a refusal", wire.Answer{Status: 400, Cookies: []string{"evil=1"}}, false},
		{"a cookie less", wire.Answer{Status: 302, Header: good.Header}, false},
		{"an attribute", wire.Answer{
			Status: 302, Header: good.Header, Cookies: []string{csrfCookie + "=x; Domain=evil.example"},
		}, false},
	} {
		if why := differs(good, row.got, "x"); (why == "") != row.same {
			t.Errorf("%s: %q", row.name, why)
		}
	}
}

// TestTreesDiffer inserts markup without escaping. Each such value changes the tree or is reported.
func TestTreesDiffer(t *testing.T) {
	for _, row := range []struct{ name, document, value string }{
		{"an element", "<p>%s</p>", "<b>x</b>"},
		{"an attribute", `<p title="%s">`, `" class="x`},
		{"a comment", "<p>%s</p>", "<!--x-->"},
		{"a handler", `<p %s>`, `onclick="x()"`},
		{"a link that runs", `<a href="%s">x</a>`, "JaVa\tscript:alert(1)"},
		{"text of a script", "<script>var x = '%s'</script>", "alert(1)"},
		{"text of a style", "<style>p{color:%s}</style>", "url(x)"},
	} {
		good, _ := document{body: strings.ReplaceAll(row.document, "%s", "zzz")}.tree("zzz")
		got, problems := document{body: strings.ReplaceAll(row.document, "%s", row.value)}.tree(row.value)
		if got == good && len(problems) == 0 {
			t.Errorf("%s is not noticed: %s", row.name, got)
		}
	}
	text := "x &lt;b&gt; <a href='/auth/signin?x=%3Cb%3E' title='&lt;b&gt;'>y</a><script nonce='1'>z</script>"
	good, _ := document{body: strings.NewReplacer("&lt;b&gt;", "zzz", "%3Cb%3E", "zzz").Replace(text)}.tree("zzz")
	if got, problems := (document{body: text}).tree("<b>"); got != good || len(problems) > 0 {
		t.Errorf("escaped text is taken for markup: %q, %s", problems, differingLine(got, good))
	}
}

// TestFolders: a folder without payload files is an error.
func TestFolders(t *testing.T) {
	if _, err := run(t.Context(), io.Discard, t.TempDir(), "gin", "", false); err == nil {
		t.Error("a folder without files was passed over")
	}
}
