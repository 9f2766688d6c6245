package pagepolicy_test

import (
	"net/http"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/pagepolicy"
	"github.com/latchkey-go/latchkey/ui"
)

func TestHeader(t *testing.T) {
	t.Parallel()
	h := pagepolicy.Of("", "/logo.svg", "https://cdn.example/a.png", "https://cdn.example/b.png").Header("N")
	const want = "default-src 'none'; style-src 'nonce-N'; script-src 'nonce-N'; connect-src 'self'; " +
		"img-src 'self' data: https://cdn.example; base-uri 'none'; frame-ancestors 'none'"
	if got := h.Get("Content-Security-Policy"); got != want {
		t.Error(got)
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
	} {
		if h.Get(name) != want {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
	if nonce := pagepolicy.Nonce(make([]byte, pagepolicy.NonceBytes)); len(nonce) != pagepolicy.NonceLen {
		t.Error(nonce)
	}
}

func TestPermit(t *testing.T) {
	t.Parallel()
	const before, between, images, end = "default-src 'none'", "; script-src 'nonce-N'", "; connect-src 'self'; img-src ",
		"'self' data:; base-uri 'none'"
	for name, test := range map[string]struct {
		permit        func(h http.Header)
		want          string
		opener, refer string
	}{
		"no picture":      {func(h http.Header) { pagepolicy.Picture(h, "") }, before + between + images + end, "", ""},
		"a local picture": {func(h http.Header) { pagepolicy.Picture(h, "/a.png") }, before + between + images + end, "", ""},
		"a picture": {
			func(h http.Header) { pagepolicy.Picture(h, "https://a.example/1.png") },
			before + between + images + "https://a.example " + end, "", "",
		},
		"no widget": {func(h http.Header) { pagepolicy.Challenge(h, nil) }, before + between + images + end, "", ""},
		"a widget": {
			func(h http.Header) {
				pagepolicy.Challenge(h, &ui.Challenge{
					ScriptSources: []string{"https://s.example"}, StyleSources: []string{"https://t.example"},
					ConnectSources: []string{"https://c.example"}, FrameSources: []string{"https://f.example", "https://g.example"},
				})
			},
			before + "; script-src https://s.example 'nonce-N'; connect-src https://c.example 'self'; img-src " + end +
				"; style-src https://t.example; frame-src https://f.example https://g.example", "", "",
		},
		"no prompt": {func(h http.Header) { pagepolicy.OneTap(h, nil) }, before + between + images + end, "", ""},
		"a prompt of the browser": {
			func(h http.Header) { pagepolicy.OneTap(h, &ui.OneTapPrompt{ConfigURL: "https://idp.example/x.json"}) },
			before + between + "; connect-src https://idp.example 'self'; img-src " + end, "", "",
		},
		"a prompt of the library": {
			func(h http.Header) { pagepolicy.OneTap(h, &ui.OneTapPrompt{Library: "https://l.example/gsi/client"}) },
			before + between + "; connect-src https://l.example/gsi/ 'self'; img-src " + end +
				"; frame-src https://l.example/gsi/; style-src https://l.example/gsi/style",
			"same-origin-allow-popups", "strict-origin-when-cross-origin",
		},
	} {
		h := http.Header{"Content-Security-Policy": {before + between + images + end}}
		test.permit(h)
		if got := h.Get("Content-Security-Policy"); got != test.want {
			t.Errorf("%s:\n%s\n%s", name, got, test.want)
		}
		if h.Get("Cross-Origin-Opener-Policy") != test.opener || h.Get("Referrer-Policy") != test.refer {
			t.Errorf("%s: %v", name, h)
		}
	}
}
