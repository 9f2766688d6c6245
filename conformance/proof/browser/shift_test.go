package browser_test

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/core"
)

// shifts notes the layout shifts of a page. shiftsAfterPaint returns those after window.painted, with the elements that
// have moved (Layout Instability API).
const shifts = `window.shifted = [];
window.shiftObserver = new PerformanceObserver((list) => shifted.push(...list.getEntries()));
shiftObserver.observe({type: "layout-shift", buffered: true});
window.shiftsAfterPaint = () => {
	shifted.push(...shiftObserver.takeRecords());
	const painted = window.painted ?? 0;
	return shifted.filter((e) => e.startTime > painted).map((e) => (e.startTime - painted).toFixed() + " ms later: " +
		e.sources.map((s) => s.node && (s.node.outerHTML || s.node.textContent).slice(0, 80) + " " +
			JSON.stringify([s.previousRect, s.currentRect])).join()).join("\\n");
};`

// slowScript is a proxy in front of a site. It holds the script of a page until release is called, so that the browser
// has painted the page before the script changes it.
func slowScript(t *testing.T, site string) (origin string, hold func() (release func())) {
	t.Helper()
	target, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var held chan struct{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = target.Host
	}}
	listener, origin := listen(t)
	t.Cleanup(serveHTTP(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/page.script") {
			mu.Lock()
			wait := held
			mu.Unlock()
			select {
			case <-wait:
			case <-r.Context().Done():
			}
		}
		proxy.ServeHTTP(w, r)
	})))
	return origin, func() func() {
		mu.Lock()
		defer mu.Unlock()
		released := make(chan struct{})
		held = released
		return func() { close(released) }
	}
}

// TestLayoutShift: after the first paint nothing on a page moves, although its script adds buttons, checkboxes and
// texts.
func TestLayoutShift(t *testing.T) {
	origin, hold := slowScript(t, serveLanguages(t, ada, func(c *core.Config) { c.Session.RememberMe = true }))
	v := visit(t, origin)
	call(v, network.Enable, network.EnableParams{})
	call(v, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: shifts})
	settle := func() string {
		v.do(chromedp.Evaluate[chromedp.Void](`void requestAnimationFrame(() => requestAnimationFrame(() => {
			window.settled = true;
		}))`))
		v.becomes(`window.settled === true`)
		return run(v, chromedp.Evaluate[string](`(window.settled = false, shiftsAfterPaint())`))
	}
	still := func(path string) {
		t.Helper()
		for _, width := range []int64{1280, 390} {
			v.do(chromedp.EmulateViewport(width, 800))
			v.do(chromedp.Navigate("about:blank"))
			release := hold()
			v.do(goTo(v.site + path))
			v.becomes(`location.href !== "about:blank" && document.readyState !== "loading" &&
				performance.getEntriesByName("first-contentful-paint").length === 1`)
			settle() // a busy browser can paint a part of the HTML before
			v.do(chromedp.Evaluate[chromedp.Void](`void (window.painted = performance.now())`))
			release()
			v.becomes(`document.readyState === "complete"`)
			if moved := settle(); moved != "" {
				t.Errorf("%s, %d px wide: %s", path, width, moved)
			}
		}
	}
	for _, path := range spoken {
		still(path)
	}
	hold()()
	v.open("/auth/signin") // the next page shows the address that was typed in this tab
	v.do(chromedp.Evaluate[chromedp.Void](`sessionStorage.setItem("latchkey-typed", '{"email":"ada@example.com"}')`))
	still("/auth/verify-request")
	hold()()
	v.open("/enter")
	for _, path := range append([]string{"/auth/signin", "/auth/password/sign-up"}, known...) {
		still(path)
	}
	v.do(chromedp.Evaluate[chromedp.Void](`void (window.painted = performance.now())`))
	v.do(chromedp.Evaluate[chromedp.Void](
		`void document.querySelector("main").prepend(Object.assign(document.createElement("p"), {innerText: "later"}))`))
	if settle() == "" {
		t.Error("an element that is inserted is no layout shift: the browser measures nothing")
	}
}
