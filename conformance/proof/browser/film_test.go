package browser_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// film takes pictures of two browser windows side by side with captions, in light and dark mode. They are the frames of
// the README's animation (make demo-pictures). It does nothing unless a picture folder is set.
type film struct {
	folder             string // empty if no pictures are wanted
	left, right, words *visitor
	taken              int
}

func newFilm(left, right *visitor) *film {
	f := &film{folder: os.Getenv("LATCHKEY_SCREENSHOTS"), left: left, right: right}
	if f.folder != "" {
		f.words = visit(left.T, left.site)
		f.words.looks("en", "light", 1256, 56)
	}
	return f
}

// paper is the page of the captions. It is not a page of the site, whose Content-Security-Policy would block its style.
const paper = `void (document.documentElement.innerHTML = "<style>body { margin: 0; height: 56px; display: grid; ` +
	`place-items: center; font: 600 22px system-ui, sans-serif; background: #fff; color: #24292f } ` +
	`@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3 } }</style><p></p>",` +
	`document.querySelector("p").textContent = %s)`

func (f *film) take(words string) {
	if f.folder == "" {
		return
	}
	f.taken++
	f.words.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(paper, quote(words))))
	for side, v := range map[string]*visitor{"left": f.left, "right": f.right, "words": f.words} {
		for _, scheme := range []string{"dark", "light"} {
			call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}})
			name := fmt.Sprintf("film-%s-%02d-%s.png", scheme, f.taken, side)
			if err := os.WriteFile(filepath.Join(f.folder, name), run(v, chromedp.CaptureScreenshot()), 0o644); err != nil {
				v.Fatal(err)
			}
		}
	}
}
