package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// pages show accounts: the account page, and its sections on pages of the application.
type pages struct {
	host   *core.Host
	looks  *overviews
	proofs *proofs
	// mails: letters can be sent. deletes: accounts can be deleted.
	mails, deletes bool
}

// get answers GET account: the page, or the overview as JSON.
func (p *pages) get(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := here(ctx, c)
	if err != nil {
		return nil, err
	}
	l, err := p.looks.look(ctx, session.UserID, session.ID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.Answer(ctx, http.StatusOK, l.Overview), nil
	}
	page := c.Page("")
	v := p.view(l, page.BasePath, c.CSRFToken, page.Locale)
	v.page, v.stale = &page, p.proofs.stale(ctx, session)
	var s said
	if c.Kept(saidCookie, &s) {
		c.Drop(saidCookie)
	}
	before, problem := p.proofs.resume(ctx, c, session)
	if before != nil {
		if v.again = v.offered(before); v.again == nil {
			problem = codeNotFound
		}
	}
	if problem != "" {
		s = said{Problem: problem}
	}
	return c.Render(ctx, http.StatusOK, page, accountPage(page, v, s)), nil
}

// Methods are the visitor's ways to sign in, for a page of the application's own: linked accounts, passkeys, password.
// Like the other sections it fails to render without the request hook and without a session, has no style of its own,
// and reads what it shows from the store. Its forms lead to the account page.
func (a *Account) Methods() templ.Component { return a.section("Methods", methodsSection) }

// Sessions are the devices that the visitor is signed in on, and what signs them out.
func (a *Account) Sessions() templ.Component { return a.section("Sessions", sessionsSection) }

// Email is the visitor's address, and a form that changes it where Options.Mail is set.
func (a *Account) Email() templ.Component { return a.section("Email", emailSection) }

// Danger is the form that deletes the visitor's account; nothing where Options.Delete is nil.
func (a *Account) Danger() templ.Component { return a.section("Danger", dangerSection) }

// section draws a section on a page of the application.
func (a *Account) section(name string, draw func(*view) templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		v, err := a.stories.pages.elsewhere(ctx, name)
		if err != nil {
			return err
		}
		return draw(v).Render(ctx, w)
	})
}

// elsewhere is the view of a section on a page of the application.
func (p *pages) elsewhere(ctx context.Context, name string) (*view, error) {
	state, ok := ui.StateFrom(ctx)
	if !ok {
		return nil, fmt.Errorf("account: %s needs the request hook of the router's adapter in front of the handler", name)
	}
	session, err := core.SessionFrom(ctx)
	if err != nil {
		return nil, fmt.Errorf("account: %s: %w", name, err)
	}
	if session == nil {
		return nil, fmt.Errorf("account: %s needs a visitor who is signed in: guard the handler with RequireSession", name)
	}
	token, err := ui.CSRFToken(ctx)
	if err != nil {
		return nil, fmt.Errorf("account: %s: %w", name, err)
	}
	l, err := p.looks.look(ctx, session.UserID, session.ID)
	if errors.Is(err, core.ErrNotFound) {
		return nil, fmt.Errorf("account: %s: the store has no such user: %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	v := p.view(l, state.BasePath, token, state.Locale)
	v.stale = p.proofs.stale(ctx, session)
	return v, nil
}

// view is the view of what was looked up.
func (p *pages) view(l *looked, base, csrf string, locale ui.Locale) *view {
	v := &view{
		Overview: l.Overview, base: base, csrf: csrf, locale: locale, back: base + "/account", now: p.host.Now(),
		mails: p.mails, deletes: p.deletes,
	}
	for _, provider := range p.host.Providers() {
		switch {
		case linkable(provider) && !slices.ContainsFunc(v.Accounts, func(l Linked) bool { return l.Provider == provider.ID }):
			v.add = append(v.add, provider)
		case provider.Type == core.TypeWebAuthn && v.passkeys == "":
			v.passkeys = provider.ID
		case provider.ID == passwordProvider:
			v.password = true
		case provider.Type == core.TypeEmail:
			v.mailLinks = true
		}
	}
	return v
}
