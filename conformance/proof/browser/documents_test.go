package browser_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// docsFolder contains the pages and the configuration of the documentation site.
const docsFolder = "../../../docs"

// buildSite builds the documentation site once, like make docs, and returns the error with the output. TestMain deletes
// the folder.
var buildSite = sync.OnceValues(func() (folder string, err error) {
	folder = filepath.Join(programs, "site")
	build := exec.Command("npm", "run", "build", "--", "--outDir", folder)
	build.Dir = docsFolder
	said, err := build.CombinedOutput()
	if err != nil || strings.Contains(string(said), "Error") { // VitePress continues after an error on a page
		return string(said), err
	}
	return folder, nil
})

func documents(t *testing.T) (folder string) {
	t.Helper()
	engines.Packages(t, docsFolder)
	folder, err := buildSite()
	if _, missing := os.Stat(folder); err != nil || missing != nil {
		t.Fatalf("%v\n%s", err, folder)
	}
	return folder
}

// TestDocuments reads the landing page, the first steps, a guide, a diagram and a long table on the documentation site,
// in light and dark mode and on a phone. No page may be wider than its window, write to the console or send requests to
// another machine, and axe must find nothing.
func TestDocuments(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(documents(t))))
	t.Cleanup(server.Close)
	for _, look := range []struct {
		name, scheme string
		width        int64
		by           rules
	}{
		{"light", "light", 1280, allRules}, {"dark", "dark", 1280, ofColours}, {"phone", "light", 390, ofAllElse},
		{"small phone", "dark", 320, ""},
	} {
		t.Run(look.name, func(t *testing.T) {
			v := visit(t, server.URL)
			call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}},
			})
			v.do(chromedp.EmulateViewport(look.width, 800))
			for _, page := range []struct{ name, path, ready string }{
				{"docs-home", "/", `document.querySelector("[role=tab]")`},
				{"docs-start", "/start.html", `document.querySelector("[role=tab]")`},
				{"docs-guide", "/recipes/roles.html", `document.querySelector("pre")`},
				{"docs-diagram", diagramPage, `document.querySelector("figure svg")`},
				{"docs-table", "/reference.html", `document.querySelector("table")`},
			} {
				v.open(page.path)
				v.becomes(`Boolean(` + page.ready + `)`)
				if dark := run(v, chromedp.Evaluate[bool](isDark)); dark != (look.scheme == "dark") {
					t.Errorf("%s: dark is %t", page.path, dark)
				}
				v.picture(page.name + "-" + strings.ReplaceAll(look.name, " ", "-"))
				if look.by != "" {
					v.accessibleBy(look.by, page.name)
				}
				if wide := run(v, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); wide > 0 {
					t.Errorf("%s is %d px wider than its window", page.path, wide)
				}
			}
		})
	}
}

const (
	// diagramPage is a page with Mermaid diagrams.
	diagramPage = "/how.html"
	isDark      = `document.documentElement.classList.contains("dark")`
)

