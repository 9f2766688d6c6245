package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestRandomSecretsPass: a secret from one of the usual commands is never called guessable.
func TestRandomSecretsPass(t *testing.T) {
	for range 150 {
		raw := make([]byte, 33)
		_, _ = rand.Read(raw)
		for _, s := range []string{
			base64.StdEncoding.EncodeToString(raw), hex.EncodeToString(raw[:32]), hex.EncodeToString(raw[:16]),
			base64.RawURLEncoding.EncodeToString(raw[:32]), rand.Text(), // 26 characters
		} {
			if what, _ := judge(s, ""); what != "" {
				t.Fatalf("%s %s", s, what)
			}
		}
	}
}

func TestJudge(t *testing.T) {
	for _, row := range []struct{ name, secret, samples, want string }{
		{"one letter", strings.Repeat("a", 40), "", "repeats"},
		{"a word again and again", strings.Repeat("secure", 8), "", "repeats"},
		{"the alphabet", "abcdefghijklmnopqrstuvwxyz0123456789", "", "repeats"},
		{"of documentation", "replace-me-with-32-random-bytes-ok", "", "placeholder"},
		{"a command that was not run", "openssl rand -base64 33 of course", "", "placeholder"},
		{"to be done", "AUTH_TODO: thirty-two random bytes", "", "placeholder"},
		{"random text that has four letters of a word", "AQMYYFTL7OCREJ5GTEAESTODOE", "", ""},
		{"of an application for tasks", "todo-application-of-the-secretary", "", ""},
		{"quoted", `'Zq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8'`, "", "quotes"},
		{"with a line break", "Zq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8\n", "", "quotes"},
		{"for all to read", "Zq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8",
			"AUTH_SECRET=Zq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8", "example file"},
		{"sound", "Zq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8", "AUTH_SECRET=", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, fix := judge(row.secret, row.samples)
			if row.want == "" && got != "" || !strings.Contains(got, row.want) || (got == "") != (fix == "") {
				t.Errorf("%q: %q", got, fix)
			}
		})
	}
}

// TestShown uses error pages of real providers. A page is wrong only if it names the error.
func TestShown(t *testing.T) {
	const asked = "https://op.test/authorize?client_id=app&redirect_uri=https%3A%2F%2Fapp.test%2Fauth%2Fcallback%2Fop"
	const google = "https://accounts.google.test/signin/oauth/error?authError=" +
		"ChVyZWRpcmVjdF91cmlfbWlzbWF0Y2gSsAEKWW91IGNhbid0IHNpZ24gaW4"
	for _, row := range []struct {
		name    string
		status  int
		at      string
		page    string
		want    State
		explain string
	}{
		{"a sign-in page", 200, asked, `<form><input type="password"></form>`, OK, "sign-in page"},
		{"Keycloak", 400, asked, `<p class="instruction">Invalid parameter: redirect_uri</p>`, Wrong, "callback URL"},
		{"GitHub", 200, asked, `The redirect_uri is not associated with this application.`, Wrong, "callback URL"},
		{"Entra", 200, asked, `AADSTS50011: The redirect URI specified in the request does not match`, Wrong, "callback URL"},
		{"Google", 200, google, `<p>Access blocked</p>`, Wrong, "callback URL"},
		{"Entra, the client", 200, asked, `AADSTS700016: Application with identifier 'app' was not found`,
			Wrong, "client id"},
		{"Keycloak, the client", 400, asked, `Client not found.`, Wrong, "client id"},

		{"a firewall that repeats the request", 403, asked, "blocked: " + asked, Unknown, "not recognized"},
		{"a page with a form that speaks of addresses", 200, asked, `<form>URL blocked: the redirect URI is not listed`,
			Unknown, "not recognized"},
		{"nothing", 200, asked, "", Unknown, "not recognized"},
		{"too many requests", 429, asked, "slow down", Unknown, "not recognized"},
		{"a failure", 500, asked, `<form>redirect_uri client_id`, Unknown, "not recognized"},
	} {
		t.Run(row.name, func(t *testing.T) {
			at, err := url.Parse(row.at)
			if err != nil {
				t.Fatal(err)
			}
			answer := &http.Response{StatusCode: row.status, Request: &http.Request{URL: at}}
			state, what, _ := shown(answer, visible([]byte(row.page), at), "https://app.test/auth/callback/op")
			if state != row.want || !strings.Contains(what, row.explain) {
				t.Errorf("%s: %s", state, what)
			}
		})
	}
}

