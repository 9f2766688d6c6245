package browser_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// wait bounds every step: a page that does not come is a failure, not a hang.
const wait = time.Minute

type step = chromedp.Action[chromedp.Void]

// visitor is a person with a fresh browser: no cookies, one tab.
type visitor struct {
	*testing.T
	ctx  context.Context
	site string
	// complaints are what the browser found wrong with the pages so far.
	complaints chan string
}

// visit gives the test a visitor who has opened nothing yet. When the test ends, what the browser complained of fails
// it.
func visit(t *testing.T, site string) *visitor {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	return open(ctx, cancel, t, site)
}

// tab gives the visitor a second tab, with the cookies of the first.
func (v *visitor) tab() *visitor {
	v.Helper()
	ctx, cancel := chromedp.NewContext(v.ctx)
	return open(ctx, cancel, v.T, v.site)
}

func open(ctx context.Context, cancel context.CancelFunc, t *testing.T, site string) *visitor {
	t.Helper()
	v := &visitor{T: t, ctx: ctx, site: site, complaints: make(chan string, 100)}
	t.Cleanup(func() {
		defer cancel()
		v.page() // the answer comes after all complaints that the browser has so far
		for len(v.complaints) > 0 {
			t.Error(<-v.complaints)
		}
		if t.Failed() {
			v.keep(cmp.Or(os.Getenv("LATCHKEY_SCREENSHOTS"), "screenshots"),
				"failed-"+strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()))
		}
	})
	// The tab lives as long as the context of its first step, so this one has no deadline.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, v.listen); err != nil {
		t.Fatal(err)
	}
	call(v, audits.Enable, cdp.Empty{})
	return v
}

// run takes a step of any kind and returns what it found.
func run[T any](v *visitor, action chromedp.Action[T]) T {
	v.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, wait)
	defer cancel()
	out, err := chromedp.Run(ctx, action)
	if err != nil {
		v.Fatalf("%v\non the page %s", err, v.page())
	}
	return out
}

// call tells the browser something for which there is no step.
func call[P, R any](v *visitor, command cdp.Command[P, R], params P) {
	v.Helper()
	run(v, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	}))
}

// do takes steps that stay on the page.
func (v *visitor) do(steps ...step) {
	v.Helper()
	run(v, chromedp.Steps(steps...))
}

// follow takes a step that leads to another page, through any number of redirects, and returns its response when it has
// loaded.
func (v *visitor) follow(s step) *network.Response {
	v.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, wait)
	defer cancel()
	response, err := chromedp.RunResponse(ctx, s)
	if err != nil {
		v.Fatalf("%v\non the page %s", err, v.page())
	}
	return response
}

// open types an address of the application.
func (v *visitor) open(path string) *network.Response {
	v.Helper()
	return v.follow(goTo(v.site + path))
}

// goTo asks for a page and does not wait for it.
func goTo(url string) step {
	return chromedp.Evaluate[chromedp.Void](`void (location.href = ` + quote(url) + `)`)
}

// leaveFor is goTo for pages that go on by themselves: the step is over before the page is left.
func leaveFor(url string) step {
	return chromedp.Evaluate[chromedp.Void](`void setTimeout(() => { location.href = ` + quote(url) + ` })`)
}

// quote writes a string as JavaScript does.
func quote(s string) string {
	raw, _ := json.Marshal(s) // a string always has a JSON form
	return string(raw)
}

// sees waits until the page shows a text. Where the page is left while it is looked at, the next one is.
func (v *visitor) sees(text string) {
	v.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, wait)
	defer cancel()
	shown := chromedp.Poll[bool](`document.body.innerText.includes(`+quote(text)+`)`, chromedp.WithPollingTimeout(wait))
	_, err := chromedp.Run(ctx, shown)
	for err != nil && ctx.Err() == nil && wasLeft(err) {
		_, err = chromedp.Run(ctx, shown)
	}
	if err != nil {
		v.Fatalf("%v\non the page %s", err, v.page())
	}
}

// wasLeft reports whether a step failed because the browser went on to another page meanwhile.
func wasLeft(err error) bool {
	return strings.Contains(err.Error(), "Cannot find context with specified id") ||
		strings.Contains(err.Error(), "Execution context was destroyed")
}

// at checks the path of the page.
func (v *visitor) at(path string) {
	v.Helper()
	if got := run(v, chromedp.Evaluate[string](`location.origin + location.pathname`)); got != v.site+path {
		v.Errorf("at %s instead of %s%s", got, v.site, path)
	}
}

// arrives waits until the visitor is at a path and sees a text, over pages that come and go by themselves.
func (v *visitor) arrives(path, text string) {
	v.Helper()
	v.becomes(`document.readyState === "complete" && location.href === ` + quote(v.site+path) +
		` && document.body.innerText.includes(` + quote(text) + `)`)
}

// becomes waits until something is true of the page, over pages that come and go by themselves.
func (v *visitor) becomes(expression string) {
	v.Helper()
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(v.ctx, time.Second)
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		cancel()
		if err == nil && is {
			return
		}
	}
	v.Fatalf("it never came to %s\non the page %s", expression, v.page())
}

// json opens an address that answers JSON.
func (v *visitor) json(path string) string {
	v.Helper()
	response := v.open(path)
	if response.Status != 200 || response.MimeType != "application/json" {
		v.Errorf("%s answers %d %s", path, response.Status, response.MimeType)
	}
	return run(v, chromedp.TextContent(chromedp.CSS("pre")))
}

// signedOut checks that the session JSON knows nobody.
func (v *visitor) signedOut() {
	v.Helper()
	for _, path := range sessionPaths {
		if got := strings.TrimSpace(v.json(path)); got != "null" {
			v.Errorf("%s, signed out: %s", path, got)
		}
	}
}

// picture keeps the whole page for people to look at, where they have named a folder for it.
func (v *visitor) picture(name string) {
	v.Helper()
	if dir := os.Getenv("LATCHKEY_SCREENSHOTS"); dir != "" {
		v.keep(dir, name)
	}
}

// keep writes a picture of the whole page into a folder.
func (v *visitor) keep(dir, name string) {
	v.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		v.Fatal(err)
	}
	// Chromium moves a page that is written from right to left when it looks past a window that holds the whole page.
	shot := chromedp.CaptureScreenshot()
	if run(v, chromedp.Evaluate[bool](`document.documentElement.scrollHeight > innerHeight`)) {
		shot = chromedp.FullScreenshot(100)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), run(v, shot), 0o644); err != nil {
		v.Fatal(err)
	}
}

// page describes where the visitor is, for the messages of failures.
func (v *visitor) page() string {
	ctx, cancel := context.WithTimeout(v.ctx, time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](
		`location.href + "\n" + (document.body ? document.body.innerText : "")`))
	if err != nil {
		return "that cannot be read: " + err.Error()
	}
	return text
}

func click(selector string) step       { return chromedp.Click(chromedp.CSS(selector)) }
func write(selector, text string) step { return chromedp.SendKeys(chromedp.CSS(selector), text) }
func press(key string) step            { return chromedp.KeyEvent(key) }
