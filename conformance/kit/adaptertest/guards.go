package adaptertest

import (
	"context"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// guard lets everybody pass but Eve.
func guard(_ context.Context, s *core.Session) error {
	if s.User.Name == "Eve" {
		return core.ErrForbidden
	}
	return nil
}

// guards asks for guarded pages as nobody, as somebody whom the guard forbids, and as somebody whom it lets pass.
func (k *kit) guards() {
	const all, part = "/private /strict /area/page", "/strict /area/page"
	clients := []struct {
		name             string
		header           map[string]string
		nobody           int
		challenge, stays bool
		forbidden        string // Content-Type
	}{
		{"a browser", map[string]string{"Accept": "text/html"}, 303, false, false, "text/html; charset=utf-8"},
		{"a Turbo frame", map[string]string{"Accept": "text/html", "Turbo-Frame": "a"}, 303, false, false,
			"text/html; charset=utf-8"},
		{"an API client", map[string]string{"Accept": "application/json"}, 401, true, true, "application/problem+json"},
		{"a script", map[string]string{"Accept": "text/html", "X-Requested-With": "XMLHttpRequest"}, 401, true, true,
			"application/problem+json"},
		{"HTMX", map[string]string{"HX-Request": "true"}, 401, true, false, "application/problem+json"},
		{"a WebSocket", map[string]string{"Connection": "Upgrade", "Upgrade": "websocket"}, 401, true, true,
			"application/problem+json"},
		{"events", map[string]string{"Accept": "text/event-stream"}, 401, true, true, "application/problem+json"},
	}
	for _, c := range clients {
		for _, path := range strings.Fields(all) {
			a := k.ask("GET", path, c.header)
			k.expect(c.name+" asks for "+path, a.status, c.nobody)
			k.expect(c.name+" is challenged", a.header.Get("WWW-Authenticate") != "", c.challenge)
			k.expect(c.name+" stays", a.header.Get("Location")+a.header.Get("HX-Redirect") == "", c.stays)
			k.expect(c.name+": Vary", a.header.Get("Vary"), "Accept, Cookie")
		}
		k.expect("beside the area", k.ask("GET", "/areal", c.header).body, "nobody")
	}
	k.signInAs("Eve", 0)
	for _, c := range clients {
		for _, path := range strings.Fields(part) {
			a := k.ask("GET", path, c.header)
			k.expect(c.name+", forbidden, asks for "+path, a.status, http.StatusForbidden)
			k.expect(c.name+": Content-Type", a.header.Get("Content-Type"), c.forbidden)
			k.expect(c.name+" is led away", a.header.Get("Location")+a.header.Get("HX-Redirect"), "")
		}
		k.expect("beside the area", k.ask("GET", "/areal", c.header).body, "hello Eve")
	}
	k.http = newClient(k.T)
	k.signInAs("Ada", 0)
	for _, path := range strings.Fields(all) {
		k.expect("Ada asks for "+path, k.ask("GET", path, nil).body, "hello Ada")
	}
}

// ask sends a request with header fields.
func (k *kit) ask(method, path string, header map[string]string) answer {
	k.Helper()
	r, err := http.NewRequestWithContext(k.Context(), method, "http://"+k.addr+path, nil)
	if err != nil {
		k.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	return k.do(r)
}
