package browser_test

import (
	"os"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// axe returns the source of axe-core, from the packages in the folder clients.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("clients/node_modules/axe-core/axe.min.js")
	return string(text), err
})

// rules selects axe-core's rules for a page. Color contrast takes most of the time, seconds on a long documentation
// page. Pages have the same colors at every window size, and the same elements in light and dark mode. So a test that
// opens a page in several looks checks contrast once for each color scheme, and the other rules once for each window
// size and direction.
type rules string

const (
	allRules  rules = `{}`
	ofColours rules = `{runOnly: ["color-contrast", "link-in-text-block"]}`
	ofAllElse rules = `{rules: {"color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}}}`
)

// rulesFor returns the rules for a look of a test that also opens the page in wide windows, in light and in dark mode.
func rulesFor(scheme string, width int64) rules {
	switch {
	case width <= 500:
		return ofAllElse
	case scheme == "dark":
		return ofColours
	}
	return allRules
}

// accessible checks a page with all rules of axe-core. Any finding is an error.
func (v *visitor) accessible(page string) {
	v.Helper()
	v.accessibleBy(allRules, page)
}

func (v *visitor) accessibleBy(by rules, page string) {
	v.Helper()
	engines.Packages(v.T, "clients")
	program, err := axe()
	if err != nil {
		v.Fatal(err)
	}
	look := `axe.run(document, {resultTypes: ["violations"], iframes: false, ...` + string(by) + `}).
		then(r => r.violations.map(v =>
		v.id + ": " + v.help + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join("; ")).join("\n"))`
	if !run(v, chromedp.Evaluate[bool](`"axe" in window`)) {
		v.do(chromedp.Evaluate[chromedp.Void]("void (() => {" + program + "\n})()"))
	}
	if found := run(v, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise)); found != "" {
		v.Errorf("%s: axe finds\n%s", page, found)
	}
}

// TestAxeFinds checks that axe-core reports an image without a text and text with low contrast.
func TestAxeFinds(t *testing.T) {
	engines.Packages(t, "clients")
	program, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	v := visit(t, start(t, "stdlib"))
	v.open("/auth/signin")
	v.do(chromedp.Evaluate[chromedp.Void]("void (() => {" + program + "\n})()"))
	v.do(chromedp.Evaluate[chromedp.Void](`(() => {
		const words = Object.assign(document.createElement("p"), {textContent: "hardly", id: "pale"})
		document.querySelector("h1").append(Object.assign(new Image(), {src: "/favicon.ico"}), words)
		const sheet = new CSSStyleSheet()
		sheet.replaceSync("#pale { color: #888; background: #999 }")
		document.adoptedStyleSheets = [sheet]
	})()`))
	for by, want := range map[rules]string{
		allRules: "color-contrast,image-alt", ofColours: "color-contrast", ofAllElse: "image-alt",
	} {
		look := `axe.run(document, ` + string(by) + `).then(r => r.violations.map(v => v.id).sort().join())`
		if found := run(v, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise)); found != want {
			t.Errorf("%s: axe finds %q instead of %q", by, found, want)
		}
	}
}
