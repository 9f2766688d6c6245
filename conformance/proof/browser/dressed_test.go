package browser_test

import (
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/ui"
)

// dressed adds the whole stylesheet to a built-in page, which is sent with the blocks that it needs: no element looks
// otherwise for it.
func (v *visitor) dressed(page string) {
	v.Helper()
	const add = `((whole) => {
		if (!document.querySelector("main.page[data-show]")) return "";
		const looks = () => Array.from(document.querySelectorAll("body, body *"), (element) =>
			["", "::before", "::after", "::first-letter"].map((part) => {
				const style = getComputedStyle(element, part || null);
				if (style.display === "none" || part.length > 7 && style.content === "none") return {};
				return Object.fromEntries(Array.from(style, (name) => [name, style.getPropertyValue(name)]));
			}));
		const before = looks();
		const sheet = new CSSStyleSheet();
		sheet.replaceSync(whole);
		document.adoptedStyleSheets = [sheet];
		const found = looks().flatMap((parts, i) => parts.flatMap((style, part) => Object.keys(style)
			.filter((name) => style[name] !== before[i][part][name])
			.map((name) => [i, part, name, before[i][part][name], style[name]].join(" "))));
		document.adoptedStyleSheets = [];
		return found.join("\n");
	})(`
	if found := run(v, chromedp.Evaluate[string](add+quote(string(ui.Stylesheet()))+")")); found != "" {
		v.Errorf("%s: the whole stylesheet changes what the page's own says:\n%s", page, found)
	}
}
