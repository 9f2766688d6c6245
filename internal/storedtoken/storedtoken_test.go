package storedtoken_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

func TestFacts(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_900_000_000, 0)
	for name, row := range map[string]struct {
		facts storedtoken.Facts
		token string
	}{
		"a sign-in": {
			storedtoken.Facts{Start: start, AuthTime: start, Methods: []string{"pwd", "otp"}}, "random.kvf7lds.pwd-otp",
		},
		"an earlier authentication": {
			storedtoken.Facts{Start: start, AuthTime: start.Add(-time.Hour), Methods: []string{"fed"}},
			"random.kvf7ils-vf7lds.fed",
		},
		"an unknown authentication": {storedtoken.Facts{Start: start}, "random.k0-vf7lds."},
		"with a class": {
			storedtoken.Facts{Start: start, AuthTime: start, Methods: []string{"fed"}, ACR: "urn:x:a.b-c"},
			"random.acr-dXJuOng6YS5iLWM.kvf7lds.fed",
		},
	} {
		token := storedtoken.Append("random", row.facts)
		if token != row.token {
			t.Errorf("%s: %q", name, token)
		}
		got, ok := storedtoken.Read(token)
		if !ok || !reflect.DeepEqual(got, row.facts) || !storedtoken.Start(token).Equal(start) {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
	for _, token := range []string{"", "random", "a.b", "a.kx!.pwd", "a.k-1.pwd", "a.1.pwd", "a.k1-!.pwd"} {
		if got, ok := storedtoken.Read(token); ok {
			t.Errorf("%q has the facts %+v", token, got)
		}
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_900_000_000, 0)
	if got := storedtoken.Start(storedtoken.AppendStart("random", at)); !got.Equal(at) {
		t.Errorf("got %v", got)
	}
	for _, token := range []string{"", "0d3f1c2a-0000-4000-8000-000000000000", "random.!"} {
		if got := storedtoken.Start(token); !got.IsZero() {
			t.Errorf("%q started at %v", token, got)
		}
	}
}

func TestWellFormed(t *testing.T) {
	t.Parallel()
	methods := []string{"pwd", "", "with.dot", "with space", "otp", "longerthan8"}
	for range 20 {
		methods = append(methods, "more")
	}
	if kept := storedtoken.WellFormed(methods); len(kept) != 8 || kept[0] != "pwd" || kept[1] != "otp" {
		t.Errorf("methods %v are kept", kept)
	}
}

func TestAtRest(t *testing.T) {
	t.Parallel()
	plain, hashed := storedtoken.AtRest("token", "", false), storedtoken.AtRest("token", "", true)
	audience, other := storedtoken.AtRest("token", "a", false), storedtoken.AtRest("token", "b", true)
	if plain != "token" || len(hashed) != 64 || strings.Contains(hashed, "token") {
		t.Errorf("%q, hashed %q", plain, hashed)
	}
	if len(audience) != 64 || audience == hashed || audience == other ||
		audience != storedtoken.AtRest("token", "a", true) {
		t.Errorf("audiences %q, %q", audience, other)
	}
}
