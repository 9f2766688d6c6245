package apikey

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// view is the data of the page.
type view struct {
	flash
	locale  ui.Locale
	now     time.Time
	keys    []Key
	options *Options
	// lifetimes are those to choose from, in days.
	lifetimes []int
	lifetime  int // the default
	csrf      string
	// create, rotate and revoke are the addresses of the forms.
	create, rotate, revoke string
	// home is the address of the application, host its name, and user the signed-in user, for the header.
	home, host string
	user       ui.Visitor
}

// sections returns the sections of the page.
func (v *view) sections() (all []ui.PageSection) {
	add := func(id string, heading ui.Text, content templ.Component) {
		all = append(all, ui.PageSection{ID: id, Heading: v.locale.Say(heading), Content: content})
	}
	if v.Key != "" {
		add("created", textCreated, newKey(v))
	}
	if len(v.keys) > 0 {
		add("keys", textYours, rows(v))
	}
	add("new", textNew, createForm(v))
	return all
}

// about returns a line about a key: its last characters, scopes, expiry and last use.
func (v *view) about(k *Key) string {
	// The isolates keep the order of parts that are in another script than the page.
	return strings.Join([]string{
		"\u2068…" + k.Last4 + "\u2069", "\u2068" + strings.Join(v.labels(k.Scopes), ", ") + "\u2069",
		v.locale.Say(textExpires.With(v.locale.Date(k.Expires))), v.used(k),
	}, " · ")
}

func (v *view) used(k *Key) string {
	if k.Used.IsZero() {
		return v.locale.Say(textUnused)
	}
	return v.locale.Say(textUsed.With(v.locale.Date(k.Used)))
}

// labels returns the labels of scopes. A scope without a label is shown itself.
func (v *view) labels(scopes []string) []string {
	all := make([]string, len(scopes))
	for i, name := range scopes {
		all[i] = name
		for _, s := range v.options.Scopes {
			if s.Name == name {
				all[i] = s.Label
			}
		}
	}
	return all
}

// tag returns the label after the name of an expired key, or "".
func (v *view) tag(k *Key) string {
	if v.expired(k) {
		return v.locale.Say(textExpired)
	}
	return ""
}

func (v *view) expired(k *Key) bool { return !k.Expires.After(v.now) }

func (v *view) days(n int) string { return v.locale.Say(textDays.With(strconv.Itoa(n))) }

// AccountSection implements account.Section: the names of the keys, and a link to the page.
func (k *Keys) AccountSection(ctx context.Context, c *core.ActionRequest) (*ui.PageSection, error) {
	session, err := c.Session(ctx)
	if err != nil || session == nil {
		return nil, err
	}
	keys, err := k.Of(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	v := &view{locale: c.Locale, now: k.host.Now(), keys: keys, options: &k.options}
	return &ui.PageSection{
		ID: name, Heading: c.Locale.Say(textHeading), Content: section(v, c.URL(name)),
	}, nil
}
