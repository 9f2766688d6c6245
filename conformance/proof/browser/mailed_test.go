package browser_test

import (
	"html"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// letter opens the link of the newest letter of a kind to an address. The mailbox shows by itself what comes later, so
// the link is found by where it leads and not by its place.
func (v *visitor) letter(kind, address string) {
	v.Helper()
	link := v.mailed(kind, address)
	v.open("/mailbox")
	v.follow(chromedp.Evaluate[chromedp.Void](
		`void setTimeout(() => document.querySelector(` + quote(link) + `).click())`)) // over before the page is left
}

// mailed waits for a letter of a kind to an address, as most are sent behind an answer, and returns the selector of its
// link in the mailbox. It asks without the browser: some visitors have no JavaScript to look with.
func (v *visitor) mailed(kind, address string) (link string) {
	v.Helper()
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		page := v.mailbox()
		for letter := range strings.SplitSeq(page, "<article>") { // the newest is on top
			if !strings.Contains(letter, " · "+kind+"</p>") || !strings.Contains(letter, "To "+address+" ") {
				continue
			}
			if _, rest, found := strings.Cut(letter, `href="`); found {
				address, _, _ := strings.Cut(rest, `"`)
				return `a[href="` + html.UnescapeString(address) + `"]`
			}
		}
	}
	v.Fatalf("no letter of kind %s to %s\nin the mailbox %s", kind, address, v.mailbox())
	return ""
}

func (v *visitor) mailbox() string {
	v.Helper()
	request, err := http.NewRequestWithContext(v.Context(), http.MethodGet, v.site+"/mailbox", nil)
	if err != nil {
		v.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		v.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		v.Fatal(err)
	}
	return string(page)
}
