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

// steady measures the layout shifts of pages behind a slowScript.
type steady struct {
	*visitor
	hold func() (release func())
}

func newSteady(v *visitor, hold func() func()) *steady {
	v.Helper()
	call(v, network.Enable, network.EnableParams{})
	call(v, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: shifts})
	return &steady{v, hold}
}

// settle waits until the browser has painted, and returns the layout shifts so far.
func (s *steady) settle() string {
	s.Helper()
	s.do(chromedp.Evaluate[chromedp.Void](`void requestAnimationFrame(() => requestAnimationFrame(() => {
		window.settled = true;
	}))`))
	s.becomes(`window.settled === true`)
	return run(s.visitor, chromedp.Evaluate[string](`(window.settled = false, shiftsAfterPaint())`))
}

// still opens a page on a large screen and on a phone, and checks that nothing moves when the script runs.
func (s *steady) still(path string) {
	s.Helper()
	for _, width := range []int64{1280, 390} {
		s.do(chromedp.EmulateViewport(width, 800))
		s.do(chromedp.Navigate("about:blank"))
		release := s.hold()
		s.do(goTo(s.site + path))
		s.becomes(`location.href !== "about:blank" && document.readyState !== "loading" &&
			performance.getEntriesByName("first-contentful-paint").length === 1`)
		s.settle() // a busy browser can paint a part of the HTML before
		s.do(chromedp.Evaluate[chromedp.Void](`void (window.painted = performance.now())`))
		release()
		s.becomes(`document.readyState === "complete"`)
		if moved := s.settle(); moved != "" {
			s.Errorf("%s, %d px wide: %s", path, width, moved)
		}
	}
}

// TestLayoutShift: after the first paint nothing on a page moves, although its script adds buttons, checkboxes and
// texts.
func TestLayoutShift(t *testing.T) {
	origin, hold := slowScript(t, serveLanguages(t, ada, func(c *core.Config) { c.Session.RememberMe = true }))
	s := newSteady(visit(t, origin), hold)
	for _, path := range spoken {
		s.still(path)
	}
	hold()()
	s.open("/auth/signin") // the next page shows the address that was typed in this tab
	s.do(chromedp.Evaluate[chromedp.Void](`sessionStorage.setItem("latchkey-typed", '{"email":"ada@example.com"}')`))
	s.still("/auth/verify-request")
	hold()()
	s.open("/enter")
	for _, path := range append([]string{"/auth/signin", "/auth/password/sign-up"}, known...) {
		s.still(path)
	}
	s.do(chromedp.Evaluate[chromedp.Void](`void (window.painted = performance.now())`))
	s.do(chromedp.Evaluate[chromedp.Void](
		`void document.querySelector("main").prepend(Object.assign(document.createElement("p"), {innerText: "later"}))`))
	if s.settle() == "" {
		t.Error("an element that is inserted is no layout shift: the browser measures nothing")
	}
}

// TestLayoutShiftOfPlugins is TestLayoutShift for the pages of keys, apps, second factors, organizations and
// administrators, with many rows.
func TestLayoutShiftOfPlugins(t *testing.T) {
	site := servePlugins(t, func(c *core.Config) { // its request would go to the site, not to the proxy
		c.Providers[2].(*core.WebAuthnProvider).ConditionalCreate = core.False
	})
	origin, hold := slowScript(t, site.url)
	v := visit(t, site.url)
	site.enters(v)
	v.site = origin // the cookies are those of all ports of the host
	s := newSteady(v, hold)
	for _, page := range site.pages {
		s.still(page[1])
	}
}
