package forminput_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/form"
	"github.com/latchkey-go/latchkey/internal/forminput"
)

// TestSignIn checks which members are read, and which values are errors.
func TestSignIn(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"providerId":"a","options":{"redirectTo":"/b","n":1,"x":null},"other":[]}`: `{}`,
		`{"providerId":null,"authorizationParams":null,"options":null}`:              `{}`,
		`[]`:                        `{"formErrors":["the input is no JSON object"]}`,
		`{"providerId":1}`:          `{"fieldErrors":{"providerId":["expected a string"]}}`,
		`{"options":{"secret":{}}}`: `{"fieldErrors":{"options":["\"secret\": expected a string"]}}`,
		`{"options":7}`:             `{"fieldErrors":{"options":["expected an object"]}}`,
		`{"authorizationParams":{"prompt":1}}`: `{"fieldErrors":{"authorizationParams":` +
			`["expected a string, or an object of strings"]}}`,
	} {
		_, wrong := forminput.SignIn([]byte(input))
		var expected forminput.Errors
		if err := json.Unmarshal([]byte(want), &expected); err != nil {
			t.Fatal(err)
		}
		if wrong.Error() != expected.Error() || wrong.Found() != (want != `{}`) {
			t.Errorf("%s: %v", input, &wrong)
		}
	}
	in, _ := forminput.SignIn([]byte(`{"redirectTo":"/a","options":{"redirectTo":"/b","n":1,"email":"ada"}}`))
	if in.RedirectTo != "/a" || in.InOptions != "/b" || in.Fields["n"] != "1" || in.Fields["email"] != "ada" {
		t.Errorf("got %+v", in)
	}
	if out, wrong := forminput.SignOut([]byte(`{"redirectTo":7,"csrfToken":"x"}`)); wrong.Found() || out.CSRFToken != "x" {
		t.Errorf("got %+v, %v", out, &wrong)
	}
}

// TestQuery checks the types of authorization parameters.
func TestQuery(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		of   any
		want string
		ok   bool
	}{
		"none":       {nil, "", true},
		"text":       {"?prompt=login", "prompt=login", true},
		"a map":      {map[string]string{"prompt": "login"}, "prompt=login", true},
		"url.Values": {url.Values{"prompt": {"login"}}, "prompt=login", true},
		"no query":   {"%zz", "", false},
		"a number":   {7, "", false},
	} {
		var wrong forminput.Errors
		in := forminput.Input{AuthorizationParams: row.of}
		if got, _ := in.Post(&wrong, "/"); got.Encode() != row.want || wrong.Found() == row.ok {
			t.Errorf("%s: %v, %v", name, got, &wrong)
		}
	}
}

// TestPost checks the fields of a form with an input.
func TestPost(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		in   forminput.Input
		want string
		ok   bool
	}{
		{forminput.Input{}, "callbackUrl=%2Fhome", true},
		{forminput.Input{
			RedirectTo: "/in", CSRFToken: "t", Fields: map[string]string{"email": "ada", "csrfToken": "x"},
		}, "callbackUrl=%2Fin&csrfToken=t&email=ada", true},
		{forminput.Input{Fields: map[string]string{"callbackUrl": "/a"}}, "callbackUrl=%2Fhome", false},
		{forminput.Input{Fields: map[string]string{"providerId": "a"}}, "callbackUrl=%2Fhome&providerId=a", false},
	} {
		var wrong forminput.Errors
		if _, fields := row.in.Post(&wrong, "/home"); fields.Encode() != row.want || wrong.Found() == row.ok {
			t.Errorf("%+v: %s, %v", row.in, fields.Encode(), &wrong)
		}
	}
}

// TestForm reads forms of the application.
func TestForm(t *testing.T) {
	t.Parallel()
	for _, row := range [][4]string{
		{"csrfToken=t", "", "", "callbackUrl=%2Fhome&csrfToken=t"},
		{"providerId=a&authorizationParams-prompt=login&email=ada", "a", "prompt=login", "callbackUrl=%2Fhome&email=ada"},
		{"redirectTo=/in&callbackUrl=/other", "", "", "callbackUrl=%2Fin"},
		{"redirectTo=&callbackUrl=/other", "", "", "callbackUrl=%2Fother"},
	} {
		media := []string{"application/x-www-form-urlencoded"}
		posted, err := form.Read(t.Context(), media, strings.NewReader(row[0]))
		if err != nil {
			t.Fatal(err)
		}
		id, params, fields := forminput.Form(&posted, "/home")
		if got := [3]string{id, params.Encode(), fields.Encode()}; got != [3]string(row[1:]) {
			t.Errorf("%s: %q", row[0], got)
		}
	}
}
