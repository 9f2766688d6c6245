// Package browser_test signs in to the four example applications with a real Chromium, as a newcomer would.
package browser_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// wait bounds every step: a page that does not come is a failure, not a hang.
const wait = 15 * time.Second

var browser context.Context // one Chromium for the package

func TestMain(m *testing.M) {
	path, err := chromium()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	options := append([]chromedp.ExecAllocatorOption{},
		chromedp.ExecPath(path), chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("password-store", "basic"), chromedp.Flag("disable-features", "PasswordManagerOnboarding,PasswordLeakDetection"))
	if os.Geteuid() == 0 { // Chromium refuses to be root with its sandbox
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	browser = ctx
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "browser: Chromium does not start:", err)
		os.Exit(1)
	}
	code := m.Run()
	cancel()
	stop()
	os.Exit(code)
}

// chromium finds the browser. Without one the tests fail: an untested page is no page.
func chromium() (string, error) {
	if path := os.Getenv("LATCHKEY_CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("browser: no Chromium found: apt-get install -y chromium, or name one in LATCHKEY_CHROMIUM")
}

// app is a running example application.
type app struct{ url string }

// start builds and starts an example.
func start(t *testing.T, name string) *app {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir+"/app", "./"+name)
	build.Dir = filepath.Join("..", "..", "examples")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	addr := fmt.Sprintf("localhost:%d", port)
	var log strings.Builder
	run := exec.Command(dir+"/app", "-addr", addr, "-data", dir+"/data")
	run.Stdout, run.Stderr = &log, &log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Signal(os.Interrupt)
		if err := run.Wait(); err != nil {
			t.Errorf("%s did not end well: %v\n%s", name, err, log.String())
		}
	})
	a := &app{url: "http://" + addr}
	deadline := time.Now().Add(wait)
	for {
		if res, err := http.Get(a.url); err == nil {
			_ = res.Body.Close()
			return a
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer\n%s", name, log.String())
		}
		time.Sleep(20 * time.Millisecond) // between two attempts to connect
	}
}

// visitor is a browser context of its own, with no cookies, that notes what should not happen.
type visitor struct {
	*testing.T
	ctx context.Context
	app *app

	mu       sync.Mutex
	problems []string
}

func visit(t *testing.T, a *app) *visitor {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	v := &visitor{T: t, ctx: ctx, app: a}
	t.Cleanup(func() {
		cancel()
		for _, p := range v.problems {
			t.Errorf("the browser complains: %s", p)
		}
	})
	// Without a deadline: the tab lives as long as the context of its first step.
	listen := chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { return chromedp.Listen(ctx, v.listen) })
	if err := chromedp.Do(ctx, listen); err != nil {
		t.Fatal(err)
	}
	return v
}

// listen notes script errors, refused resources and requests that leave this machine.
func (v *visitor) listen(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, "http://localhost:") && !strings.HasPrefix(u, "http://127.0.0.1:") && !strings.HasPrefix(u, "data:") {
			v.problems = append(v.problems, "a request left this machine: "+u)
		}
	case *runtime.EventExceptionThrown:
		v.problems = append(v.problems, "script error: "+e.ExceptionDetails.Text)
	}
}

// do takes steps one after the other. A step that meets the tab between two pages is taken again: it had not begun.
func (v *visitor) do(steps ...chromedp.Action[chromedp.Void]) {
	v.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, wait)
	defer cancel()
	for _, step := range steps {
		if err := between(ctx, func() error { return chromedp.Do(ctx, step) }); err != nil {
			v.Fatalf("%v\n%s", err, v.eval(`location.href + "\n" + (document.body ? document.body.innerText : "")`))
		}
	}
}

// between repeats what fails because the tab is on its way from one page to the next.
func between(ctx context.Context, step func() error) error {
	for {
		err := step()
		if err == nil || !strings.Contains(err.Error(), "-32000") || ctx.Err() != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // until it has arrived
	}
}

func (v *visitor) eval(script string) string {
	v.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, wait)
	defer cancel()
	out := ""
	err := between(ctx, func() (err error) {
		out, err = chromedp.Run(ctx, chromedp.Evaluate[string](script))
		return err
	})
	if err != nil {
		v.Fatal(err)
	}
	return out
}

