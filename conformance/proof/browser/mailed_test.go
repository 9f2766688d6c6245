package browser_test

import (
	"html"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// It opens the link of the newest email of a kind to an address. The mailbox adds new emails by script, so the link
// is found by its target and not by its position.
func (v *visitor) letter(kind, address string) {
	v.Helper()
	link := v.mailed(kind, address)
	v.open("/mailbox")
	v.follow(chromedp.Evaluate[chromedp.Void](
		`void setTimeout(() => document.querySelector(` + quote(link) + `).click())`)) // returns before the page is left
}

// mailed waits for an email of a kind to an address, because most emails are sent in the background. It returns the
// selector of the email's link in the mailbox. It reads the mailbox without the browser, which may have no JavaScript.
func (v *visitor) mailed(kind, address string) (link string) {
	v.Helper()
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		page := v.mailbox()
		for letter := range strings.SplitSeq(page, "<article") { // the newest is first
			if !strings.Contains(letter, " · "+kind+"</p>") || !strings.Contains(letter, "To "+address+" ") {
				continue
			}
			if _, rest, found := strings.Cut(letter, `class="button" href="`); found {
				address, _, _ := strings.Cut(rest, `"`)
				return `a[href="` + html.UnescapeString(address) + `"]`
			}
		}
	}
	v.Fatalf("no email of kind %s to %s\nin the mailbox %s", kind, address, v.mailbox())
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
