package token

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// TestTimes checks exp and nbf. A number outside the range of dates is an invalid time, not one without end.
func TestTimes(t *testing.T) {
	t.Parallel()
	for claims, good := range map[string]bool{
		`{}`: true, `{"nbf":1893456000}`: true, `{"nbf":1893459600}`: false, `{"nbf":"soon"}`: false, `{"nbf":null}`: false,
		`{"nbf":{}}`: false, `{"exp":1893456000}`: true, `{"exp":1893455900}`: false,
		`{"exp":1893455990}`: true, `{"exp":1893455980}`: false,
	} {
		if _, err := Parse(claims, time.Unix(1893456000, 0), false); (err == nil) != good {
			t.Errorf("%s: %v", claims, err)
		}
	}
	for _, claim := range []string{"-1", "1e300", "99999999999999999", `"1893456000"`, "null"} {
		var at time.Time
		if err := readTime(claim, &at); err == nil {
			t.Errorf("%s is read as %v", claim, at)
		}
	}
}

// TestFacts sets the facts of a session, hides them from the application, and restores them after a change by the
// application.
func TestFacts(t *testing.T) {
	t.Parallel()
	original := &Token{Subject: "1", ID: "j", Extra: store.Members{"role": json.RawMessage(`"admin"`)}}
	if SessionID(original) != "" {
		t.Error("a token without facts has a session ID")
	}
	if err := SetFacts(original, Facts{SID: "s", Start: start, AuthTime: start, Methods: []string{"pwd"},
		Epoch: 3}); err != nil {
		t.Fatal(err)
	}
	if len(original.Extra) != 1 {
		t.Errorf("Extra has %v", original.Extra)
	}
	check := func(t *testing.T, c *Token) {
		t.Helper()
		at, methods := Authentication[string](c)
		begun, ok := Start(c)
		if !at.Equal(start) || len(methods) != 1 || methods[0] != "pwd" || begun != start.Unix() || !ok || Epoch(c) != 3 {
			t.Errorf("%v, %v, %v, %v, epoch %d", at, methods, begun, ok, Epoch(c))
		}
		if SessionID(c) == "" || SessionID(c) != SessionID(original) || Claim(c, "sid") != `"s"` {
			t.Errorf("the session ID is %q", SessionID(c))
		}
	}
	check(t, original)
	shown := ShowFacts(original)
	if len(shown.Extra) != 5 {
		t.Errorf("the application sees %v", shown.Extra)
	}
	check(t, shown)
	check(t, HideFacts(shown))
	written, err := shown.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, hide := range []bool{false, true} {
		parsed, err := Parse(string(written), start, hide)
		if err != nil || (len(parsed.Extra) == 1) != hide {
			t.Fatalf("hide %v: %v, %v", hide, parsed, err)
		}
		check(t, parsed)
	}
	shown.Extra["sid"], shown.Extra["ep"] = json.RawMessage(`"other"`), json.RawMessage("0")
	if len(original.Extra) != 1 || Claim(original, "sid") != `"s"` {
		t.Error("a copy shares its claims with the original")
	}
	CopyFacts(shown, original)
	check(t, shown)
	if got := Claim(WithSID(original, "t"), "sid"); got != `"t"` {
		t.Errorf("the claim sid is %s", got)
	}
}

// TestForgedActor checks that an application cannot write the claim of an impersonation. A claim act in another form is
// the application's, and stays.
func TestForgedActor(t *testing.T) {
	t.Parallel()
	for claim, kept := range map[string]bool{`{"sub":"2","sid":"s"}`: false, `{"sub":"a service"}`: true, `"x"`: true} {
		from, changed := &Token{Subject: "1"}, &Token{Subject: "1"}
		changed.Extra = store.Members{"act": json.RawMessage(claim)}
		CopyFacts(changed, from)
		if Actor(changed) != (ActorClaim{}) || (changed.Extra["act"] != nil) != kept {
			t.Errorf("%s: actor %v, claims %v", claim, Actor(changed), changed.Extra)
		}
	}
}

// TestPrinting checks that printing a token shows no claim except the user ID.
func TestPrinting(t *testing.T) {
	t.Parallel()
	c := Token{Subject: "1", Name: "canary", Extra: store.Members{"a": json.RawMessage(`"canary"`)}}
	p := DecodeParams{Token: "canary", Secrets: []store.Secret{"canary"}, Salt: "salt"}
	for _, text := range []string{
		fmt.Sprintf("%v %+v %#v %s", c, c, c, &c), c.LogValue().String(),
		fmt.Sprintf("%v %+v %#v %s", p, p, p, &p), p.LogValue().String(),
	} {
		if strings.Contains(text, "canary") {
			t.Errorf("printed %s", text)
		}
	}
}

// FuzzClaims checks that the claims of a token are the same after writing and reading them again.
func FuzzClaims(f *testing.F) {
	for _, claims := range []string{
		`{"sub":"1","name":"Ada","email":null,"iat":1893456000,"exp":1.893456e9,"jti":"x"}`,
		`{"sub":"1","SUB":"2"}`, `{"sub":"1","sub":"2"}`, `{"exp":-1}`, `{"exp":1e99}`, `{"name":["x"],"deep":{"a":[1]}}`,
	} {
		f.Add([]byte(claims))
	}
	f.Fuzz(func(t *testing.T, claims []byte) {
		var token, again Token
		if token.UnmarshalJSON(claims) != nil {
			return
		}
		written, err := token.MarshalJSON()
		if err != nil || !json.Valid(written) {
			t.Fatalf("%s is written as %s: %v", claims, written, err)
		}
		if err := again.UnmarshalJSON(written); err != nil {
			t.Fatalf("%s is not read again: %v", written, err)
		}
		if again.Subject != token.Subject || !again.Expires.Equal(token.Expires) ||
			!bytes.Equal(AppendClaims(nil, &token), AppendClaims(nil, &again)) {
			t.Fatalf("%s is read again as %s", written, AppendClaims(nil, &again))
		}
	})
}
