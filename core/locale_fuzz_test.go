package core_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// FuzzLanguages requests a page in an arbitrary language. The response is in a configured language, and the cookie
// contains no other text.
func FuzzLanguages(f *testing.F) {
	for _, row := range [][3]string{
		{"", "", ""},
		{"fr, de-AT;q=0.8, en;q=0.5", "", ""},
		{";;;,,q=", "fi de en", "de"},
		{"de;q=0, en", `"><script>`, "<script>"},
		{strings.Repeat("a-", 400), strings.Repeat("de ", 400), "zh-Hans-u-nu-latn-x-y"},
		{"x-private, i-klingon, *;q=1e9", "\x00\xff", "ar-\xff"},
	} {
		f.Add(row[0], row[1], row[2])
	}
	auth, err := core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
		Locales: languages(), Providers: []core.Provider{plainOAuth()},
	})
	if err != nil {
		f.Fatal(err)
	}
	var ours []string
	for _, l := range languages() {
		ours = append(ours, l.Tag)
	}
	f.Fuzz(func(t *testing.T, accepted, asked, kept string) {
		header := http.Header{
			"Accept": {"text/html"}, "Accept-Language": {accepted}, "Cookie": {"__Host-latchkey.locale=" + kept},
		}
		answer := auth.Handle(t.Context(), &core.Request{
			Method: "GET", Target: "/auth/signin?ui_locales=" + url.QueryEscape(asked), Hosts: []string{"app.example"},
			Scheme: "https", Header: header,
		})
		if answer.Status != http.StatusOK || !slices.Contains(ours, answer.Header.Get("Content-Language")) {
			t.Fatalf("status %d in %q, %v", answer.Status, answer.Header.Get("Content-Language"), answer.Err)
		}
		for _, c := range answer.Cookies {
			if strings.HasSuffix(c.Name, "locale") && !slices.Contains(ours, c.Value) {
				t.Errorf("the browser keeps %q", c.Value)
			}
		}
	})
}
