package core

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/pagecache"
	"github.com/latchkey-go/latchkey/ui"
)

// pages renders the built-in pages and the application's own pages.
type pages struct {
	config    PagesConfig
	views     ui.Views
	theme     Theme
	providers []ui.Provider
	// policy is the part of the Content-Security-Policy that follows the nonces.
	policy string
	// style, sheet and script are the URLs of the stylesheets and the script. If they are empty, pages contain them
	// inline.
	style, sheet, script string
	cached               pagecache.Cache
	// sessions finds the signed-in user. It is nil for the pages of a failed configuration.
	sessions *sessions
	plugins  *plugins // for the cookie with the address
	builtIn  bool     // the sign-in page is the built-in one
}

func newPages(c *Config, providers []ui.Provider) *pages {
	return &pages{
		config: c.Pages, views: renderLazily(c.Views.WithDefaults()), theme: c.Theme, providers: providers,
		policy: pagePolicy(c.Theme, providers), builtIn: c.Views.SignIn == nil,
		cached: pagecache.Cache{Languages: max(1, len(c.Locales))},
	}
}

// renderLazily makes the application's view functions run while their page is rendered, so that render recovers their
// panics. Error pages are rendered without another recover.
func renderLazily(v ui.Views) ui.Views {
	return ui.Views{
		SignIn: lazy(v.SignIn), SignOut: lazy(v.SignOut), Error: lazy(v.Error), VerifyRequest: lazy(v.VerifyRequest),
		Confirm: lazy(v.Confirm), Switch: lazy(v.Switch),
	}
}

func lazy[V any](draw func(V) templ.Component) func(V) templ.Component {
	return func(view V) templ.Component {
		return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error { return draw(view).Render(ctx, w) })
	}
}

// shell returns the data that all pages need. The nonce permits their style and script in the Content-Security-Policy.
func (p *pages) shell(v *arrival) ui.Page {
	page := ui.Page{
		BasePath: v.publicBase, Theme: p.theme, StylesheetURL: p.style, SheetURL: p.sheet, ScriptURL: p.script,
		Locale:  v.language(),
		HomeURL: v.home, Host: hostOf(v.origin), RememberMe: p.sessions != nil && p.sessions.config.RememberMe,
	}
	if b, err := randomBytes(v.rand, nonceBytes); err == nil {
		page.Nonce = nonceOf(b)
	}
	return page
}

// signedIn returns the signed-in user for a page, if that is no provisional user. It sets no cookies, and a failure of
// the store only hides the user.
func (p *pages) signedIn(ctx context.Context, c *call) (user ui.Visitor, provisional bool) {
	if p.sessions == nil || c.cookies == nil {
		return user, false
	}
	session, err := p.sessions.ofCookies(ctx, &c.arrival)
	var current *validSession
	if err == nil {
		current, err = session.current(ctx)
	}
	if err != nil {
		c.log.failure(ctx, asError(err, ErrSessionToken), c.attrs()...)
	}
	if err != nil || current == nil {
		return user, false
	}
	if p.plugins.provisional.has(current.methods) {
		return user, true
	}
	u := current.user
	user = ui.Visitor{ID: u.ID, Name: u.Name, Email: u.Email, Image: u.Image}
	if current.actor != nil {
		user.Actor = current.actor.title()
	}
	return user, false
}

const (
	nonceBytes = 16
	nonceLen   = (nonceBytes*8 + 5) / 6 // as text
)

func nonceOf(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }

// render renders a page into a buffer, so that an error can still change the response, and sets the security headers of
// pages.
func (p *pages) render(
	ctx context.Context, v *arrival, response *Response, nonce string, page templ.Component,
) *Response {
	var b bytes.Buffer
	if err := guard("page", func() error { return page.Render(ctx, &b) }); err != nil {
		v.log.failure(ctx, errorf(ErrAuth, "render page: %w", err), v.attrs()...)
		response.Status, response.Err = http.StatusInternalServerError, err
		response.Header = newHeader("Content-Type", typeJSON)
		response.Body = append(exactjson.AppendText([]byte(`{"message":`), configMessage), '}')
		return response
	}
	response.Body = b.Bytes()
	return p.asPage(v, response, nonce)
}

// permitPicture adds the origin of a user's picture to the Content-Security-Policy of a page.
func permitPicture(response *Response, picture string) *Response {
	if source := ui.ImageSource(picture); strings.HasPrefix(source, "https://") && response.Err == nil {
		policy := response.Header.Get("Content-Security-Policy")
		response.set("Content-Security-Policy", strings.Replace(policy, "; img-src ", "; img-src "+source+" ", 1))
	}
	return response
}

// asPage sets the headers of a page.
func (p *pages) asPage(v *arrival, response *Response, nonce string) *Response {
	policy := "default-src 'none'; style-src 'nonce-" + nonce + "'; script-src 'nonce-" + nonce + "'" + p.policy
	response.Header = newHeader(
		"Content-Type", typeHTML, "Content-Security-Policy", policy,
		"X-Frame-Options", "DENY", "Cross-Origin-Opener-Policy", "same-origin",
	)
	v.spoken(response)
	return response
}

// pagePolicy returns the part of the Content-Security-Policy that follows the nonces. It permits the configured logos
// and nothing else. There is no form-action, because browsers apply it to the redirects after a form post, which end at
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

// showImpersonation adds the banner to a page if its user is impersonated.
func (p *pages) showImpersonation(c *call, page *ui.Page, visitor ui.Visitor) {
	if visitor.Actor != "" && p.sessions.impersonation != nil {
		page.Impersonation = &ui.Impersonation{
			User: visitor, Action: c.base + "/" + p.sessions.impersonation.end, CSRFToken: c.csrf.Token,
		}
	}
}
