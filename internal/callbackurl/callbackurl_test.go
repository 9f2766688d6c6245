package callbackurl_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/callbackurl"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

var app = weburl.Origin{Scheme: "https", Host: "app.test"}

const origin = "https://app.test"

func long(n int) string { return origin + "/" + strings.Repeat("x", n-len(origin)-1) }

// rules returns the rules of a site below the path /shop, whose native app has the scheme myapp.
func rules() *callbackurl.Rules {
	return &callbackurl.Rules{Origin: app, Home: origin + "/shop/", AppSchemes: []string{"myapp"}}
}

// TestChoose checks the target and the new cookie for URLs in the request and in the cookie.
func TestChoose(t *testing.T) {
	t.Parallel()
	home := origin + "/shop/"
	// In the cookie, a colon and three slashes take two bytes more each.
	storable, unstorable, useless := long(850-8), long(850-8+1), long(2000-8+1)
	for _, row := range []struct{ name, asked, remembered, target, cookie string }{
		{"nothing", "", "", home, home},
		{"the home page is remembered", "", home, home, ""},
		{"a remembered path", "", origin + "/a", origin + "/a", ""},
		{"a requested path", "/b?c=1", origin + "/a", origin + "/b?c=1", origin + "/b?c=1"},
		{"the remembered URL is requested", origin + "/a", origin + "/a", origin + "/a", ""},
		{"a malformed cookie", "", "/x\r\nSet-Cookie: a=b", home, home},
		{"another site in the cookie", "", "https://evil.test/", home, home},
		{"another site", "https://evil.test/", home, home, ""},
		{"the origin", origin, origin + "/a", home, home},
		{"a native app", "myapp://done", home, "myapp://done", "myapp://done"},
		{"an unknown scheme", "other://done", home, home, ""},
		{"the longest URL that is stored", storable, home, storable, storable},
		{"a URL that is used only once", unstorable, home, unstorable, origin},
		{"a URL that is too long", useless, home, origin, origin},
	} {
		chosen, err := rules().Choose(t.Context(), row.asked, row.remembered)
		if err != nil || chosen.Target != row.target || chosen.Cookie != row.cookie {
			t.Errorf("%s: %.80q, %.80q, %v", row.name, chosen.Target, chosen.Cookie, err)
		}
	}
	for _, malformed := range []string{"/x\r\nSet-Cookie: a=b", "https://app.test@evil.test/", "/\\evil.test"} {
		chosen, err := rules().Choose(t.Context(), malformed, origin+"/a")
		if chosen.Target != home {
			t.Errorf("%q: %q, %v", malformed, chosen.Target, err)
		}
	}
	_, err := rules().Choose(t.Context(), "/x\r\n", "")
	if err == nil || !strings.HasPrefix(err.Error(), "callbackUrl: ") {
		t.Errorf("a malformed URL: %v", err)
	}
}

// TestCallback checks what the application's callback can return.
func TestCallback(t *testing.T) {
	t.Parallel()
	failed := errors.New("boom")
	for _, row := range []struct {
		name, returns, want string
		err                 error
		fails               bool
	}{
		{name: "nothing", want: origin + "/shop/"},
		{name: "a path", returns: "/x", want: origin + "/x"},
		{name: "its origin", returns: origin, want: origin},
		{name: "another site", returns: "HTTPS://Other.test:443/x", want: "https://other.test/x"},
		{name: "a native app", returns: "myapp://done", want: "myapp://done"},
		{name: "an unknown scheme", returns: "other://done", fails: true},
		{name: "a script", returns: "javascript:alert(1)", fails: true},
		{name: "line breaks", returns: "/x\r\nSet-Cookie: a=b", fails: true},
		{name: "an error", returns: "/x", err: failed, fails: true},
	} {
		r := rules()
		r.Callback = func(_ context.Context, asked string) (string, error) {
			if asked != "/asked" {
				t.Errorf("%s: the callback received %q", row.name, asked)
			}
			return row.returns, row.err
		}
		target, err := r.Check(t.Context(), "/asked")
		if target != row.want || (err != nil) != row.fails || row.err != nil && !errors.Is(err, row.err) {
			t.Errorf("%s: %q, %v", row.name, target, err)
		}
	}
	r := rules()
	r.Callback = func(context.Context, string) (string, error) { return "/every-time", nil }
	if chosen, err := r.Choose(t.Context(), "", r.Home); err != nil || chosen.Target != origin+"/every-time" {
		t.Errorf("the callback does not decide about the home page: %+v, %v", chosen, err)
	}
}

// TestValidate checks which URLs stop an action before it runs.
func TestValidate(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string][2]bool{ // without and with other schemes
		"":                      {true, true},
		"/x":                    {true, true},
		"https://evil.test/":    {true, true},
		"/" + long(9000):        {true, true},
		"other://done":          {false, true},
		"/x\r\nSet-Cookie: a=b": {false, false},
		"/\\x\x00y":             {false, false},
	} {
		for i, schemes := range []bool{false, true} {
			if err := callbackurl.Validate(asked, app, schemes); (err == nil) != want[i] {
				t.Errorf("%.40q, other schemes %t: %v", asked, schemes, err)
			}
		}
	}
}

// TestPagePath checks that only pages of the own origin have a path.
func TestPagePath(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		origin + "/a?b=1": "/a?b=1", "/c": "/c", "https://evil.test/a": "", "https://app.test.evil/a": "",
		"": "", "javascript:alert(1)": "",
	} {
		if path := callbackurl.PagePath(page, app); path != want {
			t.Errorf("%q: %q", page, path)
		}
	}
}
