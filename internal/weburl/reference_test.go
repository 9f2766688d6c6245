package weburl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

var app = weburl.Origin{Scheme: "https", Host: "app.example"}

func TestCallbackURLRecorded(t *testing.T) {
	t.Parallel()
	var vectors []struct {
		CallbackURL string
		InQuery     struct{ StoredAs string }
		InBody      struct {
			Status   int
			Location string
		}
	}
	load(t, "vectors.json", "callback-urls", &vectors)
	origin := weburl.Origin{Scheme: "https", Host: "app.test"}
	for _, v := range vectors {
		// The recorded results are: stored, replaced by the origin, a configuration error everywhere, and an error in the
		// query but the origin in the body.
		var want error
		switch {
		case v.CallbackURL == "//evil.test":
			want = weburl.ErrForeign // the recording appends it to the origin; a browser would leave the site
		case v.InQuery.StoredAs == "" && strings.Contains(v.InBody.Location, "error="):
			want = weburl.ErrMalformed
		case v.InQuery.StoredAs == "":
			want = weburl.ErrScheme
		case v.InQuery.StoredAs == "https://app.test" && v.CallbackURL != "https://app.test":
			want = weburl.ErrForeign
		}
		got, err := weburl.Resolve(v.CallbackURL, origin)
		if !errors.Is(err, want) {
			t.Errorf("Resolve(%q) = %q, %v, want %v", v.CallbackURL, got, err, want)
		} else if err == nil && got != v.InQuery.StoredAs {
			t.Errorf("Resolve(%q) = %q, want %q", v.CallbackURL, got, v.InQuery.StoredAs)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw, want string
		err       error
	}{
		{"/", "https://app.example/", nil},
		{"https://app.example", "https://app.example", nil},
		{"https://app.example/", "https://app.example/", nil},
		{"https://app.example/ok?x#y", "https://app.example/ok?x#y", nil},
		{"HTTPS://APP.example:443/ok", "https://app.example/ok", nil},
		{"/a|b{c}?d|e{f}^`", "https://app.example/a|b%7Bc%7D?d|e{f}^`", nil},
		{"/ü €", "https://app.example/%C3%BC%20%E2%82%AC", nil},
		{"/x;y,z \"q\"", "https://app.example/x;y,z%20%22q%22", nil},
		{"/100%", "https://app.example/100%25", nil},
		{"/a?q=100%&r=%41#50%", "https://app.example/a?q=100%25&r=%41#50%25", nil},
		{`/a?path=C:\x#\y`, `https://app.example/a?path=C:%5Cx#%5Cy`, nil},
		{"/a/./b/../c", "https://app.example/a/c", nil},
		{"/a/%2E%2e/b", "https://app.example/b", nil},
		{"/../..", "https://app.example/", nil},
		{"https://app.example?x=1", "https://app.example/?x=1", nil},
		{"https://app.example#x", "https://app.example/#x", nil},
		{"https://app.example//x", "https://app.example//x", nil},
		{"/x ", "https://app.example/x", nil},
		{"/?a#b#c", "https://app.example/?a#b#c", nil},

		{"", "", weburl.ErrMalformed},
		{" ", "", weburl.ErrMalformed},
		{`/a\b`, "", weburl.ErrMalformed},
		{"/\xff", "", weburl.ErrMalformed},
		{"/\x7f", "", weburl.ErrMalformed},
		{"https://", "", weburl.ErrMalformed},
		{"https://[::1", "", weburl.ErrMalformed},
		{"https://app.example:x/", "", weburl.ErrMalformed},
		{"//app.example/x", "", weburl.ErrForeign},
		{`/\app.example/x`, "", weburl.ErrForeign},
		{"/.//evil.example", "", weburl.ErrForeign},
		{"/a/..//evil.example", "", weburl.ErrForeign},
		{"https:/app.example/x", "", weburl.ErrForeign},
		{"https:x", "", weburl.ErrForeign},
		{"https://user@app.example/", "", weburl.ErrForeign},
		{"http://app.example/", "", weburl.ErrForeign},
		{"blob:https://app.example/x", "", weburl.ErrScheme},
		{"app.example:80/x", "", weburl.ErrScheme},
		{"/" + strings.Repeat("a", weburl.MaxLength), "", weburl.ErrTooLong},
		{"/" + strings.Repeat("é", 400), "", weburl.ErrTooLong},
	}
	for _, tt := range tests {
		got, err := weburl.Resolve(tt.raw, app)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("Resolve(%.40q) = %q, %v; want %q, %v", tt.raw, got, err, tt.want, tt.err)
		}
	}
}

