package browser_test

import (
	"os"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// axe is the checker axe-core, from the packages of the folder clients.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("clients/node_modules/axe-core/axe.min.js")
	return string(text), err
})

// accessible checks a page with axe-core: nothing that it can tell may be wrong.
func (v *visitor) accessible(page string) {
	v.Helper()
	engines.Packages(v.T, "clients")
	program, err := axe()
	if err != nil {
		v.Fatal(err)
	}
	const look = `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v =>
		v.id + ": " + v.help + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join("; ")).join("\n"))`
	v.do(chromedp.Evaluate[chromedp.Void]("void (() => {" + program + "\n})()"))
	if found := run(v, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise)); found != "" {
		v.Errorf("%s: axe finds\n%s", page, found)
	}
}

// TestAxeFinds a picture without a text: a check that finds nothing would prove nothing.
func TestAxeFinds(t *testing.T) {
	engines.Packages(t, "clients")
	program, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	v := visit(t, start(t, "stdlib"))
	v.open("/auth/signin")
	v.do(chromedp.Evaluate[chromedp.Void]("void (() => {" + program + "\n})()"))
	const look = `document.querySelector("h1").append(Object.assign(new Image(), {src: "/favicon.ico"})),
		axe.run(document).then(r => r.violations.map(v => v.id).join())`
	if found := run(v, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise)); found != "image-alt" {
		t.Errorf("axe finds %q", found)
	}
}
