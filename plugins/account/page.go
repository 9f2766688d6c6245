package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// pages renders the account page, and its sections on pages of the application.
type pages struct {
	host      *core.PluginHost
	overviews *overviews
	reauth    *reauth
	passkeys  *passkeys
	// mails reports whether emails can be sent, deletes whether users can delete their account.
	mails, deletes bool
	deleteAfter    time.Duration // Options.DeleteAfter
	activity       bool          // Options.Activity
	downloading    bool          // Options.Download
	profile        ProfileFields
}

func (p *pages) actions(*reauth) []core.Action {
	return []core.Action{{Method: http.MethodGet, Require: signedIn, Handle: p.get}}
}

// get handles GET account with the page, or with the overview as JSON.
func (p *pages) get(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		l, err := p.overviews.load(ctx, session.UserID, session.ID)
		if err != nil {
			return nil, err
		}
		return c.JSON(ctx, http.StatusOK, l.Overview), nil
	}
	var s flash
	if c.EncryptedCookie(flashCookie, &s) {
		c.DeleteEncryptedCookie(flashCookie)
	}
	return p.show(ctx, c, session, http.StatusOK, s, nil)
}

// show renders the page. form is the profile form that was refused, or nil.
func (p *pages) show(
	ctx context.Context, c *core.ActionRequest, session *core.Session, status int, s flash, form *profileForm,
) (*core.Response, error) {
	l, err := p.overviews.load(ctx, session.UserID, session.ID)
	if err != nil {
		return nil, err
	}
	page := c.Page("")
	page.Picture = l.User.Image
	page.Signals = p.passkeys.signals(c, l, s.Removed)
	if page.NewPasskey, err = p.passkeys.creation(ctx, c, session, l); err != nil {
		return nil, err
	}
	v := p.view(l, page.BasePath, c.CSRFToken, page.Locale)
	v.page, v.stale, v.form = &page, p.reauth.stale(ctx, session), form
	v.home, v.host = c.Home, c.Host()
	if v.fields = p.profile.Fields; len(v.fields) > 0 && form == nil && p.profile.Load != nil {
		if v.values, err = p.profile.Load(ctx, l.has.user.Clone()); err != nil {
			return nil, fmt.Errorf("account: Options.Profile.Load: %w", err)
		}
	}
	v.activity, v.downloads = p.activity, p.downloading
	if v.more, err = p.sections(ctx, c); err != nil {
		return nil, err
	}
	before, problem := p.reauth.resume(ctx, c, session)
	if before != nil {
		if v.again = v.offered(before); v.again == nil {
			problem = codeNotFound
		}
	}
	if problem != "" {
		s = flash{Problem: problem}
	}
	return c.Render(ctx, status, page, accountPage(page, v, s)), nil
}

// Section is a plugin that adds a section to the account page, such as a second factor. The page finds it in
// Config.Providers and Config.Plugins; there is nothing to configure. The section follows the sign-in methods, in the
// order of the plugins.
type Section interface {
	// AccountSection returns the section for the signed-in user of the request, or nil for none. The page calls it for
	// each GET from a browser, concurrently for different requests. c has the session, the CSRF token, the language and
	// the URLs for the section's forms, which post to the plugin's own actions and then redirect to c.URL("account"). An
	// error is logged, and the page fails with a general error.
	AccountSection(ctx context.Context, c *core.ActionRequest) (*ui.PageSection, error)
}

// sections returns the sections of other plugins.
func (p *pages) sections(ctx context.Context, c *core.ActionRequest) (all []ui.PageSection, err error) {
	for _, plugin := range p.host.Plugins() {
		owner, ok := plugin.(Section)
		if !ok {
			continue
		}
		section, err := owner.AccountSection(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("account: section of %T: %w", plugin, err)
		}
		if section != nil {
			all = append(all, *section)
		}
	}
	return all, nil
}

