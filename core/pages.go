package core

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// pages are the built-in pages and the application's own.
type pages struct {
	config    PagesConfig
	views     ui.Views
	theme     Theme
	providers []ui.Provider
	// policy is the Content-Security-Policy behind the nonces.
	policy string
	// style and script are where pages find theirs; empty: they carry them.
	style, script string
	// size is that of the longest page so far: the room that the next one gets.
	size    atomic.Int64
	cached  pageCache
	builtIn bool // the sign-in page is ours
}

func newPages(c *Config, providers []ui.Provider) *pages {
	return &pages{
		config: c.Pages, views: drawnLate(c.Views.WithDefaults()), theme: c.Theme, providers: providers,
		policy: pagePolicy(c.Theme, providers), builtIn: c.Views.SignIn == nil,
		cached: pageCache{languages: max(1, len(c.Locales))},
	}
}

// drawnLate has the functions of the application called where their pages are rendered, where a panic of theirs is one
// of the page: a failure that is answered with a page has no other guard.
func drawnLate(v ui.Views) ui.Views {
	return ui.Views{
		SignIn: late(v.SignIn), SignOut: late(v.SignOut), Error: late(v.Error), VerifyRequest: late(v.VerifyRequest),
		Confirm: late(v.Confirm), Switch: late(v.Switch),
	}
}

func late[V any](draw func(V) templ.Component) func(V) templ.Component {
	return func(view V) templ.Component {
		return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error { return draw(view).Render(ctx, w) })
	}
}

// errorPage answers GET error.
func (p *pages) errorPage(ctx context.Context, c *call) (*Response, error) {
	name, reason := c.query.Get("error"), readReason(c.query.Get("reason"))
	if own := p.config.Error; own != "" {
		var params []string
		if name != "" {
			params = []string{"error", name}
		}
		if reason != "" {
			params = append(params, "reason", string(reason))
		}
		target, err := c.page(own, "error", params...)
		if err != nil {
			return nil, errorf(ErrAuth, "Pages.Error: %w", err)
		}
		return redirectTo(target), nil
	}
	response := &Response{}
	switch name {
	case "Configuration":
		response.Status = http.StatusInternalServerError
		if reason != "" { // the user's own doing: started too long ago, or in another browser
			response.Status = http.StatusBadRequest
		}
	case "AccessDenied", "Verification":
		response.Status = http.StatusForbidden
	}
	view := ui.ErrorView{
		Page: p.shell(&c.arrival), Error: name, Reason: string(reason), SignInURL: c.base + "/signin",
		URL: c.home, Host: hostOf(c.origin),
	}
	if name != "" { // a failure sent the browser here
		view.Reference = c.lastRef()
	}
	return p.render(ctx, &c.arrival, response, view.Nonce, p.views.Error(view)), nil
}

// verifyRequestPage answers GET verify-request: a mail is on its way.
func (p *pages) verifyRequestPage(ctx context.Context, c *call) (*Response, error) {
	if own := p.config.VerifyRequest; own != "" {
		var params []string
		for _, name := range []string{"provider", "type"} {
			if v := c.query.Get(name); v != "" {
				params = append(params, name, v)
			}
		}
		target, err := weburl.AddQuery(own, params...)
		if err != nil {
			return nil, errorf(ErrAuth, "Pages.VerifyRequest: %w", err)
		}
		return redirectTo(target), nil
	}
	view := ui.VerifyRequestView{Page: p.shell(&c.arrival), URL: c.home, Host: hostOf(c.origin)}
	return p.render(ctx, &c.arrival, &Response{}, view.Nonce, p.views.VerifyRequest(view)), nil
}

// shell is what all pages know. The nonce lets their style and script through the Content-Security-Policy.
func (p *pages) shell(v *arrival) ui.Page {
	page := ui.Page{
		BasePath: v.publicBase, Theme: p.theme, StylesheetURL: p.style, ScriptURL: p.script, Locale: v.language(),
	}
	if b, err := randomBytes(v.rand, nonceBytes); err == nil {
		page.Nonce = nonceOf(b)
	}
	return page
}

const (
	nonceBytes = 16
	nonceLen   = (nonceBytes*8 + 5) / 6 // as text
)

func nonceOf(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }

// providerViews are the providers as pages show them, with their addresses under the request's origin.
func (p *pages) providerViews(v *arrival) []ui.Provider {
	views := make([]ui.Provider, len(p.providers))
	base := v.base
	for i, view := range p.providers {
		view.SignInURL, view.CallbackURL = base+"/signin/"+view.ID, base+"/callback/"+view.ID
		views[i] = view
	}
	return views
}

// render renders a page into a buffer before a byte is sent, and gives it the headers that keep it to itself.
func (p *pages) render(
	ctx context.Context, v *arrival, response *Response, nonce string, page templ.Component,
) *Response {
	var b bytes.Buffer
	b.Grow(int(p.size.Load()) + 256)
	if err := guard("page", func() error { return page.Render(ctx, &b) }); err != nil {
		v.log.failure(ctx, errorf(ErrAuth, "render page: %w", err), v.attrs()...)
		response.Status, response.Err = http.StatusInternalServerError, err
		response.Header = newHeader(contentJSON)
		response.Body = append(exactjson.AppendText([]byte(`{"message":`), configMessage), '}')
		return response
	}
	response.Body = b.Bytes()
	if n := min(int64(b.Len()), 32<<10); n > p.size.Load() {
		p.size.Store(n)
	}
	return p.asPage(v, response, nonce)
}

// asPage gives an answer the headers of a page.
func (p *pages) asPage(v *arrival, response *Response, nonce string) *Response {
	policy := "default-src 'none'; style-src 'nonce-" + nonce + "'; script-src 'nonce-" + nonce + "'" + p.policy
	response.Header = newHeader(
		contentHTML, [2]string{"Content-Security-Policy", policy},
		[2]string{"X-Frame-Options", "DENY"}, [2]string{"Cross-Origin-Opener-Policy", "same-origin"},
	)
	v.spoken(&response.Header)
	return response
}

// pagePolicy is the Content-Security-Policy of pages behind the nonces: the logos that the configuration names, and
// nothing else. Forms may go anywhere: browsers apply form-action to the redirects of a form post, and those lead to
// the providers.
func pagePolicy(theme Theme, providers []ui.Provider) string {
	sources := []string{"'self'", "data:"}
	add := func(logo string) {
		if source := ui.ImageSource(logo); source != "" && !slices.Contains(sources, source) {
			sources = append(sources, source)
		}
	}
	add(theme.Logo)
	add(theme.DarkLogo)
	for _, p := range providers {
		add(p.Style.Logo)
	}
	return "; connect-src 'self'; img-src " + strings.Join(sources, " ") + "; base-uri 'none'; frame-ancestors 'none'"
}