func TestReturned(t *testing.T) {
	for code, want := range map[string]State{
		"": OK, "login_required": Unknown, "invalid_scope": Wrong, "unauthorized_client": Wrong, "made_up": Unknown,
		"unsupported_response_type": Wrong, "server_error": Unknown,
	} {
		if state, _, _ := returned(url.Values{"error": {code}}, "https://app.test"); state != want {
			t.Errorf("%q is %s", code, state)
		}
	}
	if _, what, _ := returned(url.Values{"error": {"x\r\n\"" + strings.Repeat("y", 99)}}, ""); len(what) > 100 ||
		strings.ContainsAny(what, "\r\n\"") {
		t.Errorf("%q", what)
	}
}

// TestMailTexts uses replies of real mail servers.
func TestMailTexts(t *testing.T) {
	for text, want := range map[string]struct {
		state State
		fix   string
	}{
		"535 5.7.8 Username and Password not accepted":             {Wrong, "app password"},
		"SMTP AUTH: 535-5.7.8 Username and Password not accepted":  {Wrong, "app password"},
		"server said: 534 5.7.9 an app password is needed":         {Wrong, "app password"},
		"lookup mail.test: no such host":                           {Wrong, "no such host"},
		"tls: first record does not look like a TLS handshake":     {Wrong, "smtp://"},
		"dial tcp: i/o timeout":                                    {Unknown, "in time"},
		"read tcp 127.0.0.1:40534->127.0.0.1:535: i/o timeout":     {Unknown, "in time"},
		"read tcp 10.0.53.5:535->127.0.0.1:53535: i/o timeout":     {Unknown, "in time"},
		"dial tcp [2001:db8::535]:25: connect: connection refused": {Wrong, "connection was refused"},
		"something else": {Wrong, "EMAIL_SERVER"},
	} {
		if state, fix := diagnoseMail(errors.New(text)); state != want.state || !strings.Contains(fix, want.fix) {
			t.Errorf("%s: %s, %s", text, state, fix)
		}
	}
}

func TestCommand(t *testing.T) {
	good := core.Config{
		Secrets: []core.Secret{"Gq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8"}, Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}},
	}
	bad := good
	bad.Secrets = nil
	for _, row := range []struct {
		name   string
		config core.Config
		args   []string
		status int
		out    string
	}{
		{"sound", good, []string{"doctor"}, 0, "0 wrong"},
		{"faulty", bad, []string{"doctor", "--probe"}, 1, "1 wrong"},
		{"for programs", bad, []string{"doctor", "--json"}, 1, `"state": "wrong"`},
		{"an unknown flag", good, []string{"doctor", "--fix"}, 2, ""},
		{"routes", good, []string{"routes"}, 0, "POST  /auth/callback/credentials  csrf"},
		{"routes for programs", good, []string{"routes", "--json"}, 0, `"path": "/auth/callback/credentials"`},
		{"routes of none", bad, []string{"routes"}, 1, ""},
		{"routes have nothing to probe", good, []string{"routes", "--probe"}, 2, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out, problems bytes.Buffer
			if status := command(t.Context(), row.config, row.args, &out, &problems); status != row.status {
				t.Errorf("status %d: %s%s", status, out.String(), problems.String())
			}
			if !strings.Contains(out.String(), row.out) || row.out == "" && problems.Len() == 0 {
				t.Errorf("%s%s", out.String(), problems.String())
			}
		})
	}
}
