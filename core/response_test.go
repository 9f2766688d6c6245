package core_test

import (
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestHeadersAreTheAnswersOwn: what an application does to the header of one answer changes no other.
func TestHeadersAreTheAnswersOwn(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	ways := map[string]func() *core.Response{
		"session":   func() *core.Response { return b.get("/auth/session") },
		"providers": func() *core.Response { return b.get("/auth/providers") },
		"csrf":      func() *core.Response { return b.get("/auth/csrf") },
		"sign-in":   func() *core.Response { return b.get("/auth/signin") },
		"error":     func() *core.Response { return b.get("/auth/error?error=Configuration") },
		"redirect":  func() *core.Response { return b.post("/auth/signout", url.Values{"csrfToken": {"no"}}) },
		"refused":   func() *core.Response { return b.get("/auth/nope") },
		"no update": func() *core.Response { return b.post("/auth/session", nil) },
		"outage":    func() *core.Response { return b.get("/auth/session?callbackUrl=ftp:x") },
		"unwanted":  func() *core.Response { return b.get("/auth/signin?callbackUrl=ftp:x") },
	}
	names := slices.Sorted(maps.Keys(ways))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			before := map[string]map[string][]string{}
			for _, other := range names {
				before[other] = map[string][]string{}
				for field, values := range ways[other]().Header {
					before[other][field] = slices.Clone(values)
				}
			}
			for field, values := range ways[name]().Header {
				for i := range values {
					values[i] = "changed"
				}
				_ = append(values, "behind "+field)
			}
			for _, other := range names {
				for field, values := range ways[other]().Header {
					if field != "Content-Security-Policy" && !slices.Equal(values, before[other][field]) {
						t.Errorf("%s of %s is %q now", field, other, values)
					}
				}
			}
		})
	}
}

func TestNewSessionOfNobody(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{})
	cookies, err := a.NewSession(t.Context(), visit(t, a).request("POST", "/register", "", ""), nil)
	if err == nil || cookies != nil {
		t.Errorf("got %v, %v", cookies, err)
	}
}
