package browser_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/ui"
)

// TestSentOnce presses a button twice, and another button, before the next page arrives. The form is sent once, the
// button shows that it is busy, and nothing on the page moves. After a return to the page, or a long wait, the button
// works again.
func TestSentOnce(t *testing.T) {
	var sent atomic.Int32
	arrived := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			sent.Add(1)
			arrived <- struct{}{}
			w.WriteHeader(http.StatusNoContent) // the browser stays on the page
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		view := ui.SignInView{Page: ui.Page{BasePath: "/auth"}, Providers: []ui.Provider{
			{ID: "slow", Name: "Slow", Type: "oauth"}, {ID: "other", Name: "Other", Type: "oauth"},
		}}
		_ = ui.SignInPage(view).Render(r.Context(), w)
	}))
	t.Cleanup(server.Close)
	v := visit(t, server.URL)
	v.open("/auth/signin")

	const slow, other = `form[action$="/slow"] button`, `form[action$="/other"] button`
	const places = `JSON.stringify([...document.querySelectorAll("main *")].map((e) =>
		[e.offsetLeft, e.offsetTop, e.offsetWidth, e.offsetHeight]))`
	const rested = `!document.querySelector("[aria-busy]")`
	v.do(chromedp.Evaluate[chromedp.Void](`void (() => {
		const wait = setTimeout;
		window.over = [];
		window.setTimeout = (f, ms, ...more) => ms === 10000 ? over.push(f) : wait(f, ms, ...more);
	})()`))
	// If a browser navigates before it has sent the first request, it sends only the second one.
	came := func() {
		t.Helper()
		select {
		case <-arrived:
		case <-time.After(wait):
			t.Fatal("a form never came")
		}
	}
	before := run(v, chromedp.Evaluate[string](places))
	v.do(click(slow), chromedp.WaitVisible(chromedp.CSS(slow+`[aria-busy="true"]`)), click(slow), click(other))
	came()
	v.picture("busy")
	if after := run(v, chromedp.Evaluate[string](places)); after != before {
		t.Errorf("what was at %s is at %s", before, after)
	}
	if n := run(v, chromedp.Evaluate[int](`document.querySelectorAll("[aria-busy]").length`)); n != 1 {
		t.Errorf("%d buttons work, want 1", n)
	}

	for _, row := range []struct{ name, rest string }{
		{"the user returns to the page", `void dispatchEvent(new PageTransitionEvent("pageshow", {persisted: true}))`},
		{"ten seconds have passed", `void over.at(-1)()`},
	} {
		v.do(chromedp.Evaluate[chromedp.Void](row.rest))
		if !run(v, chromedp.Evaluate[bool](rested)) {
			t.Errorf("the button works still when %s", row.name)
		}
		v.do(click(slow), chromedp.WaitVisible(chromedp.CSS(slow+`[aria-busy="true"]`)))
		came()
	}
	if n := sent.Load(); n != 3 {
		t.Errorf("sent %d times, want 3", n)
	}
}
