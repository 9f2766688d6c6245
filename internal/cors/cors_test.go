package cors

import (
	"net/http"
	"testing"
)

const spa = "https://spa.example"

func from(origins ...string) http.Header { return http.Header{"Origin": origins} }

func TestOrigin(t *testing.T) {
	t.Parallel()
	p := Policy{Trusted: []string{spa, "http://localhost:3000"}}
	for _, test := range []struct {
		request http.Header
		want    string
	}{
		{from(spa), spa}, {from("http://localhost:3000"), "http://localhost:3000"}, {from("null"), ""},
		{from("https://spa.example.evil"), ""}, {from("HTTPS://spa.example"), ""}, {from(spa, spa), ""}, {http.Header{}, ""},
	} {
		if got := p.Origin(test.request); got != test.want {
			t.Errorf("%q: %q", test.request, got)
		}
	}
}

// FuzzOrigin checks that only exactly the listed origins may read responses and get preflights.
func FuzzOrigin(f *testing.F) {
	p := Policy{Trusted: []string{spa, "http://localhost:3000"}}
	for _, value := range append([]string{
		"null", "*", "https://spa.example/", "https://SPA.example", "https://spa.example:443", "https://spa.example.evil",
		"https://spa.example, https://evil.example", " https://spa.example", "https://spa.example\x00", "",
	}, p.Trusted...) {
		f.Add(value, "")
		f.Add(value, spa)
	}
	f.Fuzz(func(t *testing.T, value, second string) {
		request, response := from(value), http.Header{}
		request.Set("Access-Control-Request-Method", "POST")
		if second != "" {
			request.Add("Origin", second)
		}
		want := second == "" && (value == spa || value == "http://localhost:3000")
		if p.IsPreflight("OPTIONS", request) != want {
			t.Fatalf("a preflight from %q %q: %v", value, second, !want)
		}
		p.Share(request, response)
		if shared := response.Get("Access-Control-Allow-Origin"); (shared != "") != want || want && shared != value {
			t.Fatalf("%q %q may read a response: %v", value, second, shared)
		}
	})
}

func TestShare(t *testing.T) {
	t.Parallel()
	p := Policy{Trusted: []string{spa}, Expose: "Retry-After"}
	trusted, other, none := http.Header{"Vary": {"Accept"}}, http.Header{}, http.Header{}
	p.Share(from(spa), trusted)
	p.Share(from("https://evil.example"), other)
	Policy{}.Share(from(spa), none)
	if trusted.Get("Access-Control-Allow-Origin") != spa || trusted.Get("Access-Control-Allow-Credentials") != "true" ||
		trusted.Get("Access-Control-Expose-Headers") != "Retry-After" || trusted.Get("Vary") != "Accept, Origin" {
		t.Errorf("%q", trusted)
	}
	if len(other) != 1 || other.Get("Vary") != "Origin" || len(none) != 0 {
		t.Errorf("%q, %q", other, none)
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	p := Policy{Trusted: []string{spa}}
	asks := func(origin, method string) http.Header {
		return http.Header{"Origin": {origin}, "Access-Control-Request-Method": {method}}
	}
	if !p.IsPreflight("OPTIONS", asks(spa, "POST")) {
		t.Error("a preflight request is none")
	}
	if p.IsPreflight("POST", asks(spa, "POST")) || p.IsPreflight("OPTIONS", asks(spa, "")) ||
		p.IsPreflight("OPTIONS", from(spa)) || p.IsPreflight("OPTIONS", asks("https://evil.example", "POST")) {
		t.Error("another request is a preflight request")
	}
	h := http.Header{}
	p.Preflight(asks(spa, "POST"), h)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": spa, "Access-Control-Allow-Methods": "GET, POST",
		"Access-Control-Max-Age":       "7200",
		"Access-Control-Allow-Headers": "Authorization, Content-Type, X-Auth-Return-Redirect",
		"Vary":                         "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
	} {
		if h.Get(name) != want {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
}
