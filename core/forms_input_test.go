package core_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestSignInWith starts sign-ins with inputs of each kind. want is the redirect target, or the result as JSON.
func TestSignInWith(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), plainOAuth()}})
	const failed = `"failed":true`
	for name, row := range map[string]struct {
		input string // JSON; TOKEN is replaced by the CSRF token
		in    func(*core.SignInInput)
		want  string
	}{
		"a query": {`{"providerId":"plain","authorizationParams":"prompt=login&x=1","csrfToken":"TOKEN"}`, nil,
			"prompt=login"},
		"a map": {`{"providerId":"plain","authorizationParams":{"prompt":"login"},"csrfToken":"TOKEN"}`, nil,
			"prompt=login"},
		"values": {`{"providerId":"plain","csrfToken":"TOKEN"}`, func(in *core.SignInInput) {
			in.AuthorizationParams = url.Values{"prompt": {"login"}}
		}, "prompt=login"},
		"a Go map": {`{"providerId":"plain","csrfToken":"TOKEN"}`, func(in *core.SignInInput) {
			in.AuthorizationParams = map[string]string{"prompt": "login"}
		}, "prompt=login"},
		"credentials": {`{"providerId":"credentials","redirectTo":"/in","csrfToken":"TOKEN",` +
			`"options":{"email":"ada@example.com","password":"engine"}}`, nil, "https://app.test/in"},
		"where to, of the options": {`{"providerId":"credentials","redirectTo":"/in","csrfToken":"TOKEN",` +
			`"options":{"email":"ada@example.com","password":"engine","redirectTo":"/there","n":1,"none":null}}`, nil,
			"https://app.test/there"},
		"to a foreign place": {`{"providerId":"credentials","redirectTo":"https://evil.example/","csrfToken":"TOKEN",` +
			`"options":{"email":"ada@example.com","password":"engine"}}`, nil, "https://app.test"},
		"the sign-in page":   {`{"csrfToken":"TOKEN"}`, nil, "https://app.test/auth/signin"},
		"the token's option": {`{"providerId":"plain","options":{"csrfToken":"TOKEN"}}`, nil, "https://op.example/"},

		"a wrong password": {`{"providerId":"credentials","csrfToken":"TOKEN","options":{"password":"no"}}`, nil,
			"CredentialsSignin"},
		"without a token": {`{"providerId":"plain"}`, nil, "MissingCSRF"},
		"a false token":   {`{"providerId":"plain","csrfToken":"x"}`, nil, "MissingCSRF"},

		"an array":                 {`[]`, nil, `"formErrors":["the input is no JSON object"]`},
		"a repeated member":        {`{"providerId":"plain","providerId":"credentials"}`, nil, failed},
		"an id that is no text":    {`{"providerId":{}}`, nil, `"providerId":["expected a string"]`},
		"an unknown provider":      {`{"providerId":"<b>"}`, nil, `"providerId":["no provider of this id`},
		"a target that is no text": {`{"redirectTo":[]}`, nil, `"redirectTo":["expected a string"]`},
		"a malformed target":       {`{"redirectTo":"nope"}`, nil, `"redirectTo":["expected a path`},
		"a script as target": {`{"csrfToken":"TOKEN","redirectTo":"javascript:alert(1)"}`, nil,
			"https://app.test/auth/signin"},
		"parameters that are a number": {`{"authorizationParams":1}`, nil, `"authorizationParams":["expected`},
		"parameters of numbers":        {`{"authorizationParams":{"a":1}}`, nil, `"authorizationParams":["expected`},
		"a broken query":               {`{"authorizationParams":"%zz"}`, nil, `"authorizationParams":["this is no query`},
		"Go parameters of no kind": {`{}`, func(in *core.SignInInput) { in.AuthorizationParams = 7 },
			`"authorizationParams":["expected a string, a url.Values`},
		"options that are a text": {`{"options":"x"}`, nil, `"options":["expected an object"]`},
		"nested options":          {`{"options":{"a":{}}}`, nil, `"options":["\"a\": expected a string"]`},
		"a second target":         {`{"options":{"callbackUrl":"/x"}}`, nil, `"options":["callbackUrl: it has a field`},
	} {
		t.Run(name, func(t *testing.T) {
			b := visit(t, a)
			var in core.SignInInput
			if err := json.Unmarshal([]byte(strings.ReplaceAll(row.input, "TOKEN", b.csrf())), &in); err != nil {
				t.Fatal(err)
			}
			if row.in != nil {
				row.in(&in)
			}
			answer := a.SignInWith(t.Context(), b.request("POST", "/component", "", ""), &in)
			checkInput(t, answer, row.want)
		})
	}
}

