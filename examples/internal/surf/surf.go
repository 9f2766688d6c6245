// Package surf is a browser without JavaScript, for the tests of the examples.
package surf

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Browser stores cookies and follows redirects.
type Browser struct {
	*testing.T
	client *http.Client
}

// New returns a browser without cookies.
func New(t *testing.T) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Browser{t, &http.Client{Jar: jar}}
}

// Page is a loaded page.
type Page struct {
	Status int
	URL    *url.URL
	Body   string
}

// Open opens a page.
func (b *Browser) Open(address string) *Page {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil)
	return b.send(r, err)
}

func (b *Browser) send(r *http.Request, err error) *Page {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	response, err := b.client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	return &Page{response.StatusCode, response.Request.URL, string(body)}
}

var (
	forms  = regexp.MustCompile(`(?s)<form [^>]*action="([^"]*)".*?</form>`)
	hidden = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// Submit sends the first form of a page whose action contains a text. fields are names and values to fill in.
func (b *Browser) Submit(p *Page, action string, fields ...string) *Page {
	b.Helper()
	for _, form := range forms.FindAllStringSubmatch(p.Body, -1) {
		to, err := p.URL.Parse(html.UnescapeString(form[1]))
		if err != nil || !strings.Contains(to.Path, action) {
			continue
		}
		values := url.Values{}
		for _, input := range hidden.FindAllStringSubmatch(form[0], -1) {
			values.Set(input[1], html.UnescapeString(input[2]))
		}
		for pair := range slices.Chunk(fields, 2) {
			values.Set(pair[0], pair[1])
		}
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, to.String(), strings.NewReader(values.Encode()))
		if err == nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", fmt.Sprintf("%s://%s", p.URL.Scheme, p.URL.Host))
		}
		return b.send(r, err)
	}
	b.Fatalf("%s has no form for %s: %d %s", p.URL, action, p.Status, p.Body)
	return nil
}

// SignIn opens a page that requires a sign-in, and signs in at the development provider first.
func (b *Browser) SignIn(address string) *Page {
	b.Helper()
	return b.Submit(b.Submit(b.Open(address), "/auth/signin/dev"), "/authorize/", "email", "ada@example.com")
}
