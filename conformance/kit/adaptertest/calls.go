package adaptertest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Failed is what the test application answers, with status 422, where a form action hands it a failure.
func Failed(err error) string {
	var invalid *core.InvalidInputError
	if errors.As(err, &invalid) {
		raw, err := json.Marshal(invalid.Result)
		if err != nil {
			return err.Error()
		}
		return string(raw)
	}
	var failure *core.Error
	if !errors.As(err, &failure) {
		return "no *core.Error: " + err.Error()
	}
	return strings.TrimSpace(failure.Type.Public() + " " + failure.Code)
}

// tried posts forms to actions that hand failures to the application: those are answered by it alone, and the others as
// by the plain actions.
func (k *kit) tried() {
	form := func(fields ...string) url.Values {
		v := url.Values{"providerId": {"credentials"}, "name": {"Ada"}, "redirectTo": {"/after"}}
		for i := 0; i < len(fields); i += 2 {
			v.Set(fields[i], fields[i+1])
		}
		return v
	}
	for _, row := range []struct{ path, password, token, want string }{
		{"/try/signin", "wrong", "good", "CredentialsSignin"},
		{"/try/signin", "locked", "good", "CredentialsSignin locked"},
		{"/try/signin", "right", "x", "MissingCSRF"},
		{"/try/signout", "", "x", "MissingCSRF"},
	} {
		token := row.token
		if token == "good" {
			token = k.csrf()
		}
		a := k.send("POST", row.path, "text/html", form("password", row.password, "csrfToken", token))
		k.expect(row.path+" "+row.password, a.status, 422)
		k.expect(row.path+" "+row.password, a.body, row.want)
		k.expect(row.path+" leads to", a.header.Get("Location"), "")
	}
	a := k.send("POST", "/try/signin", "", form("password", "right", "csrfToken", k.csrf()))
	k.expect("a sign-in that succeeds", a.status, 303)
	k.expect("Location", a.header.Get("Location"), "http://"+k.addr+"/after")
	k.expect("page", k.get("/page").body, "hello Ada")
	a = k.send("POST", "/try/signout", "", form("csrfToken", k.csrf()))
	k.expect("a sign-out", a.status, 303)
	k.expect("page", k.get("/page").body, "nobody")
}

// once reads the session in one call, without a hook and behind one.
func (k *kit) once() {
	a := k.get("/once")
	k.expect("nobody", a.body, "nobody")
	k.expect("cookies for nobody", len(a.header["Set-Cookie"]), 0)
	k.signIn(0)
	for _, path := range []string{"/once", "/twice"} {
		*k.reads = 0
		a = k.get(path)
		k.expect(path, a.body, "hello Ada")
		k.expect(path+": reads of the session", *k.reads, 1)
		// The session is extended at every read: its cookie is set, once.
		k.expect(path+": cookies", len(a.header["Set-Cookie"]), 1)
		k.expect(path+": Cache-Control", a.header.Get("Cache-Control"), "private")
	}
	u, err := url.Parse("http://" + k.addr)
	if err != nil {
		k.Fatal(err)
	}
	k.http.Jar.SetCookies(u, []*http.Cookie{{Name: sessionCookie, Value: "x"}})
	a = k.get("/once")
	k.expect("a session that is none", a.body, "nobody")
	if lines := a.header["Set-Cookie"]; len(lines) != 1 || !strings.Contains(lines[0], "Max-Age=0") {
		k.Errorf("the cookie of a session that is none stays: %q", lines)
	}
}

// Component calls are posts of JSON that the application's handler reads and hands to TrySignInWith and TrySignOutWith.

// Decode reads the input of a component from the body of a request.
func Decode[Input core.SignInInput | core.SignOutInput](body io.Reader) (in Input) {
	if err := json.NewDecoder(body).Decode(&in); err != nil {
		panic(err) // no JSON: the kit sends none such
	}
	return in
}

// componentCalls start sign-ins and sign-outs with inputs.
func (k *kit) componentCalls() {
	post := func(path, input string) answer {
		k.Helper()
		r, err := http.NewRequestWithContext(k.Context(), http.MethodPost, "http://"+k.addr+path,
			strings.NewReader(strings.ReplaceAll(input, "TOKEN", k.csrf())))
		if err != nil {
			k.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		return k.do(r)
	}
	for _, row := range []struct{ path, input, want string }{
		{"/call/signin", `{"providerId":"nope"}`,
			`{"failed":true,"fieldErrors":{"providerId":["no provider of this id is configured"]},"formErrors":[]}`},
		{"/call/signin", `[]`, `{"failed":true,"fieldErrors":{},"formErrors":["the input is no JSON object"]}`},
		{"/call/signout", `{"redirectTo":1}`,
			`{"failed":true,"fieldErrors":{"redirectTo":["expected a string"]},"formErrors":[]}`},
		{"/call/signin", `{"providerId":"credentials","csrfToken":"TOKEN","options":{"password":"locked"}}`,
			"CredentialsSignin locked"},
		{"/call/signin", `{"providerId":"credentials"}`, "MissingCSRF"},
		{"/call/signout", `{}`, "MissingCSRF"},
	} {
		a := post(row.path, row.input)
		k.expect(row.input, a.status, http.StatusUnprocessableEntity)
		k.expect(row.input, sorted(a.body), sorted(row.want))
	}
	a := post("/call/signin", `{"providerId":"plain","authorizationParams":{"prompt":"login"},"csrfToken":"TOKEN"}`)
	k.expect("a sign-in with a provider", a.status, http.StatusSeeOther)
	to := a.header.Get("Location")
	if !strings.HasPrefix(to, "https://op.example/") || !strings.Contains(to, "prompt=login") {
		k.Errorf("leads to %q", to)
	}
	a = post("/call/signin", `{"providerId":"credentials","redirectTo":"/after","csrfToken":"TOKEN",`+
		`"options":{"name":"Ada","password":"right"}}`)
	k.expect("Location", a.header.Get("Location"), "http://"+k.addr+"/after")
	k.expect("page", k.get("/page").body, "hello Ada")
	a = post("/call/signout", `{"redirectTo":"/bye","csrfToken":"TOKEN"}`)
	k.expect("Location", a.header.Get("Location"), "http://"+k.addr+"/bye")
	k.expect("page", k.get("/page").body, "nobody")
}

// sorted is JSON with its members in order; what is none stays.
func sorted(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(raw)
}
