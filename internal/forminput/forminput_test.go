package forminput_test

import (
	"encoding/json"
	"net/url"
	"testing"

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
		if got := wrong.Query(row.of).Encode(); got != row.want || wrong.Found() == row.ok {
			t.Errorf("%s: %q, %v", name, got, &wrong)
		}
	}
}
