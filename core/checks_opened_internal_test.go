package core

import (
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/jwe"
)

// TestOpenedClaims: a check cookie is opened by the rules for tokens, and says what its token would.
func TestOpenedClaims(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &sealer{now: func() time.Time { return now }}
	keys, err := jwe.NewKeyring([]string{"0123456789abcdef0123456789abcdef"}, "salt")
	if err != nil {
		t.Fatal(err)
	}
	const ours = `"flow":{"s":"tag","w":"a.b","f":true,"u":"https://app.example/x","v":"kept"},` +
		`"provider":"op","value":"v",`
	for name, row := range map[string]struct {
		claims string
		good   bool
		flow   string // its tag
	}{
		"a check of ours":          {ours + `"exp":1893456900,"jti":"x"`, true, "tag"},
		"a check of Auth.js":       {`"value":"v\u0041","provider":"op","data":{"x":[1]},"iat":1893456000`, true, ""},
		"of other tabs":            {`"earlier":[{"s":"t","p":"op","e":1893456060}]`, true, ""},
		"tabs that are none":       {`"earlier":{"s":1}`, true, ""},
		"a value that is no text":  {`"value":{"a":1},"provider":7`, true, ""},
		"a flow that is none":      {`"flow":"x","value":"v"`, true, ""},
		"a tag that is a number":   {`"flow":{"w":"a.b","s":1},"value":"v"`, true, ""},
		"a value twice":            {`"value":"v","value":"w"`, false, ""},
		"no JSON":                  {`"value":`, false, ""},
		"an ID that is no text":    {`"value":"v","jti":1`, false, ""},
		"an end that is none":      {`"value":"v","exp":"soon"`, false, ""},
		"a beginning that is none": {`"value":"v","iat":"soon"`, false, ""},
		"ended":                    {`"value":"v","exp":1893455900`, false, ""},
		"not good yet":             {`"value":"v","nbf":1893459600`, false, ""},
		"never good":               {`"value":"v","nbf":null`, false, ""},
		"good for long":            {`"value":"v","nbf":1`, true, ""},
	} {
		sealed, err := keys.Seal(jwe.IV{}, []byte("{"+row.claims+"}"))
		if err != nil {
			t.Fatal(name, err)
		}
		got, err := s.openClaims(keys, sealed)
		token, asToken := s.open(keys, sealed)
		if (err == nil) != row.good || (asToken == nil) != row.good {
			t.Errorf("%s: %v, as a token %v", name, err, asToken)
		}
		if row.good {
			sameAsToken(t, name, &got, token, row.flow)
		}
	}
	if _, err := s.openClaims(keys, strings.Repeat("x", 9)); err == nil {
		t.Error("what nobody sealed is opened")
	}
}

// sameAsToken compares claims with those of their token. tag is that of the flow, empty where there is none.
func sameAsToken(t *testing.T, name string, got *openedClaims, token *Token, tag string) {
	t.Helper()
	if got.value != token.Extra.Text("value") || got.provider != token.Extra.Text("provider") ||
		!got.expires.Equal(token.Expires) {
		t.Errorf("%s: %+v, as a token %+v", name, got, token)
	}
	flow := got.newestFlow()
	if (flow != nil) != (tag != "") || flow != nil && (flow.Tag != tag || flow.Provider != got.provider) {
		t.Errorf("%s: the flow %+v", name, flow)
	}
	var earlier []underway
	if token.Extra.Get("earlier", &earlier); len(earlier) != len(got.listed()) {
		t.Errorf("%s: other tabs %v, as a token %v", name, got.listed(), earlier)
	}
	if again := got.token(); !sameClaims(again, token) {
		t.Errorf("%s: %+v is written anew, and was %+v", name, again, token)
	}
}
