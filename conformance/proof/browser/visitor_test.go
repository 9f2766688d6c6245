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
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// wait is the timeout of every step, so that a missing page is a failure and not a hang.
const wait = time.Minute

type step = chromedp.Action[chromedp.Void]

// visitor is a user with a new browser: one tab and no cookies.
type visitor struct {
	*testing.T
	ctx  context.Context
	site string
	// schemes and width are the color schemes and the width of the window that looks has set.
	schemes []string
	width   int64
	// complaints are the problems that the browser has reported so far.
	complaints chan string
}

// visit returns a visitor who has not opened a page yet. At the end of the test, the reported problems fail it.
func visit(t *testing.T, site string) *visitor {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	return open(ctx, cancel, t, site)
}

// tab opens a second tab with the cookies of the first.
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
		v.page() // the response arrives after all earlier complaints
		for len(v.complaints) > 0 {
			t.Error(<-v.complaints)
		}
		if t.Failed() {
			v.keep(cmp.Or(os.Getenv("LATCHKEY_SCREENSHOTS"), "screenshots"),
				"failed-"+strings.NewReplacer("/", "-", " ", "-").Replace(t.Name()))
		}
	})
	// The tab lives as long as the context of its first step, so this context has no deadline.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, v.listen); err != nil {
		t.Fatal(err)
	}
	call(v, audits.Enable, cdp.Empty{})
	return v
}

// run runs any step and returns its result.
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

// call sends a browser command that no step supports.
func call[P, R any](v *visitor, command cdp.Command[P, R], params P) {
	v.Helper()
	run(v, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	}))
}

// do runs steps that stay on the page.
func (v *visitor) do(steps ...step) {
	v.Helper()
	run(v, chromedp.Steps(steps...))
}

// follow runs a step that loads another page, through any number of redirects, and returns the response of the loaded
// page.
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

// open opens a path of the application.
func (v *visitor) open(path string) *network.Response {
	v.Helper()
	return v.follow(goTo(v.site + path))
}

// goTo navigates to a page and does not wait for it.
func goTo(url string) step {
	return chromedp.Evaluate[chromedp.Void](`void (location.href = ` + quote(url) + `)`)
}

// leaveFor is goTo for pages that redirect by script: the step ends before the page is left.
func leaveFor(url string) step {
	return chromedp.Evaluate[chromedp.Void](`void setTimeout(() => { location.href = ` + quote(url) + ` })`)
}

// quote returns s as a JavaScript string.
func quote(s string) string {
	raw, _ := json.Marshal(s) // a string can always be encoded
	return string(raw)
}

// sees waits until the page shows a text. If the browser navigates meanwhile, it checks the next page.
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

// wasLeft reports whether a step failed because the browser navigated to another page meanwhile.
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

// arrives waits until the browser is at path and shows a text. Pages in between may redirect automatically.
func (v *visitor) arrives(path, text string) {
	v.Helper()
	v.becomes(`document.readyState === "complete" && location.href === ` + quote(v.site+path) +
		` && document.body.innerText.includes(` + quote(text) + `)`)
}

// becomes waits until a JavaScript expression is true. Pages in between may redirect automatically.
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

// json opens a path that responds with JSON.
func (v *visitor) json(path string) string {
	v.Helper()
	response := v.open(path)
	if response.Status != 200 || response.MimeType != "application/json" {
		v.Errorf("%s answers %d %s", path, response.Status, response.MimeType)
	}
	return run(v, chromedp.TextContent(chromedp.CSS("pre")))
}

// signedOut checks that the session JSON contains no user.
func (v *visitor) signedOut() {
	v.Helper()
	for _, path := range sessionPaths {
		if got := strings.TrimSpace(v.json(path)); got != "null" {
			v.Errorf("%s, signed out: %s", path, got)
		}
	}
}

// picture saves a picture of the whole page, if a folder for pictures is set.
func (v *visitor) picture(name string) {
	v.Helper()
	if dir := os.Getenv("LATCHKEY_SCREENSHOTS"); dir != "" {
		v.keep(dir, name)
	}
}

// keep saves a picture of the whole page in a folder.
func (v *visitor) keep(dir, name string) {
	v.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		v.Fatal(err)
	}
	// Chromium scrolls a right-to-left page when the picture is larger than the window, even if the window shows the
	// whole page.
	shot := chromedp.CaptureScreenshot()
	if run(v, chromedp.Evaluate[bool](`document.documentElement.scrollHeight > innerHeight`)) {
		shot = chromedp.FullScreenshot(100)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), run(v, shot), 0o644); err != nil {
		v.Fatal(err)
	}
}

// page describes the current page for error messages.
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

func click(selector string) step { return chromedp.Click(chromedp.CSS(selector)) }
func press(keys string) step     { return chromedp.KeyEvent(keys) }

// write inserts a text into a field at once, as pasting does. Three events for each character would take as long as
// loading a page.
func write(selector, text string) step {
	insert := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return err
	})
	return chromedp.Steps(chromedp.Focus(chromedp.CSS(selector), chromedp.NodeVisible), insert)
}
