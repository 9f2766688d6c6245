package doctor_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/doctor"
)

// hostile returns the same response to all requests.
type hostile struct{ status, control, cookie, csrf, providers string }

func (h hostile) RoundTrip(r *http.Request) (*http.Response, error) {
	body := h.csrf
	if strings.HasSuffix(r.URL.Path, "/providers") {
		body = h.providers
	}
	code := http.StatusOK
	if strings.HasPrefix(h.status, "4") {
		code = http.StatusBadRequest
	}
	return &http.Response{
		Status: h.status, StatusCode: code, Body: io.NopCloser(strings.NewReader(body)), Request: r,
		Header: http.Header{"Cache-Control": {h.control}, "Set-Cookie": {h.cookie}, "Date": {h.control}},
	}, nil
}

// FuzzVisit checks a site with arbitrary responses: the report has lines of limited length and printable text only.
func FuzzVisit(f *testing.F) {
	const good = `{"csrfToken":"x"}`
	f.Add("200 OK", "no-store", "__Host-authjs.csrf-token=x; Secure", good,
		`{"a":{"id":"a","callbackUrl":"https://app.test/auth/callback/a"}}`)
	f.Add("400 \x9b31mred", "no\x1b[2J", "csrf-token=\u202e", "{}", `{}`)
	f.Add("200 OK", "private", "__Host-authjs.csrf-token=x; Secure", good,
		`{"\u009b31m\u202ea":{"id":"a","callbackUrl":"https://app.test/auth/callback/a"}}`)
	f.Add("200 OK", "private", "\x00csrf-token=x; Secure", good,
		`{"a":{"callbackUrl":"https://\u001b[31mevil/callback/"}}`)
	f.Add("200 OK", "private", "__Host-authjs.csrf-token=x; Secure", good, strings.Repeat("[", 20_000))
	f.Fuzz(func(t *testing.T, status, control, cookie, csrf, providers string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		client := &http.Client{Transport: hostile{status, control, cookie, csrf, providers}}
		report := doctor.Visit(ctx, "https://app.test", doctor.Options{HTTPClient: client})
		for _, l := range report.Lines {
			for _, text := range []string{l.Check, l.What, l.Fix} {
				odd := strings.IndexFunc(text, func(c rune) bool { return !unicode.IsPrint(c) })
				if odd >= 0 || len(text) > 1000 || !utf8.ValidString(text) {
					t.Fatalf("a line says %q", text)
				}
			}
		}
	})
}
