// Package pagepolicy builds the Content-Security-Policy of pages. A policy permits what a page shows of other sites,
// and nothing else.
package pagepolicy

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/ui"
)

const field = "Content-Security-Policy"

// A nonce permits the styles and scripts of one page. It has NonceBytes random bytes, and NonceLen characters.
const (
	NonceBytes = 16
	NonceLen   = (NonceBytes*8 + 5) / 6
)

// Nonce returns the nonce of random bytes.
func Nonce(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }

// Policy is the part of a policy that follows the nonces.
type Policy string

// Of returns the policy of all pages with these logos. There is no form-action, because browsers apply it to the
// redirects after a form post, which end at the providers.
func Of(logos ...string) Policy {
	sources := []string{"'self'", "data:"}
	for _, logo := range logos {
		if source := ui.ImageSource(logo); source != "" && !slices.Contains(sources, source) {
			sources = append(sources, source)
		}
	}
	return Policy("; connect-src 'self'; img-src " + strings.Join(sources, " ") +
		"; base-uri 'none'; frame-ancestors 'none'")
}

// Header returns the header of a page with a nonce.
func (p Policy) Header(nonce string) http.Header {
	values := []string{
		"text/html; charset=utf-8", "DENY", "same-origin",
		"default-src 'none'; style-src 'nonce-" + nonce + "'; script-src 'nonce-" + nonce + "'" + string(p),
	}
	return http.Header{
		"Content-Type": values[0:1:1], "X-Frame-Options": values[1:2:2], "Cross-Origin-Opener-Policy": values[2:3:3],
		field: values[3:4:4],
	}
}

// Picture permits the picture of a user.
func Picture(h http.Header, picture string) {
	if source := ui.ImageSource(picture); strings.HasPrefix(source, "https://") {
		permit(h, "img-src", source)
	}
}

// Challenge permits the widget of a challenge. w may be nil.
func Challenge(h http.Header, w *ui.Challenge) {
	if w == nil {
		return
	}
	permit(h, "script-src", w.ScriptSources...)
	permit(h, "style-src", w.StyleSources...)
	permit(h, "connect-src", w.ConnectSources...)
	permit(h, "frame-src", w.FrameSources...)
}

// OneTap permits the prompt of One Tap, as Google's documentation of the library requires: its origin, popups, and the
// page's origin in the Referer header. The script of the library is permitted by the nonce. p may be nil.
func OneTap(h http.Header, p *ui.OneTapPrompt) {
	switch {
	case p == nil:
		return
	case p.ConfigURL != "": // browsers apply connect-src to the configuration
		if u, err := url.Parse(p.ConfigURL); err == nil {
			permit(h, "connect-src", u.Scheme+"://"+u.Host)
		}
		return
	}
	folder := p.Library[:strings.LastIndexByte(p.Library, '/')+1]
	permit(h, "connect-src", folder)
	permit(h, "frame-src", folder)
	permit(h, "style-src", folder+"style")
	h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
}

// permit adds sources to a directive.
func permit(h http.Header, directive string, sources ...string) {
	if len(sources) == 0 {
		return
	}
	policy, added := h.Get(field), "; "+directive+" "+strings.Join(sources, " ")
	with := strings.Replace(policy, "; "+directive+" ", added+" ", 1)
	if with == policy {
		with += added
	}
	h.Set(field, with)
}
