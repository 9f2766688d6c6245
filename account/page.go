package account

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// getAccount answers GET account: the page, or the overview as JSON.
func (a *Account) getAccount(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := here(ctx, c)
	if err != nil {
		return nil, err
	}
	l, err := a.look(ctx, session.UserID, session.ID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.Answer(ctx, http.StatusOK, l.Overview), nil
	}
	page := c.Page("")
	v := a.newView(l, page.BasePath, c.CSRFToken, page.Locale)
	v.page, v.stale = &page, a.stale(ctx, session)
	var s said
	if c.Kept(saidCookie, &s) {
		c.Drop(saidCookie)
	}
	before, problem := a.resume(ctx, c, session)
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
		state, ok := ui.StateFrom(ctx)
		if !ok {
			return fmt.Errorf("account: %s needs the request hook of the router's adapter in front of the handler", name)
		}
		session, err := core.SessionFrom(ctx)
		if err != nil {
			return fmt.Errorf("account: %s: %w", name, err)
		}
		if session == nil {
			return fmt.Errorf("account: %s needs a visitor who is signed in: guard the handler with RequireSession", name)
		}
		token, err := ui.CSRFToken(ctx)
		if err != nil {
			return fmt.Errorf("account: %s: %w", name, err)
		}
		l, err := a.look(ctx, session.UserID, session.ID)
		if errors.Is(err, core.ErrNotFound) {
			return fmt.Errorf("account: %s: the store has no such user: %w", name, err)
		}
		if err != nil {
			return err
		}
		v := a.newView(l, state.BasePath, token, state.Locale)
		v.stale = a.stale(ctx, session)
		return draw(v).Render(ctx, w)
	})
}

// script is the passkey client.
func script(page ui.Page) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if page.ScriptURL != "" {
			_, err := io.WriteString(w, `<script src="`+templ.EscapeString(string(templ.URL(page.ScriptURL)))+
				`" nonce="`+templ.EscapeString(page.Nonce)+`" defer></script>`)
			return err
		}
		_, err := io.WriteString(w, `<script nonce="`+templ.EscapeString(page.Nonce)+`">`+string(ui.Script())+`</script>`)
		return err
	})
}
