package weburl_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

func FuzzAddQuery(f *testing.F) {
	f.Add("/login?x=1#top", "error", "x&admin=1#y")
	f.Add("https://pages.example", "a b", "\r\n")
	f.Add("/?%", "", "")
	f.Fuzz(func(t *testing.T, u, name, value string) {
		out, err := weburl.AddQuery(u, name, value)
		if err != nil {
			return
		}
		for _, c := range []byte(out) {
			if c <= 0x20 || c >= 0x7f || c == '\\' {
				t.Fatalf("AddQuery(%q) = %q holds byte %#x", u, out, c)
			}
		}
		if strings.HasPrefix(out, "//") {
			t.Fatalf("AddQuery(%q) = %q", u, out)
		}
		parsed, err := url.Parse(out)
		if err != nil {
			t.Fatalf("net/url refuses %q: %v", out, err)
		}
		pieces := strings.Split(parsed.RawQuery, "&")
		n, v, _ := strings.Cut(pieces[len(pieces)-1], "=")
		gotName, _ := url.QueryUnescape(n)
		gotValue, _ := url.QueryUnescape(v)
		if gotName != name || gotValue != value {
			t.Fatalf("AddQuery(%q, %q, %q) = %q: last pair is %q, %q", u, name, value, out, gotName, gotValue)
		}
	})
}

// FuzzActionCanonical: the canonical target of an action is parsed to the same action.
func FuzzActionCanonical(f *testing.F) {
	var payloads []struct{ Target string }
	load(f, "paths.json", "payloads", &payloads)
	for _, p := range payloads {
		f.Add(p.Target)
	}
	f.Fuzz(func(t *testing.T, target string) {
		action, provider, ok := weburl.Action(target, "/auth")
		if !ok {
			if action != "" || provider != "" {
				t.Fatalf("%q: %q, %q together with false", target, action, provider)
			}
			return
		}
		if strings.ContainsAny(provider, "/\\?#\r\n\x00") {
			t.Fatalf("%q: provider %q", target, provider)
		}
		canonical := "/auth/" + action
		if provider != "" {
			canonical += "/" + provider
		}
		if a, p, ok := weburl.Action(canonical, "/auth"); !ok || a != action || p != provider {
			t.Fatalf("%q and %q differ", target, canonical)
		}
	})
}

func FuzzParseHost(f *testing.F) {
	for _, seed := range []string{"app.example:8443", "[::1]", "127.0.0.1", "a@b", "0x7f.1", "A.", "[fe80::1%eth0]:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		host, err := weburl.ParseHost(raw)
		if err != nil {
			return
		}
		if again, err := weburl.ParseHost(host); err != nil || again != host {
			t.Fatalf("ParseHost(%q) = %q, but again %q, %v", raw, host, again, err)
		}
		if u, err := url.Parse("https://" + host + "/x"); err != nil || u.Host != host || u.Path != "/x" {
			t.Fatalf("net/url reads another host in %q", host)
		}
	})
}

func FuzzFields(f *testing.F) {
	f.Add("a=1&b=%41+&%zz=&=;")
	f.Fuzz(func(t *testing.T, s string) {
		strict, strictErr := weburl.ParseForm(s)
		lenient, err := weburl.Query("/?" + s)
		if err != nil {
			return
		}
		if strictErr == nil && strict.Len() != lenient.Len() {
			t.Fatalf("%d and %d fields", strict.Len(), lenient.Len())
		}
		for name, value := range lenient.Fields() {
			if strings.ToValidUTF8(name+value, "") != name+value {
				t.Fatalf("field %q = %q is no UTF-8", name, value)
			}
		}
	})
}
