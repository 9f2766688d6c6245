package core

import (
	"net/http"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
)

// FuzzOrigin checks that only exactly the listed origins may read responses and get preflights.
func FuzzOrigin(f *testing.F) {
	trusted := []string{"https://spa.example", "http://localhost:3000"}
	for _, value := range append([]string{
		"null", "*", "https://spa.example/", "https://SPA.example", "https://spa.example:443", "https://spa.example.evil",
		"https://spa.example, https://evil.example", " https://spa.example", "https://spa.example\x00", "",
	}, trusted...) {
		f.Add(value, "")
		f.Add(value, trusted[0])
	}
	s := &site{trusted: trusted, cookieSets: [2]*cookies.Set{{}, {}}, unknownPlace: &place{}}
	f.Fuzz(func(t *testing.T, value, second string) {
		r := &Request{Method: http.MethodOptions, Target: "/auth/session", Header: http.Header{
			"Origin": {value}, "Access-Control-Request-Method": {"POST"},
		}}
		if second != "" {
			r.Header["Origin"] = append(r.Header["Origin"], second)
		}
		want := second == "" && (value == trusted[0] || value == trusted[1])
		granted := s.preflight(r)
		if (granted != nil) != want {
			t.Fatalf("a preflight from %q %q: %v", value, second, granted)
		}
		if want && granted.Header.Get("Access-Control-Allow-Origin") != value {
			t.Fatalf("%q may read as %v", value, granted.Header)
		}
		v, response := s.unsettled(r), &Response{}
		v.share(response)
		if shared := response.Header.Get("Access-Control-Allow-Origin"); (shared != "") != want {
			t.Fatalf("%q %q may read a response: %v", value, second, shared)
		}
	})
}
