package core_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestPluginVisit reads the request and a cookie of a plugin in a handler of the application, and shares a result in
// one request only.
func TestPluginVisit(t *testing.T) {
	t.Parallel()
	type key struct{ name string }
	var host *core.PluginHost
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}, Plugins: []core.Plugin{partFunc(
		func(h *core.PluginHost) error {
			host = h
			h.AddAction(core.Action{Method: "POST", Name: "toy",
				Handle: func(_ context.Context, c *core.ActionRequest) (*core.Response, error) {
					return c.Redirect("/"), c.SetEncryptedCookie("toy", "blue", time.Minute)
				}})
			return nil
		})}})
	b := visit(t, a)
	b.submit("/auth/toy", nil)
	r := b.request("GET", "/page", "", "")
	v := a.Visit(t.Context(), r)
	var color string
	if !host.CookieFrom(v, "toy", &color) || color != "blue" {
		t.Errorf("the cookie is %q", color)
	}
	if host.CookieFrom(v, "other", &color) || host.CookieFrom(t.Context(), "toy", &color) {
		t.Error("a cookie was read that is not in the request")
	}
	if host.RequestFrom(v) != r || host.RequestFrom(t.Context()) != nil {
		t.Error("the request is another one")
	}

	var mu sync.Mutex
	calls := 0
	read := func() (any, error) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return calls, nil
	}
	once := func(ctx context.Context, name string) int {
		got, err := host.Once(ctx, key{name}, read)
		if err != nil {
			t.Error(err)
		}
		return got.(int)
	}
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() {
			if got := once(v, "a"); got != 1 {
				t.Errorf("the result is that of call %d", got)
			}
		})
	}
	wait.Wait()
	for i, ctx := range []context.Context{v, a.Visit(t.Context(), r), t.Context(), t.Context()} {
		if got := once(ctx, "b"); got != i+2 {
			t.Errorf("another key, another request, or no request: the result is that of call %d, want %d", got, i+2)
		}
	}
}
