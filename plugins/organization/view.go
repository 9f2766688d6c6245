package organization

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// view is the data that both pages have.
type view struct {
	flash
	locale     ui.Locale
	csrf, base string
	// home is the address of the application, host its name, and user the signed-in user, for the header.
	home, host string
	user       ui.Visitor
}

func (o *Organizations) view(c *core.ActionRequest, s *core.Session) view {
	v := view{locale: c.Locale, csrf: c.CSRFToken, base: c.URL(name), home: c.Home, host: c.Host()}
	if s.User != nil {
		v.user = ui.Visitor{ID: s.UserID, Name: s.User.Name, Email: s.User.Email, Image: s.User.Image}
	}
	if c.EncryptedCookie(flashCookie, &v.flash) {
		c.DeleteEncryptedCookie(flashCookie)
	}
	return v
}

func (v *view) url(verb string) string { return v.base + "/" + verb }

// open returns the address of an organization's page.
func (v *view) open(id string) string { return v.url("members") + "?organization=" + id }

func (v *view) say(t ui.Text) string { return v.locale.Say(t) }

// roleName returns the name of a role on a page. The name of a role of the application is the role itself.
func (v *view) roleName(role string) string {
	switch role {
	case Owner:
		return v.say(textOwner)
	case Admin:
		return v.say(textAdmin)
	case Member:
		return v.say(textMember)
	}
	return role
}

// listView is the data of the page that lists the organizations of a user.
type listView struct {
	view
	all    []Joined
	active string
	offer  *Offered // an organization that the user can join, or nil
}

// sections returns the sections of the page.
func (v *listView) sections() (all []ui.PageSection) {
	if len(v.all) > 0 {
		all = append(all, ui.PageSection{ID: "organizations", Heading: v.say(textYours), Content: rows(v)})
	}
	if v.offer != nil {
		all = append(all, ui.PageSection{ID: "offer", Heading: v.say(textOffer), Content: offerForm(v)})
	}
	return append(all, ui.PageSection{ID: "new", Heading: v.say(textNew), Content: createForm(v)})
}

// tag returns the label of the selected organization, or "".
func (v *listView) tag(id string) string {
	if id == v.active {
		return v.say(textSelected)
	}
	return ""
}

// orgView is the data of the page of an organization.
type orgView struct {
	view
	place
	of          *Organizations
	page        *memberPage
	invitations []Invitation
	requests    []requestView
	domains     []Domain
	keys        []keyView
	now         time.Time
	strong      bool   // the session has a second factor
	part        string // the page, such as pageMember, or empty for that of the members
}

func (v *orgView) may(permission string) bool { return v.of.allows(v.role, permission) }

// sections returns the sections that the member's role allows.
func (v *orgView) sections() []ui.PageSection {
	switch v.part {
	case pageRequests:
		return []ui.PageSection{{ID: "requests", Heading: v.say(textRequests), Content: requests(v)}}
	case pageDomains:
		return []ui.PageSection{{ID: "domains", Heading: v.say(textDomains), Content: domains(v)}}
	case pageKeys:
		return v.keySections()
	}
	all := []ui.PageSection{{ID: "members", Heading: v.say(textMembers), Content: memberRows(v)}}
	if v.part == pageMember {
		return all
	}
	if v.may(Invite) {
		all = append(all, ui.PageSection{ID: "invitations", Heading: v.say(textInvitations), Content: invitations(v)})
	}
	if v.may(Update) {
		all = append(all, ui.PageSection{ID: "settings", Heading: v.say(textSettings), Content: settings(v)})
	}
	all = append(all, ui.PageSection{ID: "leave", Heading: v.say(textLeave), Content: leave(v)})
	if v.role == Owner && v.strong {
		all = append(all, ui.PageSection{ID: "security", Heading: v.say(textSecurity), Content: security(v)})
	}
	if v.role == Owner {
		all = append(all, ui.PageSection{ID: "danger", Heading: v.say(textDelete), Content: deleteForm(v)})
	}
	return all
}

