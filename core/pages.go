package core

import (
	"bytes"
	"context"
	"net/http"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/pagepolicy"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/headers"
	"github.com/latchkey-go/latchkey/internal/pagecache"
	"github.com/latchkey-go/latchkey/ui"
)

// pages renders the built-in pages and the application's own pages.
type pages struct {
	config    PagesConfig
	views     ui.Views
	theme     Theme
	providers []ui.Provider
	policy    pagepolicy.Policy
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
	logos := []string{c.Theme.Logo, c.Theme.DarkLogo}
	for _, p := range providers {
		logos = append(logos, p.Style.Logo)
	}
	return &pages{
		config: c.Pages, views: c.Views.WithDefaults(), theme: c.Theme, providers: providers,
		policy: pagepolicy.Of(logos...), builtIn: c.Views.SignIn == nil,
		cached: pagecache.Cache{Languages: max(1, len(c.Locales))},
	}
}

// shell returns the data that all pages need. The nonce permits their style and script in the Content-Security-Policy.
func (p *pages) shell(v *arrival) ui.Page {
	page := ui.Page{
		BasePath: v.publicBase, Theme: p.theme, StylesheetURL: p.style, SheetURL: p.sheet, ScriptURL: p.script,
		Locale:  v.language(),
		HomeURL: v.home, Host: v.at.Host, RememberMe: p.sessions != nil && p.sessions.config.RememberMe,
	}
	if b, err := randomBytes(v.rand, pagepolicy.NonceBytes); err == nil {
		page.Nonce = pagepolicy.Nonce(b)
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
		c.log.failure(ctx, errormarks.As(err, ErrSessionToken), c.attrs()...)
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

// render renders a page into a buffer, so that an error can still change the response, and sets the security headers of
// pages.
func (p *pages) render(
	ctx context.Context, v *arrival, response *Response, nonce string, page templ.Component,
) *Response {
	var b bytes.Buffer
	if err := guard("page", func() error { return page.Render(ctx, &b) }); err != nil {
		v.log.failure(ctx, errorf(ErrAuth, "render page: %w", err), v.attrs()...)
		response.Status, response.Err = http.StatusInternalServerError, err
		response.Header = headers.New("Content-Type", typeJSON)
		response.Body = append(exactjson.AppendText([]byte(`{"message":`), configMessage), '}')
		return response
	}
	response.Body = b.Bytes()
	return p.asPage(v, response, nonce)
}

// permit adds what a page shows of other sites to its Content-Security-Policy.
func (r *Response) permit(picture string, w *ui.Challenge, p *ui.OneTapPrompt) *Response {
	if r.Err == nil {
		pagepolicy.Picture(r.Header, picture)
		pagepolicy.Challenge(r.Header, w)
		pagepolicy.OneTap(r.Header, p)
	}
	return r
}

// asPage sets the headers of a page.
func (p *pages) asPage(v *arrival, response *Response, nonce string) *Response {
	response.Header = p.policy.Header(nonce)
	v.spoken(response)
	return response
}

// showImpersonation adds the banner to a page if its user is impersonated.
func (p *pages) showImpersonation(c *call, page *ui.Page, visitor ui.Visitor) {
	if visitor.Actor != "" && p.sessions.impersonation != nil {
		page.Impersonation = &ui.Impersonation{
			User: visitor, Action: c.base + "/" + p.sessions.impersonation.end, CSRFToken: c.csrf.Token,
		}
	}
}
