package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/ui"
)

// dressed adds the whole stylesheet to a built-in page, which is sent with the blocks that it needs: no element looks
// otherwise for it.
func (v *visitor) dressed(page string) {
	v.Helper()
	if found := v.lacks(); found != "" {
		v.Errorf("%s: the whole stylesheet changes what the page's own says:\n%s", page, found)
	}
}

// lacks is what the whole stylesheet would change about a built-in page, a line for each property of an element.
func (v *visitor) lacks() string {
	v.Helper()
	// What the stylesheet does not set looks otherwise only where something that it sets does.
	const add = `((whole) => {
		if (!document.querySelector("main.page[data-show]")) return "";
		const sheet = new CSSStyleSheet();
		sheet.replaceSync(whole);
		const names = (rules, part) => Array.from(rules).flatMap((rule) => [
			...(rule.selectorText?.includes(part) ? rule.style : []), ...names(rule.cssRules ?? [], part)]);
		const set = ["", "::before", "::after", "::first-letter"].map((part) =>
			[part, Array.from(new Set(names(sheet.cssRules, part)))]);
		const looks = () => Array.from(document.querySelectorAll("body, body *"), (element) =>
			set.map(([part, names]) => {
				const style = getComputedStyle(element, part || null);
				const gone = style.display === "none" || part && style.content === "none";
				return names.map((name) => gone ? "" : style.getPropertyValue(name));
			}));
		const before = looks();
		document.adoptedStyleSheets = [sheet];
		const found = looks().flatMap((parts, i) => parts.flatMap((values, part) => values
			.map((value, n) => [i, set[part][0], set[part][1][n], before[i][part][n], value])
			.filter(([, , , was, is]) => was !== is).map((words) => words.join(" "))));
		document.adoptedStyleSheets = [];
		return found.join("\n");
	})(`
	return run(v, chromedp.Evaluate[string](add+quote(string(ui.Stylesheet()))+")"))
}

// TestDressedFinds what a page has lost of its rules, for an element or a part of one: a check that finds nothing would
// prove nothing.
func TestDressedFinds(t *testing.T) {
	v := visit(t, start(t, "stdlib"))
	v.open("/auth/signin")
	if found := v.lacks(); found != "" {
		t.Fatalf("the page lacks already\n%s", found)
	}
	for _, part := range []string{".button", "hr::after", ".initial::first-letter"} {
		v.open("/auth/signin")
		lost := run(v, chromedp.Evaluate[int](`(() => {
			const sheet = document.styleSheets[0]
			const all = Array.from(sheet.cssRules, (rule, i) => i)
			const lost = all.filter((i) => sheet.cssRules[i].selectorText?.split(", ").includes(`+quote(part)+`))
			lost.reverse().forEach((i) => sheet.deleteRule(i))
			return lost.length
		})()`))
		_, pseudo, _ := strings.Cut(part, "::")
		if found := v.lacks(); lost == 0 || found == "" || !strings.Contains(found, pseudo) {
			t.Errorf("%d rules of %s are lost, and the page lacks %q", lost, part, found)
		}
	}
}
