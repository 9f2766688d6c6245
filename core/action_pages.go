package core

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// errorPage answers GET error.
func (x *exchange) errorPage(ctx context.Context) (*Response, error) {
	name := x.query.Get("error")
	if own := x.pages.Error; own != "" {
		var params []string
		if name != "" {
			params = []string{"error", name}
		}
		target, err := x.page(own, "error", params...)
		if err != nil {
			return nil, errorf(AuthError, "Pages.Error: %w", err)
		}
		return &Response{Redirect: target}, nil
	}
	response := &Response{}
	switch name {
	case "Configuration":
		response.Status = http.StatusInternalServerError
	case "AccessDenied", "Verification":
		response.Status = http.StatusForbidden
	}
	view := ui.ErrorView{Page: x.pageView(), Error: name, SignInURL: x.base() + "/signin", URL: x.home(), Host: hostOf(x.origin)}
	if name != "" { // a failure sent the browser here
		view.Reference = x.ref()
	}
	return x.render(ctx, response, x.views.Error(view)), nil
}

// verifyRequestPage answers GET verify-request: a mail is on its way.
func (x *exchange) verifyRequestPage(ctx context.Context) (*Response, error) {
	if own := x.pages.VerifyRequest; own != "" {
		var params []string
		for _, name := range []string{"provider", "type"} {
			if v := x.query.Get(name); v != "" {
				params = append(params, name, v)
			}
		}
		target, err := weburl.AddQuery(own, params...)
		if err != nil {
			return nil, errorf(AuthError, "Pages.VerifyRequest: %w", err)
		}
		return &Response{Redirect: target}, nil
	}
	view := ui.VerifyRequestView{Page: x.pageView(), URL: x.home(), Host: hostOf(x.origin)}
	return x.render(ctx, &Response{}, x.views.VerifyRequest(view)), nil
}

func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}

// pageView is what all pages know. The nonce lets their one style element through the Content-Security-Policy.
func (x *exchange) pageView() ui.Page {
	if x.nonce == "" {
		if b, err := x.random(16); err == nil {
			x.nonce = base64.RawStdEncoding.EncodeToString(b)
		}
	}
	return ui.Page{BasePath: x.publicBase, Theme: x.theme, Nonce: x.nonce}
}

// providerViews are the providers as pages show them, with their addresses under the request's origin.
func (x *exchange) providerViews() []ui.Provider {
	views := make([]ui.Provider, len(x.uiProviders))
	base := x.base()
	for i, v := range x.uiProviders {
		v.SignInURL, v.CallbackURL = base+"/signin/"+v.ID, base+"/callback/"+v.ID
		views[i] = v
	}
	return views
}

// render renders a page into a buffer before a byte is sent, and gives it the headers that keep it to itself.
func (x *exchange) render(ctx context.Context, response *Response, page templ.Component) *Response {
	var b bytes.Buffer
	b.Grow(int(x.pageBytes.Load()) + 256)
	if _, err := guarded("page", func() (struct{}, error) { return struct{}{}, page.Render(ctx, &b) }); err != nil {
		x.logError(ctx, errorf(AuthError, "render page: %w", err), x.logAttrs()...)
		response.Status, response.Err = http.StatusInternalServerError, err
		response.Header = http.Header{"Content-Type": contentJSON}
		response.Body = append(exactjson.AppendText([]byte(`{"message":`), configMessage), '}')
		return response
	}
	response.Body = b.Bytes()
	if n := min(int64(b.Len()), 32<<10); n > x.pageBytes.Load() {
		x.pageBytes.Store(n)
	}
	return x.asPage(response)
}

// asPage gives an answer the headers of a page.
func (x *exchange) asPage(response *Response) *Response {
	response.Header = http.Header{
		"Content-Type":               contentHTML,
		"Content-Security-Policy":    []string{"default-src 'none'; style-src 'nonce-" + x.nonce + "'; script-src 'nonce-" + x.nonce + "'" + x.contentPolicy},
		"X-Frame-Options":            []string{"DENY"},
		"Cross-Origin-Opener-Policy": []string{"same-origin"},
	}
	return response
}

// pagePolicy is the Content-Security-Policy of pages behind the nonces: the logos that the configuration names, and nothing
// else. Forms may go anywhere: browsers apply form-action to the redirects of a form post, and those lead to the providers.
func pagePolicy(theme Theme, providers []ui.Provider) string {
	sources := []string{"'self'", "data:"}
	add := func(logo string) {
		if source := ui.ImageSource(logo); source != "" && !slices.Contains(sources, source) {
			sources = append(sources, source)
		}
	}
	add(theme.Logo)
	for _, p := range providers {
		add(p.Style.Logo)
	}
	return "; connect-src 'self'; img-src " + strings.Join(sources, " ") + "; base-uri 'none'; frame-ancestors 'none'"
}
