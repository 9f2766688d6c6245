package ui

import (
	"net/url"
	"strings"
	"testing"
)

// FuzzAddress searches for an address that passes the check and that a browser may read as a script, another scheme or
// another host than the checked one. Attackers can choose the URLs of users' pictures.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"/a?b=c#d", "https://img.test/a.png", "http://[::1]:80/", "//evil.example", "/\\evil.example",
		"javascript:alert(1)", "https:evil.example", "https://a@b/", "https://a;b/", "/\t/x", "data:image/png;base64,AA==",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if dataImage().MatchString(s) && strings.ContainsAny(s, "<>\" \n") {
			t.Errorf("data URL %q can leave its attribute", s)
		}
		if !safeAddress(s) {
			return
		}
		if strings.ContainsAny(s, "\\\t\r\n\x00 ") || strings.HasPrefix(s, "//") {
			t.Errorf("%q was let through", s)
		}
		if s[0] != '/' {
			u, err := url.Parse(s)
			if err != nil || u.Host == "" || !strings.HasPrefix(strings.ToLower(s), u.Scheme+"://") {
				t.Errorf("%q was let through as %v (%v)", s, u, err)
			}
		}
	})
}

// FuzzColor searches for a color that could end its declaration or load something.
func FuzzColor(f *testing.F) {
	for _, seed := range []string{
		"#fff", "red", "rgb(1 2 3 / 50%)", "oklch(.6 .1 250)", "url(x)", "#fff}body{", "red;x:y", "rgb(/**/)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if safeColor(s) && (strings.ContainsAny(s, ";{}<>\"'\\:*\n\x00@!") || strings.Contains(strings.ToLower(s), "url")) {
			t.Errorf("%q was let through", s)
		}
	})
}
