package cookie_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/internal/cookie"
)

func FuzzJar(f *testing.F) {
	for _, seed := range []string{"a=b; c=d", " =;; a==b;a", "s.0=a; s.1=%41; s=%zz", "s.01=x; s.15=y", "a=%E0%A4%A"} {
		f.Add(seed, "s.0=second line")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		jar := cookie.Parse([]string{first, second})
		seen := map[string]string{}
		for name, value := range jar.All() {
			if strings.ContainsAny(name, ";=") {
				t.Fatalf("name %q", name)
			}
			if _, again := seen[name]; !again {
				seen[name] = value
			}
		}
		for name, want := range seen {
			if got, ok := jar.Get(name); !ok || got != want {
				t.Fatalf("Get(%q) = %q, %v, want the first value %q", name, got, ok, want)
			}
		}
		joined := cookie.Join(jar, "s")
		if n := len(slices.Collect(joined.Values())); n > 9 {
			t.Fatalf("%d readings", n)
		}
		for _, name := range joined.Present() {
			if _, ok := seen[name]; !ok {
				t.Fatalf("Present names %q, which the request does not carry", name)
			}
		}
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("plain")
	f.Add("a|b; c=%41 \"q\" ü€\r\n")
	f.Add(strings.Repeat("long", 2500))
	f.Fuzz(func(t *testing.T, value string) {
		header := cookie.Cookie{Name: "s", Value: value, Path: "/"}.String()
		for _, c := range []byte(header) {
			if c < 0x20 || c > 0x7e {
				t.Fatalf("byte %#x in a header", c)
			}
		}
		if strings.Count(header, ";") != 1 {
			t.Fatalf("value added attributes: %q", header)
		}
		if !utf8.ValidString(value) {
			return
		}
		chunks, err := cookie.Split("s", value)
		if err != nil {
			return
		}
		var lines []string
		for _, c := range slices.Backward(chunks) {
			lines = append(lines, cookie.Cookie{Name: c.Name, Value: c.Value}.String())
		}
		if got := cookie.Join(cookie.Parse(lines), "s").Value(); got != value {
			t.Fatalf("%d chunks: %q became %q", len(chunks), value, got)
		}
	})
}