// embedded returns the view for a section on a page of the application.
func (p *pages) embedded(ctx context.Context, name string) (*view, error) {
	state, ok := ui.StateFrom(ctx)
	if !ok {
		return nil, fmt.Errorf("account: %s requires the adapter's request hook before the handler", name)
	}
	session, err := core.SessionFrom(ctx)
	if err != nil {
		return nil, fmt.Errorf("account: %s: %w", name, err)
	}
	if session == nil {
		return nil, fmt.Errorf("account: %s requires a signed-in user: protect it with RequireSession", name)
	}
	token, err := ui.CSRFToken(ctx)
	if err != nil {
		return nil, fmt.Errorf("account: %s: %w", name, err)
	}
	l, err := p.overviews.load(ctx, session.UserID, session.ID)
	if errors.Is(err, core.ErrNotFound) {
		return nil, fmt.Errorf("account: %s: user not found in the store: %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	v := p.view(l, state.BasePath, token, state.Locale)
	v.stale = p.reauth.stale(ctx, session)
	return v, nil
}

// view returns the view of an overview.
func (p *pages) view(l *accountData, base, csrf string, locale ui.Locale) *view {
	v := &view{
		Overview: l.Overview, base: base, csrf: csrf, locale: locale, back: base + "/account", now: p.host.Now(),
		mails: p.mails, deletes: p.deletes, deleteAfter: p.deleteAfter, styles: map[string]ui.Style{},
	}
	for _, provider := range p.host.Providers() {
		v.styles[provider.ID] = provider.Style
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

// linkable reports whether the page can link accounts of this provider, which is so for OAuth and OpenID Connect.
func linkable(p core.ProviderInfo) bool { return p.Type == core.TypeOAuth || p.Type == core.TypeOIDC }

// offered returns the row for a change that was requested before re-authentication. It is nil if the object of the
// change no longer exists.
func (v *view) offered(u *pendingChange) *offer {
	o := &offer{action: "account/" + u.Action, fields: u.Fields}
	there := false
	switch u.Action {
	case "unlink":
		there = v.offerUnlink(o, u.field("account"))
	case "passkey":
		there = v.offerPasskey(o, u)
	case "end":
		there = v.offerEnd(o, u.field("session"))
	case "link":
		there = v.offerLink(o, u.field("provider"))
	case "email":
		o.name, o.about = u.field("email"), v.locale.Say(textNewEmail)
		o.label, o.button = v.locale.Say(textEmailChange), v.locale.Say(textEmailWhat)
		there = v.mails && o.name != ""
	case "download":
		o.name, o.about = v.locale.Say(textDownload), v.locale.Say(textDownloadHint)
		o.label = v.locale.Say(textDownloadDo)
		there = v.downloads
	case "delete":
		o.name, o.about = v.locale.Say(textDanger), v.dangerHint()
		o.label, o.danger = v.locale.Say(textDelete), true
		there = v.deletes && u.field("phrase") != ""
	}
	if !there {
		return nil
	}
	return o
}

func (v *view) offerEnd(o *offer, id string) bool {
	if id == "others" {
		o.name, o.label, o.danger = v.locale.Say(textSessions), v.locale.Say(textOthers), true
		return v.others()
	}
	i := slices.IndexFunc(v.Sessions, func(s Session) bool { return s.ID == id })
	if i < 0 {
		return false
	}
	s := v.Sessions[i]
	o.name, o.about = v.sessionName(s), v.aboutSession(s)
	o.label, o.button = v.locale.Say(textSignOut), o.name+separator+o.about
	return true
}

// offerLink fills the row that links an account or adds a passkey, which is a sign-in.
func (v *view) offerLink(o *offer, provider string) bool {
	if provider == v.passkeys && provider != "" {
		o.name, o.passkey = v.locale.Say(textPasskey), true
		return true
	}
	i := slices.IndexFunc(v.add, func(p core.ProviderInfo) bool { return p.ID == provider })
	if i < 0 {
		return false
	}
	o.name, o.label = v.add[i].Name, v.locale.Say(textAdd.With(v.add[i].Name))
	o.action, o.fields = "signin/"+provider, [][2]string{{"callbackUrl", v.back}}
	return true
}

func (v *view) offerPasskey(o *offer, u *pendingChange) bool {
	i := slices.IndexFunc(v.Passkeys, func(p Passkey) bool { return p.ID == u.field("id") })
	if i < 0 {
		return false
	}
	p := v.Passkeys[i]
	o.name, o.button = v.title(p), v.title(p)
	if u.field("remove") != "" {
		o.about, o.label = v.aboutPasskey(p), v.locale.Say(textRemove)
		return p.Removable
	}
	o.about, o.label = u.field("name"), v.locale.Say(textRename)
	return true
}

func (v *view) offerUnlink(o *offer, id string) bool {
	i := slices.IndexFunc(v.Accounts, func(l Linked) bool { return l.ID == id && l.Removable })
	if i < 0 {
		return false
	}
	o.name, o.label, o.button = v.Accounts[i].Name, v.locale.Say(textDisconnect), v.Accounts[i].Name
	return true
}

// aboutPasskey describes when a passkey was added and last used.
func (v *view) aboutPasskey(p Passkey) string {
	var parts []string
	if !p.Made.IsZero() {
		parts = append(parts, v.locale.Say(textFirstSeen.With(v.ago(p.Made))))
	}
	if !p.Used.IsZero() {
		parts = append(parts, v.locale.Say(textPasskeyUsed.With(v.ago(p.Used))))
	}
	if p.Synced {
		parts = append(parts, v.locale.Say(textSynced))
	}
	return capital(strings.Join(parts, separator))
}

// dangerHint says what a deletion does, and when.
func (v *view) dangerHint() string {
	if v.deleteAfter == 0 {
		return v.locale.Say(textDangerHint)
	}
	return v.locale.Say(textDangerLater.With(v.locale.Date(v.now.Add(v.deleteAfter))))
}

// others reports whether there is a session other than the current one.
func (v *view) others() bool {
	return slices.ContainsFunc(v.Sessions, func(s Session) bool { return !s.Current })
}