// related returns the links to the other pages of the organization that the member may see.
func (v *orgView) related() (all []ui.Link) {
	link := func(page, label string) ui.Link {
		return ui.Link{Label: label, Action: v.url(page) + "?organization=" + v.org.ID}
	}
	if v.may(Invite) && (v.org.JoinRequests || len(v.requests) > 0 || v.may(Update)) {
		label := v.say(textRequests)
		if n := len(v.requests); n > 0 {
			label += " (" + strconv.Itoa(n) + ")"
		}
		all = append(all, link(pageRequests, label))
	}
	if v.role == Owner && v.of.options.Resolver != nil {
		all = append(all, link(pageDomains, v.say(textDomains)))
	}
	if v.of.options.Keys != nil && v.may(WriteKeys) {
		all = append(all, link(pageKeys, v.say(textKeys)))
	}
	return all
}

// keySections returns the sections of the page of API keys.
func (v *orgView) keySections() (all []ui.PageSection) {
	if v.Key != "" {
		all = append(all, ui.PageSection{ID: "created", Heading: v.say(textKeyCreated), Content: newKey(v)})
	}
	all = append(all, ui.PageSection{ID: "keys", Heading: v.say(textKeys), Content: keyRows(v)})
	if len(v.of.scopesOf(v.role)) > 0 {
		all = append(all, ui.PageSection{ID: "new", Heading: v.say(textKeyNew), Content: keyForm(v)})
	}
	return all
}

// title returns the name of a member, or the address for a member without a name.
func (v *orgView) title(m *memberView) string {
	switch {
	case m.Name != "":
		return m.Name
	case m.Email != "":
		return m.Email
	}
	return v.say(textUnnamed)
}

// about returns a line about a member.
func (v *orgView) about(m *memberView) string {
	text := v.roleName(m.Role) + " · " + v.say(textJoinedOn.With(v.locale.Date(m.Joined)))
	if m.Email != "" && m.Name != "" {
		text = m.Email + " · " + text
	}
	return text
}

func (v *orgView) tag(m *memberView) string {
	if m.UserID == v.me {
		return v.say(textYou)
	}
	return ""
}

// changeable reports whether the page has forms to change a member. Members leave with the form below.
func (v *orgView) changeable(m *memberView) bool {
	return m.UserID != v.me && v.may(WriteMembers) && v.of.covers(v.role, m.Role)
}

// roles returns the roles that the member can give, the most common first.
func (v *orgView) roles(withOwner bool) (all []string) {
	names := slices.Sorted(maps.Keys(v.of.roles))
	names = slices.DeleteFunc(names, func(r string) bool { return r == Owner || r == Admin || r == Member })
	names = append([]string{Member}, append(names, Admin)...)
	if withOwner {
		names = append(names, Owner)
	}
	for _, r := range names {
		if v.of.covers(v.role, r) {
			all = append(all, r)
		}
	}
	return all
}

// member returns the address of the page of one member.
func (v *orgView) member(m *memberView) string {
	return v.open(v.org.ID) + "&member=" + url.QueryEscape(m.UserID)
}

func (v *orgView) next() string {
	return v.open(v.org.ID) + "&cursor=" + v.page.Next
}

// acceptView is the data of the page of an invitation.
type acceptView struct {
	csrf, action, token, home string
	name                      string // of the organization, or empty if there is a problem
	problem                   ui.Text
}

// joinView is the data of the page on which a user joins an organization, or asks to join.
type joinView struct {
	csrf, action, home, id, name string
	offered                      bool // without a request
	problem                      ui.Text
}

// AccountSection implements account.Section: the user's organizations, and a link to the page.
func (o *Organizations) AccountSection(ctx context.Context, c *core.ActionRequest) (*ui.PageSection, error) {
	session, err := c.Session(ctx)
	if err != nil || session == nil {
		return nil, err
	}
	all, err := o.Of(ctx, session.UserID)
	if err != nil {
		return nil, errors.Join(errors.New("organization: list the organizations of a user"), err)
	}
	v := &listView{
		view: view{locale: c.Locale, base: c.URL(name)}, all: all, active: o.active(c, session, all),
	}
	return &ui.PageSection{ID: "organizations", Heading: c.Locale.Say(textHeading), Content: section(v)}, nil
}
