package core_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestErrorIsOneParameter sends odd error names through custom pages (ATTACKS RD5): each stays one parameter, and the pages keep
// query and fragment of their own.
func TestErrorIsOneParameter(t *testing.T) {
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Pages: core.PagesConfig{SignIn: "/in?own=1#top", Error: "https://app.test/sorry?own=1#top"}})
	for _, value := range []string{"x&admin=1#y", "a=b&own=2", "%26admin%3D1", "#", "?x", "ü", "a b", strings.Repeat("x", 2000)} {
		for path, page := range map[string]string{"/auth/signin": "/in", "/auth/error": "https://app.test/sorry"} {
			r := visit(t, a).get(path + "?error=" + url.QueryEscape(value))
			u, err := url.Parse(r.Redirect)
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			if !strings.HasPrefix(r.Redirect, page+"?") || u.Fragment != "top" || len(q["own"]) != 1 || q.Get("own") != "1" || len(q["error"]) != 1 || q.Get("error") != value || q.Has("admin") {
				t.Errorf("%s, %.40q: %.200q", path, value, r.Redirect)
			}
		}
	}
}

// TestRedirectCallback returns what a careless callback could (ATTACKS RD7). The developer decides where browsers go, and a header
// stays a header.
func TestRedirectCallback(t *testing.T) {
	for _, row := range []struct {
		name, returns, want string
		panics              bool
	}{
		{name: "nothing", want: "https://app.test"},
		{name: "panic", panics: true, want: "https://app.test"},
		{name: "a path", returns: "/x?y=1", want: "https://app.test/x?y=1"},
		{name: "a foreign site", returns: "https://other.example/x", want: "https://other.example/x"},
		{name: "line breaks", returns: "/x\r\nSet-Cookie: a=b", want: ""},
		{name: "a script", returns: "javascript:alert(1)", want: ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Callbacks: core.Callbacks{
				Redirect: func(context.Context, core.RedirectParams) (string, error) {
					if row.panics {
						panic("boom")
					}
					return row.returns, nil
				},
			}})
			b := visit(t, a)
			r := b.submit("/auth/signout", url.Values{"callbackUrl": {"/asked"}})
			if row.want != "" && !row.panics && r.Redirect != row.want {
				t.Errorf("led to %q, want %q", r.Redirect, row.want)
			}
			if strings.ContainsAny(r.Redirect, "\r\n") || strings.HasPrefix(r.Redirect, "javascript") || r.Redirect == "" && r.Status < 400 {
				t.Errorf("answered %d to %q", r.Status, r.Redirect)
			}
			if row.panics && r.Redirect != row.want && !strings.Contains(r.Redirect, "error=Configuration") && r.Status < 500 {
				t.Errorf("after a panic: %d to %q", r.Status, r.Redirect)
			}
		})
	}
}
