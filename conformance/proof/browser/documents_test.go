package browser_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// documents builds the documentation site like make docs, and serves it.
func documents(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "run", "./site", "-top", "..", "-out", out)
	build.Dir = "../../../tools"
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=") // tools is a separate module
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	t.Cleanup(server.Close)
	return server.URL
}

// TestDocuments opens the documentation site in light and dark mode and on a phone. No page may be wider than its
// window or send requests to another machine, axe must find nothing, and the search must find pages.
func TestDocuments(t *testing.T) {
	site := documents(t)
	for _, look := range []struct {
		name, scheme string
		width        int64
		by           rules
	}{
		{"light", "light", 1280, allRules}, {"dark", "dark", 1280, ofColours}, {"phone", "light", 320, ofAllElse},
	} {
		t.Run(look.name, func(t *testing.T) {
			v := visit(t, site)
			call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}},
			})
			v.do(chromedp.EmulateViewport(look.width, 800))
			for name, path := range map[string]string{
				"docs-home": "/", "docs-picture": "/docs/how.html", "docs-program": "/docs/moving/goth.html",
				"docs-tables": "/docs/reference.html",
			} {
				v.open(path)
				v.picture(name + "-" + look.name)
				v.accessibleBy(look.by, name)
				if wide := run(v, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); wide > 0 {
					t.Errorf("%s is %d px wider than its window", path, wide)
				}
			}
			v.open("/docs/recipes/roles.html")
			v.search("replace secret", "Replace the secret")
			v.at("/docs/recipes/rotation.html")
		})
	}
}

// search types into the search field and opens the first result.
func (v *visitor) search(words, first string) {
	v.Helper()
	v.do(chromedp.Evaluate[chromedp.Void](`(() => {
		const box = document.querySelector("input")
		box.focus()
		box.value = ` + quote(words) + `
		box.dispatchEvent(new Event("input"))
	})()`))
	const link = `document.querySelector("form li a")`
	run(v, chromedp.Poll[bool](link+`?.textContent.startsWith(`+quote(first)+`)`, chromedp.WithPollingTimeout(wait)))
	v.follow(chromedp.Evaluate[chromedp.Void](`void ` + link + `.click()`))
}
