package multisession

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// name is the name of the actions, and of the page.
const name = "accounts"

// Accounts is the plugin. Create it with [New], and add it to Config.Plugins of one Auth. It is safe for concurrent
// use.
type Accounts struct {
	host atomic.Pointer[core.PluginHost]
}

// New returns the plugin.
func New() *Accounts { return &Accounts{} }

// Attach implements [core.Plugin].
func (a *Accounts) Attach(h *core.PluginHost) error {
	if !a.host.CompareAndSwap(nil, h) {
		return errors.New("already attached to an Auth: call multisession.New for each Auth")
	}
	h.KeepSessions(name)
	for _, action := range []core.Action{
		{Method: http.MethodGet, Handle: a.list},
		{Method: http.MethodPost, Verb: "add", Handle: a.add},
		{Method: http.MethodPost, Verb: "switch", Handle: a.change},
		{Method: http.MethodPost, Verb: "sign-out", Handle: a.signOut},
		{Method: http.MethodPost, Verb: "sign-out-all", Handle: a.signOutAll},
	} {
		action.Name = name
		action.Describe(descriptions)
		h.AddAction(action)
	}
	return nil
}

// Of returns the accounts of the browser that sent a request, the active one first. ctx is the context of the request.
// It is empty without the request hook, and during an impersonation.
func (a *Accounts) Of(ctx context.Context) ([]core.BrowserAccount, error) {
	h := a.host.Load()
	if h == nil {
		return nil, errors.New("multisession: add the plugin to Config.Plugins")
	}
	return h.BrowserAccounts(ctx)
}

// Switcher is a form that continues with another account and returns to the current page. It works without JavaScript
// and has no styles. It renders a link to the page of the accounts if there is no other account to switch to, and
// nothing without a signed-in user. It fails to render without the request hook.
func (a *Accounts) Switcher() templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		state, ok := ui.StateFrom(ctx)
		if !ok {
			return errors.New("multisession: Switcher requires the adapter's request hook before the handler")
		}
		all, err := a.Of(ctx)
		if err != nil {
			return fmt.Errorf("multisession: Switcher: %w", err)
		}
		if len(all) == 0 || !all[0].Active {
			return nil
		}
		v := &view{locale: state.Locale, base: state.BasePath + "/" + name, callbackURL: state.CallbackURL, all: all}
		if v.csrf, err = ui.CSRFToken(ctx); err != nil {
			return fmt.Errorf("multisession: Switcher: %w", err)
		}
		return switcher(v).Render(ctx, w)
	})
}

// ownSite refuses a request for JSON that a page of another site or subdomain sent, even one of Config.TrustedOrigins:
// the list has personal data of several users. It also refuses a bearer token, which belongs to no browser.
func ownSite(c *core.ActionRequest) error {
	h := c.Request.Header
	sites, origins := h.Values("Sec-Fetch-Site"), h.Values("Origin")
	foreign := len(sites) > 1 || len(origins) > 1 || len(origins) == 1 && origins[0] != c.Origin ||
		len(sites) == 1 && sites[0] != "same-origin" && sites[0] != "none"
	switch {
	case c.ByBearer():
		return &core.Problem{Status: http.StatusForbidden, Code: "browser_required", Text: textBrowserOnly}
	case c.WantsJSON && foreign, c.Request.Method == http.MethodPost && foreign:
		return &core.Problem{Status: http.StatusForbidden, Code: "cross_origin", Text: textCrossOrigin}
	}
	return nil
}

// list handles GET accounts.
func (a *Accounts) list(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	if err := ownSite(c); err != nil {
		return nil, err
	}
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	if session != nil && session.Actor != "" {
		return nil, core.ErrForbidden
	}
	all, err := c.BrowserAccounts(ctx)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		out := listed{Accounts: []account{}}
		for i := range all {
			out.Accounts = append(out.Accounts, accountOf(&all[i]))
		}
		response := c.JSON(ctx, http.StatusOK, out)
		response.Header.Set("Cross-Origin-Resource-Policy", "same-origin")
		return response, nil
	}
	if len(all) == 0 {
		return c.Redirect(c.URL("signin", "callbackUrl", c.CallbackURL)), nil
	}
	page := c.Page(c.Locale.Say(textHeading))
	return c.Render(ctx, http.StatusOK, page, listPage(page, newView(c, all))), nil
}

// add handles POST accounts/add: it keeps the current session and asks for another sign-in.
func (a *Accounts) add(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	if err := ownSite(c); err != nil {
		return nil, err
	}
	return a.signIn(ctx, c, "", "")
}

// signIn keeps the current session, if there is one, and redirects to the sign-in page. instead is the account that is
// about to sign in again, and hint its address.
func (a *Accounts) signIn(ctx context.Context, c *core.ActionRequest, instead, hint string) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	if session != nil {
		if err := c.KeepSession(ctx, instead); err != nil {
			return nil, err
		}
	}
	query := []string{"callbackUrl", c.CallbackURL}
	if hint != "" {
		query = append(query, "email", hint)
	}
	return c.Redirect(c.URL("signin", query...)), nil
}

// change handles POST accounts/switch. An account that is signed out continues on the sign-in page.
func (a *Accounts) change(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	if err := ownSite(c); err != nil {
		return nil, err
	}
	ref := c.Field("account")
	signedIn, err := c.SwitchSession(ctx, ref)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, unknownAccount()
	case err != nil:
		return nil, err
	case signedIn:
		return c.Redirect(c.CallbackURL), nil
	case c.WantsJSON:
		return nil, &core.Problem{Status: http.StatusConflict, Code: "sign_in_again", Text: textAgain}
	}
	all, err := c.BrowserAccounts(ctx)
	if err != nil {
		return nil, err
	}
	hint := ""
	if at := slices.IndexFunc(all, func(b core.BrowserAccount) bool { return b.Ref == ref }); at >= 0 {
		hint = all[at].User.Email
	}
	return a.signIn(ctx, c, ref, hint)
}

func unknownAccount() error {
	return &core.Problem{Status: http.StatusNotFound, Code: "account_unknown", Text: textUnknown}
}

// signOut handles POST accounts/sign-out: it ends the session of one account. No other account becomes active.
func (a *Accounts) signOut(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	if err := ownSite(c); err != nil {
		return nil, err
	}
	all, err := c.BrowserAccounts(ctx)
	if err != nil {
		return nil, err
	}
	ref := c.Field("account")
	at := slices.IndexFunc(all, func(b core.BrowserAccount) bool { return b.Ref == ref })
	switch {
	case at < 0:
		return nil, unknownAccount()
	case all[at].Active:
		err = c.SignOut(ctx)
	default:
		err = c.EndKeptSession(ctx, ref)
	}
	if err != nil {
		return nil, err
	}
	return c.Redirect(c.URL(name) + "?" + url.Values{"callbackUrl": {c.CallbackURL}}.Encode()), nil
}

// signOutAll handles POST accounts/sign-out-all.
func (a *Accounts) signOutAll(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	if err := ownSite(c); err != nil {
		return nil, err
	}
	session, err := c.Session(ctx)
	if err == nil && session != nil {
		err = c.SignOut(ctx)
	}
	if err = errors.Join(err, c.EndKeptSession(ctx, "")); err != nil {
		return nil, err
	}
	return c.Redirect(c.CallbackURL), nil
}
