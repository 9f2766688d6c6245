package browser_test

import (
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/ui"
)

// dressed adds the whole stylesheet to a built-in page, which is sent with the blocks that it needs: no element looks
// otherwise for it.
func (v *visitor) dressed(page string) {
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
	if found := run(v, chromedp.Evaluate[string](add+quote(string(ui.Stylesheet()))+")")); found != "" {
		v.Errorf("%s: the whole stylesheet changes what the page's own says:\n%s", page, found)
	}
}
