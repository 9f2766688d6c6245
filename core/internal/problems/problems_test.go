package problems

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	d := Document{Status: 409, Title: "Conflict", Code: "taken", Reference: "A1", Members: map[string]any{
		"left": 2, "status": 200, "code": "own", "detail": "own", "instance": "own", "type": "own",
	}}
	const start = `{"code":"taken",`
	const end = `"left":2,"reference":"A1","status":409,"title":"Conflict","type":"about:blank"}`
	if body, err := d.JSON(); string(body) != start+end || err != nil {
		t.Errorf("%s, %v", body, err)
	}
	d.Detail, d.Field = "The name is taken.", "name"
	if body, err := d.JSON(); string(body) != start+`"detail":"The name is taken.","field":"name",`+end || err != nil {
		t.Errorf("%s, %v", body, err)
	}
	d.Members["left"] = func() {}
	body, err := d.JSON()
	if string(body) != `{"type":"about:blank","code":"taken"}` || err == nil ||
		!strings.HasPrefix(err.Error(), "encode Problem.Members: ") {
		t.Errorf("%s, %v", body, err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]int{0: 400, 200: 400, 399: 400, 400: 400, 503: 503, 599: 599, 600: 400} {
		if got := Status(status); got != want {
			t.Errorf("%d: %d", status, got)
		}
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"locked": "locked", "": "credentials", "\r\n\x7f": "credentials", "a\r\nb\x7fc\xffd ~": "abcd ~",
		strings.Repeat("x", 65): strings.Repeat("x", 64),
	} {
		if got := Code(code); got != want {
			t.Errorf("%q: %q", code, got)
		}
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		time.Second: "1", time.Second + 1: "2", 1: "1", time.Minute: "60",
	} {
		if got := Seconds(wait); got != want {
			t.Errorf("%v: %s", wait, got)
		}
	}
}

func TestStepUp(t *testing.T) {
	t.Parallel()
	const start = `Bearer error="insufficient_user_authentication", error_description="Sign in again first."`
	if challenge, members := StepUp(time.Second-1, nil, false); challenge != start || len(members) != 0 {
		t.Errorf("%s, %v", challenge, members)
	}
	challenge, members := StepUp(time.Minute, []string{"gold", "silver"}, true)
	if challenge != start+`, max_age="60", acr_values="gold silver"` || !reflect.DeepEqual(members, map[string]any{
		"maxAge": int64(60), "acrValues": []string{"gold", "silver"}, "strong": true,
	}) {
		t.Errorf("%s, %v", challenge, members)
	}
}
