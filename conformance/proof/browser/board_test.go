package browser_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Selectors of the example board.
const (
	newCard   = `#board input[name=title], main input[name=title]`
	addButton = `main form.new button`
)

// TestBoard uses the example board as an owner and as a guest. Their pages are updated while they are open.
func TestBoard(t *testing.T) {
	site := start(t, "board")
	demi, grace := visit(t, site), visit(t, site)
	demi.looks("en", "light", 900, 600)
	grace.looks("en", "light", 340, 600)
	film := newFilm(demi, grace)

	for _, v := range []*visitor{demi, grace} {
		v.open("/")
		v.sees("What is the team up to?")
	}
	film.take("A small product to read, and to run offline: go run ./examples/board")
	for _, v := range []*visitor{demi, grace} {
		v.open("/auth/signin?callbackUrl=%2Fboard")
	}
	film.take("The sign-in page comes with it: passwords, passkeys, links by mail, providers")
	byCredentials(demi)
	demi.at("/board")
	grace.isAtProvider("grace@example.com")
	grace.sees("You are a guest")
	demi.sees("Grace Hopper")
	demi.hears()
	grace.hears()
	film.take("Demi owns the board. Grace comes as a guest, and reads.")

	grace.follow(click(`main p.notice a`))
	grace.follow(click(`button[type=submit]`))
	grace.sees("You asked to join")
	grace.open("/board")
	grace.hears()

	demi.do(write(newCard, "Order ice cream for eighty"))
	film.take("Demi adds a card …")
	demi.do(click(addButton))
	for _, v := range []*visitor{demi, grace} {
		v.sees("Order ice cream for eighty")
	}
	film.take("… and Grace sees it at once.")

	demi.follow(click(`nav a[href="/auth/organization"]`))
	demi.follow(click(`a.quiet[href*="members"]`))
	demi.follow(click(`a.quiet[href*="requests"]`))
	demi.sees("Grace Hopper")
	film.take("Grace has asked to join, and Demi makes her a member …")
	demi.follow(click(`form[action$="/admit"] button`))
	grace.writes("Find out who is allergic to nuts")
	demi.open("/board")
	demi.hears()
	demi.sees("Find out who is allergic to nuts")
	film.take("… and Grace writes, without signing in again.")

	demi.calls("Deliver the posters")
	grace.sees("Deliver the posters")
	film.take("A program writes, with a token that is listed and ended like any device.")

	phone := visit(t, site)
	phone.open("/auth/signin")
	phone.isAtProvider("grace@example.com")
	phone.open("/auth/account")
	phone.follow(click(otherSession))
	grace.sees("Your session has ended")
	demi.open("/board")
	demi.hears()
	film.take("Signed out on another device: the open page says so, and learns nothing more.")
	if !run(grace, chromedp.Evaluate[bool](`[...document.querySelectorAll("main button")].every((b) => b.disabled)`)) {
		t.Error("a page whose session has ended has buttons that work")
	}
}

// isAtProvider signs in at the development provider as one of its listed users.
func (v *visitor) isAtProvider(address string) {
	v.Helper()
	v.follow(click(devButton))
	v.follow(click(`button.person[value="` + address + `"]`))
}

// hears waits until the page is live. Then the board shows its viewers.
func (v *visitor) hears() {
	v.Helper()
	run(v, chromedp.Poll[bool](`!!document.querySelector("#board .here")`, chromedp.WithPollingTimeout(wait)))
}

// writes waits for the form that a new member gets on the open page, and adds a card.
func (v *visitor) writes(title string) {
	v.Helper()
	v.becomes(`document.readyState === "complete" && !!document.querySelector("main form.new")`)
	v.hears()
	v.do(write(newCard, title), click(addButton))
	v.sees(title)
}

// calls creates an API token on the token page, and adds a card with it as a program would.
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

// TestBoardLooks opens the pages of the example board in light and dark mode, on a phone and right to left. No page may
// be wider than its window, axe must find nothing, and the pictures must equal those in the documentation.
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
	other.isAtProvider("ada@example.com")
	for _, look := range []struct {
		name, language, scheme string
		width, height          int64
		pages                  []string
	}{
		{"", "en", lightAndDark, 1100, 720, []string{"board", "token"}},
		{"-phone", "de", "dark", 320, 640, []string{"board", "token"}},
		{"-arabic", "ar", "light", 320, 640, []string{"board"}},
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
