package browser_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Parts of the example board.
const (
	newCard   = `#board input[name=title], main input[name=title]`
	addButton = `main form.new button`
)

// TestBoard walks through the example board with an owner and a guest, whose pages change while they look at them.
func TestBoard(t *testing.T) {
	site := start(t, "board")
	demi, grace := visit(t, site), visit(t, site)
	demi.looks("en", "light", 900, 600)
	grace.looks("en", "light", 340, 600)
	film := &film{left: demi, right: grace}

	demi.open("/")
	demi.sees("What is the team up to?")
	grace.open("/")
	film.take()
	demi.open("/auth/signin?callbackUrl=%2Fboard")
	grace.open("/auth/signin?callbackUrl=%2Fboard")
	film.take()
	byCredentials(demi)
	demi.at("/board")
	grace.follow(click(devButton))
	grace.follow(click(`button.person[value="grace@example.com"]`))
	grace.sees("You are a guest")
	demi.sees("Grace Hopper")
	demi.hears()
	grace.hears()
	film.take()

	grace.refused("/team")
	grace.open("/board")
	grace.hears()

	demi.do(write(newCard, "Order ice cream for eighty"))
	film.take()
	demi.do(click(addButton))
	for _, v := range []*visitor{demi, grace} {
		v.sees("Order ice cream for eighty")
	}
	film.take()

	demi.open("/team")
	demi.do(chromedp.Evaluate[chromedp.Void](`void (document.querySelector("form.role select").value = "member")`))
	film.take()
	demi.follow(click("form.role button"))
	grace.writes("Find out who is allergic to nuts")
	demi.open("/board")
	demi.hears()
	demi.sees("Find out who is allergic to nuts")
	film.take()

	demi.calls("Deliver the posters")
	demi.open("/board")
	grace.sees("Deliver the posters")
	film.take()

	phone := visit(t, site)
	phone.open("/auth/signin")
	phone.follow(click(devButton))
	phone.follow(click(`button.person[value="grace@example.com"]`))
	phone.open("/auth/account")
	phone.follow(click(otherSession))
	grace.sees("Your session has ended")
	film.take()
	if !run(grace, chromedp.Evaluate[bool](`[...document.querySelectorAll("main button")].every((b) => b.disabled)`)) {
		t.Error("a page whose session has ended has buttons that work")
	}
}

// hears waits until the page is live: the board then says who looks at it.
func (v *visitor) hears() {
	v.Helper()
	run(v, chromedp.Poll[bool](`!!document.querySelector("#board .here")`, chromedp.WithPollingTimeout(wait)))
}

// refused opens a page that is not for the visitor.
func (v *visitor) refused(path string) {
	v.Helper()
	if answer := v.open(path); answer.Status != http.StatusForbidden {
		v.Errorf("%s answers %d", path, answer.Status)
	}
	v.sees("Access Denied")
}

// writes waits for the form that a member gets while they look at the board, and adds a card.
func (v *visitor) writes(title string) {
	v.Helper()
	run(v, chromedp.Poll[bool](`document.readyState === "complete" && !!document.querySelector("main form.new")`,
		chromedp.WithPollingTimeout(wait)))
	v.hears()
	v.do(write(newCard, title), click(addButton))
	v.sees(title)
}

// calls makes a token on its page, and writes with it as a program does.
func (v *visitor) calls(title string) {
	v.Helper()
	v.open("/token")
	v.follow(click(`main form button`))
	token := run(v, chromedp.TextContent(chromedp.CSS("pre.token")))
	ask, err := http.NewRequestWithContext(v.Context(), http.MethodPost, v.site+"/api/cards",
		strings.NewReader(`{"title":`+strconv.Quote(title)+`}`))
	if err != nil {
		v.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/json")
	ask.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		v.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusCreated {
		v.Fatalf("the API answers %s: %s", answer.Status, text)
	}
}

// TestBoardLooks opens the pages of the example board light, dark, on a phone and from right to left: none is wider
// than its window, axe finds nothing wrong, and the pictures are those of the documentation.
func TestBoardLooks(t *testing.T) {
	site := start(t, "board")
	v := visit(t, site)
	v.looks("en", "light", 1100, 720)
	v.open("/")
	v.kept("board-home")
	v.open("/auth/signin?callbackUrl=%2Fboard")
	byCredentials(v)
	other := visit(t, site)
	other.open("/auth/signin?callbackUrl=%2Fboard")
	other.follow(click(devButton))
	other.follow(click(`button.person[value="ada@example.com"]`))
	for _, look := range []struct {
		name, language, scheme string
		width, height          int64
		pages                  []string
	}{
		{"", "en", "light", 1100, 720, []string{"board", "team", "token"}},
		{"-dark", "en", "dark", 1100, 720, []string{"board", "team", "token"}},
		{"-phone", "de", "dark", 320, 640, []string{"board", "team", "token"}},
		{"-arabic", "ar", "light", 320, 640, []string{"board", "team"}},
		{"-wide-arabic", "ar", "light", 1100, 720, []string{"board"}},
	} {
		t.Run("look"+look.name, func(t *testing.T) {
			v := *v
			v.T = t
			v.looks(look.language, look.scheme, look.width, look.height)
			for _, page := range look.pages {
				v.open("/" + page)
				if page == "board" {
					v.hears()
				}
				if dir := run(&v, chromedp.Evaluate[string](`document.dir`)); (dir == "rtl") != (look.language == "ar") {
					t.Errorf("%s is written %s", page, dir)
				}
				v.kept(map[bool]string{true: "board", false: "board-" + page}[page == "board"] + look.name)
			}
		})
	}
}

// kept checks a page and keeps its picture.
func (v *visitor) kept(name string) {
	v.Helper()
	if wide := run(v, chromedp.Evaluate[int](`document.documentElement.scrollWidth - innerWidth`)); wide > 0 {
		v.Errorf("%s is %d px wider than its window", name, wide)
	}
	v.accessible(name)
	v.picture(name)
}

// film takes pictures of two windows that are open side by side, for the animation of the README: light and dark, and
// where somebody asked for pictures alone.
type film struct {
	left, right *visitor
	taken       int
}

func (f *film) take() {
	dir := os.Getenv("LATCHKEY_SCREENSHOTS")
	if dir == "" {
		return
	}
	f.taken++
	for side, v := range map[string]*visitor{"left": f.left, "right": f.right} {
		for _, scheme := range []string{"dark", "light"} {
			call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}})
			shot := run(v, chromedp.CaptureScreenshot())
			if !bytes.HasPrefix(shot, []byte("\x89PNG")) {
				v.Fatal("no picture")
			}
			name := "film-" + scheme + "-" + strconv.Itoa(100 + f.taken)[1:] + "-" + side + ".png"
			if err := os.WriteFile(filepath.Join(dir, name), shot, 0o600); err != nil {
				v.Fatal(err)
			}
		}
	}
}
