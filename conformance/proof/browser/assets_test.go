package browser_test

import (
	"maps"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestAssetsAreKept: the first page loads its stylesheet and script, and the next page uses the browser's cache. Both
// pages are styled.
func TestAssetsAreKept(t *testing.T) {
	v := visit(t, start(t, "stdlib"))
	const (
		fetched = `Object.fromEntries(performance.getEntriesByType("resource")
			.filter((r) => new URL(r.name).pathname.startsWith("/auth/page."))
			.map((r) => [new URL(r.name).pathname, r.transferSize > 0]))`
		rules = `Array.from(document.styleSheets).find((s) => s.href)?.cssRules.length ?? 0`
	)
	for i, address := range []string{"/auth/signin", "/auth/signout"} {
		v.open(address)
		want := map[string]bool{"/auth/page.style": i == 0, "/auth/page.script": i == 0}
		if got := run(v, chromedp.Evaluate[map[string]bool](fetched)); !maps.Equal(got, want) {
			t.Errorf("%s: fetched %v, want %v", address, got, want)
		}
		if n := run(v, chromedp.Evaluate[int](rules)); n < 50 {
			t.Errorf("%s: %d rules", address, n)
		}
	}
}
