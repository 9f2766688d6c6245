package admin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// view is the data that both pages have.
type view struct {
	flash
	locale     ui.Locale
	csrf, base string
	// home is the address of the application, host its name, and admin the signed-in user, for the header.
	home, host string
	admin      ui.Visitor
}

func newView(c *core.ActionRequest, s *core.Session) view {
	v := view{locale: c.Locale, csrf: c.CSRFToken, base: c.URL(name), home: c.Home, host: c.Host()}
	if s.User != nil {
		v.admin = ui.Visitor{ID: s.UserID, Name: s.User.Name, Email: s.User.Email, Image: s.User.Image}
	}
	if c.EncryptedCookie(flashCookie, &v.flash) {
		c.DeleteEncryptedCookie(flashCookie)
	}
	return v
}

func (v *view) say(t ui.Text) string { return v.locale.Say(t) }

func (v *view) url(verb string) string { return v.base + "/" + verb }

// open returns the address of a user's page.
func (v *view) open(id string) string { return v.url("user") + "?user=" + url.QueryEscape(id) }

// titleOf returns the name of a user, or the address of a user without a name.
func (v *view) titleOf(u *listedUser) string {
	switch {
	case u.Name != "":
		return u.Name
	case u.Email != "":
		return u.Email
	}
	return v.say(textUnnamed)
}

func (v *view) tag(u *listedUser) string {
	if u.Banned {
		return v.say(textBanned)
	}
	return ""
}

// listView is the data of the page that lists users.
type listView struct {
	view
	query   string
	page    *userPage
	options *Options
}

func (v *listView) sections() []ui.PageSection {
	all := []ui.PageSection{{ID: "users", Heading: v.say(textHeading), Content: userRows(v)}}
	if v.options.Invite != nil {
		form := emailForm(v, verbInvite, v.say(textSend))
		all = append(all, ui.PageSection{ID: verbInvite, Heading: v.say(textInvite), Content: form})
	}
	if v.options.Create != nil {
		form := emailForm(v, verbCreate, v.say(textCreate))
		all = append(all, ui.PageSection{ID: verbCreate, Heading: v.say(textCreate), Content: form})
	}
	return all
}

func (v *listView) next() string {
	return v.base + "?q=" + url.QueryEscape(v.query) + "&cursor=" + url.QueryEscape(v.page.Next)
}

// about returns the address and the ID of a user.
func (v *listView) about(u *listedUser) string {
	if u.Email == "" || u.Name == "" {
		return u.ID
	}
	return u.Email + separator + u.ID
}

const separator = " · "

// userView is the data of the page of a user.
type userView struct {
	view
	*fullUser
	self    bool // the administrator's own page
	options *Options
}

func (v *userView) title() string { return v.titleOf(&v.listedUser) }

func (v *userView) sections() []ui.PageSection {
	all := []ui.PageSection{
		{ID: "details", Heading: v.say(textDetails), Content: details(v)},
		{ID: "methods", Heading: v.say(textMethods), Content: methods(v)},
	}
	if v.Sessions != nil {
		all = append(all, ui.PageSection{ID: "sessions", Heading: v.say(textSessions), Content: sessions(v)})
	}
	for i, d := range v.data {
		all = append(all, ui.PageSection{
			ID: "data-" + string(rune('a'+i%26)), Heading: v.say(d.Heading), Content: data(v, v.rowsOf(v.Data[d.Name])),
		})
	}
	return append(all, ui.PageSection{ID: "changes", Heading: v.say(textChanges), Content: v.forms()})
}

// forms returns the forms that change the user, or the reason why there are none.
func (v *userView) forms() templ.Component {
	switch {
	case v.self:
		return hint(v.say(textSelf))
	case v.Admin:
		return hint(v.say(textIsAdmin))
	}
	return changeForms(v)
}

// phrase is what an administrator types to delete the user.
func (v *userView) phrase() string { return cmp.Or(v.Email, v.ID) }

func (v *userView) verified() string {
	switch {
	case v.Email == "":
		return ""
	case v.EmailVerified:
		return v.say(textVerified)
	}
	return v.say(textUnverified)
}

func (v *userView) banEnds() string {
	if v.Ban.Until.IsZero() {
		return v.say(textNoEnd)
	}
	return v.say(textEnds.With(v.locale.Date(v.Ban.Until)))
}

// device returns a short name of a session's browser, such as "Firefox · Windows".
func (v *userView) device(s *session) string {
	browser, system := ui.Device(s.Agent)
	switch {
	case browser != "" && system != "":
		return browser + separator + system
	case browser+system != "":
		return browser + system
	}
	return v.say(textBrowser)
}

func (v *userView) aboutSession(s *session) string {
	parts := []string{}
	if !s.Seen.IsZero() {
		parts = append(parts, v.say(textUsed.With(v.locale.Moment(s.Seen))))
	}
	if s.Actor != "" {
		parts = append(parts, v.say(textActor.With(s.Actor)))
	}
	if s.Network != "" {
		parts = append(parts, s.Network)
	}
	return strings.Join(parts, separator)
}

func (v *userView) aboutMethod(m *method) string {
	if m.Added.IsZero() {
		return ""
	}
	return v.say(textAdded.With(v.locale.Date(m.Added)))
}

func (v *userView) methodName(m *method) string {
	if m.Passkey {
		return v.say(textPasskey)
	}
	return m.Name
}

// row is an object of a plugin's data.
type row struct{ title, about string }

// rowsOf shows the JSON form of a plugin's data, with the names of its members. It is for people who support the
// application, so the names are not translated.
func (v *userView) rowsOf(data any) (rows []row) {
	text, err := json.Marshal(data)
	var list []map[string]any
	if err != nil || json.Unmarshal(text, &list) != nil {
		var one map[string]any
		if json.Unmarshal(text, &one) != nil {
			return nil
		}
		list = []map[string]any{one}
	}
	for i, each := range list {
		r := row{title: strconv.Itoa(i + 1)}
		for _, member := range []string{"id", "app", "name"} {
			if text, ok := each[member].(string); ok && text != "" {
				r.title = text
			}
		}
		var parts []string
		for _, member := range slices.Sorted(maps.Keys(each)) {
			if text := v.value(each[member]); text != "" && text != r.title {
				parts = append(parts, member+": "+text)
			}
		}
		r.about = strings.Join(parts, separator)
		rows = append(rows, r)
	}
	return rows
}

// value returns a JSON value as text, or "" for an object.
func (v *userView) value(x any) string {
	switch x := x.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339, x); err == nil {
			return v.locale.Moment(at)
		}
		return x
	case bool, float64:
		return fmt.Sprint(x)
	case []any:
		var parts []string
		for _, each := range x {
			if text, ok := each.(string); ok {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, ", ")
	}
	return ""
}