// open goes to a page of the application.
func (v *visitor) open(path string) {
	v.Helper()
	v.do(chromedp.Navigate(v.app.url + path))
}

// sees waits until the page shows a text.
func (v *visitor) sees(text string) {
	v.Helper()
	deadline := time.Now().Add(wait)
	script := fmt.Sprintf(`!!document.body && document.body.innerText.includes(%q)`, text)
	for {
		ctx, cancel := context.WithDeadline(v.ctx, deadline)
		seen, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script)) // fails while the tab is between two pages
		cancel()
		if err == nil && seen {
			return
		}
		if time.Now().After(deadline) {
			v.Fatalf("no %q: %v\n%s", text, err, v.eval(`location.href + "\\n" + document.body.innerText`))
		}
		time.Sleep(20 * time.Millisecond) // between two looks
	}
}

// body is the text at a path that is no page.
func (v *visitor) body(path string) string {
	v.Helper()
	v.open(path)
	return strings.TrimSpace(v.eval(`document.body.innerText`))
}

// picture keeps a screenshot for people to look at.
func (v *visitor) picture(name string) {
	v.Helper()
	dir := os.Getenv("LATCHKEY_SCREENSHOTS")
	if dir == "" {
		dir = "screenshots"
	}
	ctx, cancel := context.WithTimeout(v.ctx, wait)
	defer cancel()
	var png []byte
	err := between(ctx, func() (err error) {
		png, err = chromedp.Run(ctx, chromedp.CaptureScreenshot())
		return err
	})
	if err != nil {
		v.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		v.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		v.Fatal(err)
	}
}

func click(selector string) chromedp.Action[chromedp.Void] { return chromedp.Click(selector) }

// ways are the three ways to sign in, from the sign-in page to the application's home page.
var ways = []struct {
	name, sees string
	signIn     func(*visitor)
}{
	{"development provider", "Hello, Zoë Example", func(v *visitor) {
		v.do(click(`form[action$="/signin/dev"] button`))
		v.sees("Who are you?")
		v.picture("provider")
		v.do(chromedp.SendKeys("#name", "Zoë Example"), chromedp.SendKeys("#email", "zoe@example.com"), click("button.go"))
	}},
	{"credentials", "Hello, Demo User", func(v *visitor) {
		v.do(chromedp.SendKeys(`form[action$="/callback/credentials"] input[name=email]`, "demo@example.com"),
			chromedp.SendKeys(`input[name=password]`, "demo"), click(`form[action$="/callback/credentials"] button`))
	}},
	{"e-mail", "Hello, mail@example.com", func(v *visitor) {
		v.do(chromedp.SendKeys(`form[action$="/signin/email"] input[name=email]`, "Mail@Example.com"), click(`form[action$="/signin/email"] button`))
		v.sees("Check your email")
		v.picture("verify-request")
		v.open("/mailbox")
		v.sees("Sign in as mail@example.com")
		v.do(chromedp.Navigate(v.eval(`document.querySelector("a.button").href`)))
	}},
}

func TestExamples(t *testing.T) {
	for _, example := range []string{"gin", "echo", "fiber", "stdlib"} {
		t.Run(example, func(t *testing.T) {
			a := start(t, example)
			for _, way := range ways {
				t.Run(way.name, func(t *testing.T) {
					v := visit(t, a)
					v.open("/")
					v.sees("Hello, stranger")
					v.picture("home-signed-out")
					v.do(click("nav a.latchkey-signin"))
					v.sees("Sign in with Development")
					v.picture("signin")
					way.signIn(v)
					v.sees(way.sees)
					v.picture("home-signed-in")
					v.do(chromedp.Reload())
					v.sees(way.sees)
					v.open("/account")
					v.sees("Signed in until")
					v.picture("account")
					for _, path := range []string{"/auth/session", "/api/session"} {
						if body := v.body(path); !strings.Contains(body, "@example.com") {
							v.Errorf("%s: %s", path, body)
						}
					}
					v.open("/account")
					v.do(click("button.latchkey-signout"))
					v.sees("Hello, stranger")
					v.open("/account")
					v.sees("Sign in with Development")
					if body := v.body("/auth/session"); body != "null" {
						v.Errorf("after sign-out: %s", body)
					}
				})
			}
		})
	}
}
