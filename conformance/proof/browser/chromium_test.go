package browser_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromium is the browser of all tests in the package.
var chromium context.Context

func TestMain(m *testing.M) {
	os.Exit(withChromium(func() int {
		var err error
		if programs, err = os.MkdirTemp("", "latchkey-examples-"); err != nil {
			fmt.Fprintln(os.Stderr, "browser:", err)
			return 1
		}
		defer func() { _ = os.RemoveAll(programs) }()
		return m.Run()
	}))
}

func withChromium(run func() int) int {
	path, err := findChromium()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), chromiumOptions(path)...)
	defer stop()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "browser: %s does not start: %v\n", path, err)
		return 1
	}
	chromium = ctx
	return run()
}

// chromiumOptions returns the options that start the browser at path.
func chromiumOptions(path string) []chromedp.ExecAllocatorOption {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		// The pages of a visitor share a process, because each process takes a tenth of a second to start.
		chromedp.Flag("renderer-process-limit", "1"),
		// RenderDocument creates a new frame for each navigation, which takes a quarter of the CPU time of a page.
		chromedp.Flag("disable-features", "RenderDocument"),
		// Chromium can reach no other machine either.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"))
	// disable-threaded-compositing would save a fifth of the CPU time, but TestDocuments and TestOwnClient then hang
	// for minutes.
	if os.Geteuid() == 0 { // as root Chromium needs this
		options = append(options, chromedp.NoSandbox)
	}
	return options
}

// findChromium finds the program. Chromium's headless shell is the same browser engine without windows, menus and
// profiles, which take more than half of the CPU time. Without a browser the tests fail instead of being skipped.
func findChromium() (string, error) {
	if path := os.Getenv("LATCHKEY_CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{
		"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome",
	} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("browser: no Chromium found: apt-get install -y chromium-headless-shell, " +
		"or name one in LATCHKEY_CHROMIUM")
}