func checkInput(t *testing.T, answer *core.Response, want string) {
	t.Helper()
	var invalid *core.InvalidInputError
	if !errors.As(answer.Err, &invalid) {
		if answer.Status != http.StatusSeeOther || !strings.Contains(answer.Redirect, want) {
			t.Errorf("got status %d to %q: %v", answer.Status, answer.Redirect, answer.Err)
		}
		return
	}
	var shape struct {
		Failed      bool
		FieldErrors map[string][]string
		FormErrors  []string
	}
	err := json.Unmarshal(answer.Body, &shape)
	if err != nil || answer.Status != 422 || !shape.Failed || shape.FieldErrors == nil || shape.FormErrors == nil ||
		!strings.Contains(string(answer.Body), want) || answer.Redirect != "" || len(answer.Cookies) > 0 {
		t.Errorf("got status %d %s", answer.Status, answer.Body)
	}
	if strings.Contains(string(answer.Body), "<b>") {
		t.Errorf("the input is repeated: %s", answer.Body)
	}
}

func TestSignOutWith(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	for input, want := range map[string]string{
		`{"redirectTo":"/bye","csrfToken":"TOKEN"}`: "https://app.test/bye", `{"csrfToken":"TOKEN"}`: "https://app.test",
		`{"redirectTo":"/bye"}`: "MissingCSRF", `{"redirectTo":1,"csrfToken":"TOKEN"}`: "https://app.test",
		`1`: "no JSON object",
		`{"redirectTo":"javascript:1","csrfToken":"TOKEN"}`: "https://app.test",
		`{"redirectTo":"nope","csrfToken":"TOKEN"}`:         "https://app.test",
	} {
		b := visit(t, a)
		signIn(t, b)
		var in core.SignOutInput
		if err := json.Unmarshal([]byte(strings.ReplaceAll(input, "TOKEN", b.csrf())), &in); err != nil {
			t.Fatal(err)
		}
		checkInput(t, a.SignOutWith(t.Context(), b.request("POST", "/component", "", ""), &in), want)
		r := b.request("GET", "/component", "", "")
		if answer := a.SignOutWith(t.Context(), r, &in); answer.Status != http.StatusMethodNotAllowed {
			t.Errorf("a link signs out: %d", answer.Status)
		}
	}
}

// TestInputFromElsewhere checks that a page of another site cannot start a sign-in, whatever it sends.
func TestInputFromElsewhere(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, CSRF: core.CSRFTokenOrSameOrigin()})
	in := core.SignInInput{ProviderID: "credentials"}
	in.Fields = map[string]string{"email": "ada@example.com", "password": "engine"}
	for origin, want := range map[string]string{
		"https://app.test": "https://app.test", "https://evil.example": "MissingCSRF",
		"null": "MissingCSRF", "": "MissingCSRF",
	} {
		b := visit(t, a)
		if origin != "" {
			b.header.Set("Origin", origin)
		}
		answer := a.SignInWith(t.Context(), b.request("POST", "/component", "", ""), &in)
		if (answer.Err == nil) != (want == origin) || !strings.Contains(answer.Redirect, want) {
			t.Errorf("from %q: %d to %s", origin, answer.Status, answer.Redirect)
		}
	}
}