// TestDocumentsWork uses the controls of the documentation site: tabs, which all pages share, the copy button, the
// search, the color scheme, and previous and next.
func TestDocumentsWork(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(documents(t))))
	t.Cleanup(server.Close)
	for _, look := range []struct {
		name  string
		width int64
	}{{"desktop", 1280}, {"phone", 390}} {
		t.Run(look.name, func(t *testing.T) {
			v := visit(t, server.URL)
			v.do(chromedp.EmulateViewport(look.width, 800))
			v.open("/")
			const code = `document.querySelector("[role=tabpanel] pre").innerText`
			v.becomes(`Boolean(document.querySelector("[role=tab]"))`)
			for title, call := range map[string]string{"gin": "gin.Default()", "echo": "echo.New()", "fiber": "fiber.New("} {
				v.do(tab(title))
				v.becomes(code + `.includes(` + quote(call) + `)`)
			}
			v.do(tab("fiber"))
			v.open("/start.html")
			v.becomes(`Boolean(document.querySelector("[role=tab]")) && ` + code + `.includes("latchkey new fiber ")`)

			v.do(chromedp.Evaluate[chromedp.Void](`(() => {
				navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }
				document.querySelector("[role=tabpanel] button.copy").click()
			})()`))
			v.becomes(`window.copied?.startsWith("git clone") && window.copied.endsWith("go run .")`)

			before := run(v, chromedp.Evaluate[bool](isDark))
			v.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".VPSwitchAppearance").click()`))
			v.becomes(isDark + ` !== ` + map[bool]string{true: "true", false: "false"}[before])

			v.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".DocSearch-Button").click()`))
			v.becomes(`Boolean(document.querySelector("#localsearch-input"))`)
			v.do(chromedp.Evaluate[chromedp.Void](`(() => {
				const box = document.querySelector("#localsearch-input")
				box.value = "sessions"
				box.dispatchEvent(new Event("input"))
			})()`))
			v.becomes(`[...document.querySelectorAll(".VPLocalSearchBox .result")].some(r => r.href.includes("/sessions.html"))`)
			v.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".VPLocalSearchBox .result")]
				.find(r => r.href.includes("/sessions.html")).click()`))
			v.becomes(`location.pathname === "/sessions.html" && document.querySelector("h1").innerText.startsWith("Sessions")`)
			for _, class := range []string{"prev", "next", "edit-link-button"} {
				if !run(v, chromedp.Evaluate[bool](`Boolean(document.querySelector(".VPDocFooter .`+class+`"))`)) {
					t.Errorf("no link %s", class)
				}
			}
		})
	}
}

// tab selects the first tab with a title.
func tab(title string) step {
	return chromedp.Evaluate[chromedp.Void](
		`[...document.querySelectorAll("[role=tab]")].find(t => t.innerText.trim() === ` + quote(title) + `).click()`)
}

var (
	siteLink  = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	siteLoads = regexp.MustCompile(`<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"`)
	siteID    = regexp.MustCompile(`\bid="([^"]*)"`)
)

// TestDocumentLinks checks the built site: every link has an existing page and heading as its target or is a web
// address, no page loads anything from another site, and no page shows what is for tests or for GitHub.
func TestDocumentLinks(t *testing.T) {
	site := os.DirFS(documents(t))
	files, ids := map[string]string{}, map[string]bool{}
	err := fs.WalkDir(site, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(site, name)
		files[name] = string(raw)
		for _, m := range siteID.FindAllStringSubmatch(files[name], -1) {
			ids[name+"#"+m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, links := 0, 0
	for name, content := range files {
		if !strings.HasSuffix(name, ".html") || name == "404.html" {
			continue
		}
		pages++
		for _, m := range siteLink.FindAllStringSubmatch(content, -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			links++
			to := linkTarget(t, name, m[1])
			file, _, anchored := strings.Cut(to, "#")
			if _, exists := files[file]; !exists || anchored && !ids[to] {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			}
		}
		for _, m := range siteLoads.FindAllStringSubmatch(content, -1) {
			t.Errorf("%s loads %s", name, m[1])
		}
		for _, hidden := range []string{"<!-- go:", "<!-- tabs", "#### ", "language-mermaid"} {
			if strings.Contains(content, hidden) {
				t.Errorf("%s shows %s", name, hidden)
			}
		}
	}
	if pages < 40 || links < 2000 {
		t.Errorf("%d pages, %d links", pages, links)
	}
}

// linkTarget returns the file of the site, with the anchor, that a link on a page refers to.
func linkTarget(t *testing.T, page, link string) string {
	t.Helper()
	base := &url.URL{Path: "/" + page}
	u, err := base.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	file := strings.TrimPrefix(u.Path, "/")
	if file == "" || strings.HasSuffix(file, "/") {
		file += "index.html"
	}
	if u.Fragment != "" {
		file += "#" + u.Fragment
	}
	return file
}