func TestNormalise(t *testing.T) {
	t.Parallel()
	tests := []struct {
		raw, want string
		err       error
	}{
		{"https://other.example/x?y#z", "https://other.example/x?y#z", nil},
		{"HTTP://Other.Example:80/ü", "http://other.example/%C3%BC", nil},
		{"https://[2001:db8:0::1]:8443", "https://[2001:db8::1]:8443", nil},

		{"/x", "", weburl.ErrMalformed},
		{"", "", weburl.ErrMalformed},
		{"//other.example", "", weburl.ErrMalformed},
		{"https://münchen.example/", "", weburl.ErrMalformed},
		{"https://a@other.example/", "", weburl.ErrMalformed},
		{"https://other.example/\r\nSet-Cookie: x=1", "", weburl.ErrMalformed},
		{"javascript:alert(1)", "", weburl.ErrScheme},
		{"https://other.example/" + strings.Repeat("a", weburl.MaxLength), "", weburl.ErrTooLong},
	}
	for _, tt := range tests {
		got, err := weburl.Normalise(tt.raw)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("Normalise(%.40q) = %q, %v; want %q, %v", tt.raw, got, err, tt.want, tt.err)
		}
	}
}

func TestAddQueryParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, u string
		pairs   []string
		want    string
		err     error
	}{
		{"path", "/login", []string{"error", "AccessDenied"}, "/login?error=AccessDenied", nil},
		{"own query and fragment", "/login?tab=1#top", []string{"error", "x"}, "/login?tab=1&error=x#top", nil},
		{"absolute", "https://pages.example/login", []string{"a", "b", "c", "d"}, "https://pages.example/login?a=b&c=d", nil},
		{"absolute without path", "https://pages.example", []string{"a", "b"}, "https://pages.example?a=b", nil},
		{"open query", "/login?", []string{"a", "b"}, "/login?a=b", nil},
		{"query that ends in an ampersand", "/login?x&", []string{"a", "b"}, "/login?x&a=b", nil},
		{"nothing to add", "/login?x", nil, "/login?x", nil},
		{"nothing at all", "/login?", nil, "/login", nil},
		{"long value", "/login", []string{"a", strings.Repeat("x", 3000)}, "/login?a=" + strings.Repeat("x", 3000), nil},

		{"value with parameters", "/login", []string{"error", "x&admin=1#y"}, "/login?error=x%26admin%3D1%23y", nil},
		{"value with line break", "/login", []string{"error", "x\r\nSet-Cookie: a=b"},
			"/login?error=x%0D%0ASet-Cookie%3A+a%3Db", nil},
		{"value encoded once", "/login", []string{"error", "x%26"}, "/login?error=x%2526", nil},
		{"value that is an address", "/v", []string{"callbackUrl", "https://app.example/a?b=c"},
			"/v?callbackUrl=https%3A%2F%2Fapp.example%2Fa%3Fb%3Dc", nil},
		{"value beyond ASCII", "/v", []string{"e", "ü~*-._'"}, "/v?e=%C3%BC%7E*-._%27", nil},

		{"odd pairs", "/login", []string{"error"}, "", weburl.ErrMalformed},
		{"no address", "login", []string{"a", "b"}, "", weburl.ErrMalformed},
		{"scheme-relative", "//pages.example", []string{"a", "b"}, "", weburl.ErrForeign},
		{"climbing", "/.//pages.example", []string{"a", "b"}, "", weburl.ErrMalformed},
		{"line break", "/login\n", []string{"a", "b"}, "", weburl.ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := weburl.AddQuery(tt.u, tt.pairs...)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("AddQuery = %.80q, %v; want %.80q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}
