package multisession

import (
	"cmp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// view is the data of the page and of the component.
type view struct {
	locale      ui.Locale
	csrf, base  string
	callbackURL string
	home, host  string
	all         []core.BrowserAccount
	active      ui.Visitor
}

func newView(c *core.ActionRequest, all []core.BrowserAccount) *view {
	v := &view{
		locale: c.Locale, csrf: c.CSRFToken, base: c.URL(name), callbackURL: c.CallbackURL, home: c.Home, host: c.Host(),
		all: all,
	}
	if u := all[0].User; all[0].Active {
		v.active = ui.Visitor{ID: u.ID, Name: u.Name, Email: u.Email, Image: u.Image}
	}
	return v
}

func (v *view) say(t ui.Text) string { return v.locale.Say(t) }

func (v *view) url(verb string) string { return v.base + "/" + verb }

// title returns the name of an account, or its address.
func (v *view) title(b *core.BrowserAccount) string {
	return cmp.Or(b.User.Name, b.User.Email, v.say(textUnnamed))
}

// about returns the address of an account, unless it is the title.
func (v *view) about(b *core.BrowserAccount) string {
	if b.User.Name == "" {
		return ""
	}
	return b.User.Email
}

func (v *view) mark(b *core.BrowserAccount) string {
	switch {
	case b.Active:
		return v.say(textActive)
	case !b.SignedIn:
		return v.say(textSignedOut)
	}
	return ""
}

// label returns the text of an account in the component.
func (v *view) label(b *core.BrowserAccount) string {
	text := cmp.Or(b.User.Email, v.title(b))
	if b.SignedIn {
		return text
	}
	return text + " · " + v.say(textSignedOut)
}

func (v *view) sections() []ui.PageSection {
	return []ui.PageSection{
		{ID: "accounts", Heading: v.say(textInBrowser), Content: rows(v)},
		{ID: "more", Heading: v.say(textMore), Content: more(v)},
	}
}
