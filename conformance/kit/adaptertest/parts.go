package adaptertest

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// toy is a plugin with an action of one segment and actions of two.
type toy struct{}

// Attach implements [core.Plugin].
func (toy) Attach(h *core.PluginHost) error {
	h.AddAction(core.Action{Method: "GET", Name: "toy",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			page := c.Page("Toy")
			return c.Render(ctx, http.StatusOK, page, ui.Shell(page, "Toy")), nil
		}})
	h.AddAction(core.Action{Method: "GET", Name: "toy", Verb: "see-it",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			kept := ""
			c.EncryptedCookie("toy-word", &kept)
			return c.JSON(ctx, http.StatusAccepted, c.Field("q")+" "+kept), nil
		}})
	h.AddAction(core.Action{Method: "POST", Name: "toy", Verb: "do-it",
		Handle: func(_ context.Context, c *core.ActionRequest) (*core.Response, error) {
			if c.Field("word") == "" {
				return nil, &core.Problem{Status: http.StatusUnprocessableEntity, Code: "no-word"}
			}
			return c.Redirect("/in"), c.SetEncryptedCookie("toy-word", c.Field("word"), time.Minute)
		}})
	h.AddWellKnown("toy.json", func(_ context.Context, base string) (*core.Response, error) {
		return &core.Response{
			Body: []byte(`"` + base + `"`), Header: http.Header{"Content-Type": {"application/json"}},
		}, nil
	})
	h.AddWellKnown("toy-page", func(_ context.Context, base string) (*core.Response, error) {
		return &core.Response{Redirect: base + "/toy"}, nil
	})
	return nil
}

// parts requests the actions of a plugin through the adapter.
func parts(t *testing.T, start Start, before ...Step) {
	k := newKit(t, start, func(c *core.Config) { c.Plugins = []core.Plugin{toy{}} }, before...)
	a := k.send("GET", "/auth/toy", "text/html", nil)
	k.expect("page", a.status, http.StatusOK)
	if !strings.Contains(a.body, "<h1>Toy</h1>") || a.header.Get("Content-Security-Policy") == "" {
		k.Errorf("the page is %s with %v", a.body, a.header)
	}
	k.expect("two segments", k.get("/auth/toy/see-it?q=a%20b").body, `"a b "`)
	k.expect("Cache-Control", k.get("/auth/toy/see-it").header.Get("Cache-Control"), "private, no-cache, no-store")

	a = k.send("POST", "/auth/toy/do-it", "text/html", url.Values{"csrfToken": {k.csrf()}, "word": {"form"}})
	k.expect("form", a.status, http.StatusSeeOther)
	k.expect("Location", a.header.Get("Location"), "http://"+k.addr+"/in")
	k.expect("the cookie of a form", k.get("/auth/toy/see-it").body, `" form"`)

	r, err := http.NewRequestWithContext(k.Context(), http.MethodPost, "http://"+k.addr+"/auth/toy/do-it",
		strings.NewReader(`{"csrfToken":"`+k.csrf()+`","word":"JSON"}`))
	if err != nil {
		k.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	a = k.do(r)
	k.expect("JSON", a.status, http.StatusOK)
	k.expect("JSON body", a.body, `{"url":"http://`+k.addr+`/in"}`)
	k.expect("the cookie of JSON", k.get("/auth/toy/see-it").body, `" JSON"`)

	for _, row := range []struct {
		method, path string
		form         url.Values
		status       int
	}{
		{"POST", "/auth/toy/do-it", url.Values{"csrfToken": {k.csrf()}}, http.StatusUnprocessableEntity},
		{"POST", "/auth/toy/do-it", url.Values{"word": {"x"}}, http.StatusForbidden},
		{"GET", "/auth/toy/do-it", nil, http.StatusMethodNotAllowed},
		{"GET", "/auth/toy/nothing", nil, http.StatusNotFound},
	} {
		a := k.send(row.method, row.path, "application/json", row.form)
		k.expect(row.method+" "+row.path, a.status, row.status)
		k.expect(row.method+" "+row.path, a.header.Get("Content-Type"), "application/problem+json")
	}
	k.expect("three segments", k.get("/auth/toy/see-it/more").status, http.StatusBadRequest)
}

// wellKnown requests the documents of a plugin outside of the base path.
func wellKnown(t *testing.T, start Start) {
	k := newKit(t, start, func(c *core.Config) { c.Plugins = []core.Plugin{toy{}} })
	const path = "/.well-known/toy.json"
	a := k.get(path)
	k.expect("status", a.status, http.StatusOK)
	k.expect("document", a.body, `"http://`+k.addr+`/auth"`)
	k.expect("Content-Type", a.header.Get("Content-Type"), "application/json")
	k.expect("cookies", len(a.header["Set-Cookie"]), 0)
	k.expect("scripts of other origins", a.header.Get("Access-Control-Allow-Origin"), "*")

	head := k.send("HEAD", path, "", nil)
	k.expect("HEAD", head.status, http.StatusOK)
	k.expect("HEAD, body", head.body, "")
	r, err := http.NewRequestWithContext(k.Context(), http.MethodGet, "http://"+k.addr+path, nil)
	if err != nil {
		k.Fatal(err)
	}
	r.Header.Set("If-None-Match", a.header.Get("Etag"))
	k.expect("the document that the client has", k.do(r).status, http.StatusNotModified)

	page := k.get("/.well-known/toy-page")
	k.expect("redirect", page.status, http.StatusFound)
	k.expect("Location", page.header.Get("Location"), "http://"+k.addr+"/auth/toy")
	for _, unknown := range []string{"/.well-known/other", path + "/more", "/.well-known/TOY.json"} {
		if got := k.get(unknown).status; got == http.StatusOK {
			k.Errorf("%s: %d", unknown, got)
		}
	}
}
