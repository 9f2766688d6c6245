package account

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// view is the data of the sections, on the account page and on pages of the application.
type view struct {
	Overview
	// base is the base URL of the auth routes, csrf the CSRF token, back the page that forms of other actions return to.
	base, csrf, back string
	locale           ui.Locale
	now              time.Time
	// add are the providers that can be linked. passkeys is the ID of the passkey provider, or "".
	add      []core.ProviderInfo
	passkeys string
	// password reports whether a password provider is configured, mails whether emails can be sent, deletes whether users
	// can delete their account.
	password, mails, deletes bool
	// deleteAfter is Options.DeleteAfter.
	deleteAfter time.Duration
	// mailLinks reports whether a provider of sign-in links is configured, stale whether a change requires
	// re-authentication.
	mailLinks, stale bool
	// again is the change that was requested before re-authentication, or nil.
	again *offer
	// form is the profile form that was refused, or nil. fields are the fields of the application and values their values.
	form   *profileForm
	fields []ui.Field
	values map[string]string
	// styles are the looks of the providers by ID.
	styles map[string]ui.Style
	// home is the application's URL and host its name.
	home, host string
	// more are the sections of other plugins.
	more []ui.PageSection
	// activity reports whether there is a page with the recent activity, and downloads whether there is a download.
	activity, downloads bool
	// page is for the script of the passkey form. It is nil on pages of the application, where a link to the account page
	// replaces the form.
	page *ui.Page
}

func (v *view) url(action string) string { return v.base + "/" + action }

func (v *view) has(method string) bool { return slices.Contains(v.Methods, method) }

// mailed reports whether the user can sign in with an emailed link.
func (v *view) mailed() bool { return v.mailLinks && v.User.EmailVerified }

// listed reports whether there is a sign-in method to list.
func (v *view) listed() bool { return len(v.Accounts)+len(v.Passkeys) > 0 || v.password || v.mailed() }

// askView is the data of a page that asks for confirmation.
type askView struct {
	Page                  ui.Page
	CSRFToken             string
	Heading, Address      string
	Text                  ui.Text // around the address
	Action, Token, Button string
}

// user returns the user for the header and the picture.
func (v *view) user() ui.Visitor {
	return ui.Visitor{Name: v.User.Name, Email: v.User.Email, Image: v.User.Image}
}

// all returns the sections of the page.
func (v *view) all() []ui.PageSection {
	say := func(id string, heading ui.Text, content templ.Component) ui.PageSection {
		return ui.PageSection{ID: id, Heading: v.locale.Say(heading), Content: content}
	}
	all := []ui.PageSection{
		say("profile", textProfile, profileContent(v)), say("email", textEmail, emailContent(v)),
		say("methods", textMethods, methodsContent(v)),
	}
	all = append(append(all, v.more...), say("sessions", textSessions, sessionsContent(v)))
	if v.activity {
		all = append(all, say("activity", textActivity, activityContent(v)))
	}
	if v.downloads {
		all = append(all, say("download", textDownload, downloadContent(v)))
	}
	if v.deletes {
		all = append(all, say("danger", textDanger, dangerContent(v)))
	}
	return all
}

// profileFields returns the fields of the profile form with their values. problem is the index of the field with the
// problem: that of the application's fields is shown below the last one.
func (v *view) profileFields() (fields []ui.Field, problem int) {
	form := v.form
	if form == nil {
		form = &profileForm{name: v.User.Name, image: v.User.Image, values: v.values}
	}
	fields = []ui.Field{
		{
			Name: "name", Label: v.locale.Say(textName), Value: form.name, Autocomplete: "name",
			Attributes: []ui.Attribute{{Name: "maxlength", Value: strconv.Itoa(maxProfileName)}},
		},
		{
			Name: "image", Label: v.locale.Say(textImage), Value: form.image, Type: "url", Autocomplete: "photo",
			Placeholder: "https://",
			Attributes:  []ui.Attribute{{Name: "pattern", Value: "https://.+"}, {Name: "inputmode", Value: "url"}},
		},
	}
	for _, f := range v.fields {
		if value, ok := form.values[f.Name]; ok {
			f.Value = value
		}
		f.Label = v.locale.Label(cmp.Or(f.Label, f.Name))
		fields = append(fields, f)
	}
	problem = len(fields) - 1
	for i, f := range fields {
		if f.Name == form.field {
			problem = i
		}
	}
	return fields, problem
}

// problemOf returns the problem of a field in the profile form, or "".
func (v *view) problemOf(i, with int) string {
	if v.form == nil || i != with {
		return ""
	}
	return v.form.problem
}

// icon returns the logo of a linked account's provider.
func (v *view) icon(a Linked) templ.Component {
	return ui.ProviderIcon(ui.Provider{ID: a.Provider, Name: a.Name, Style: v.styles[a.Provider]})
}

// aboutAccount describes which account is linked, and whether it is the last sign-in method.
func (v *view) aboutAccount(a Linked) string {
	parts := make([]string, 0, 2)
	for _, part := range []string{a.Label, v.lastHint(a.Removable)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, separator)
}

// deviceIcon returns the icon of a session's device by its User-Agent header.
func deviceIcon(agent string) templ.Component {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(agent, p) })
	}
	switch {
	case has("iPhone"), has("Android") && has("Mobile"):
		return ui.Icon("phone")
	case has("iPad", "Android"):
		return ui.Icon("tablet")
	case has("Windows", "Mac OS X", "Linux", "CrOS"):
		return ui.Icon("laptop")
	}
	return ui.Icon("globe")
}

func (v *view) lastHint(removable bool) string {
	if removable {
		return ""
	}
	return v.locale.Say(textLast)
}

func (v *view) passkeyTag(p Passkey) string {
	if p.Name == "" && p.Provider == "" {
		return ""
	}
	return v.locale.Say(textPasskey)
}

func (v *view) currentMark(s Session) string {
	if s.Current {
		return v.locale.Say(textThisDevice)
	}
	return ""
}

func (v *view) emailMark(p Person) string {
	if p.EmailVerified {
		return v.locale.Say(textConfirmed)
	}
	return v.locale.Say(textNotConfirmed)
}

// emailProblem says that emails to the user's address bounce, or returns "".
func (v *view) emailProblem() string {
	if !v.User.EmailBounces {
		return ""
	}
	return v.locale.Say(textEmailBounces)
}

// doneText returns the message for a successful change, or the zero value for an unknown code.
func doneText(what string) ui.Text {
	switch what {
	case "profile":
		return textDoneProfile
	case "unlinked":
		return textDoneUnlinked
	case "passkey-removed":
		return textDoneRemoved
	case "passkey-named":
		return textDoneNamed
	case "ended":
		return textDoneEnded
	case "ended-others":
		return textDoneEndedOthers
	case "email-asked":
		return textDoneAsked
	case "email-changed":
		return textDoneEmail
	case "kept":
		return textKeptBody
	case "email-verified":
		return textDoneVerified
	}
	return ui.Text{}
}

// ago returns a relative time such as "5 minutes ago", or the date after two weeks.
func (v *view) ago(at time.Time) string {
	many := func(t ui.Text, n float64) string { return v.locale.Say(t.With(strconv.Itoa(int(n)))) }
	switch d := v.now.Sub(at); {
	case d < 2*time.Minute:
		return v.locale.Say(textNow)
	case d < time.Hour:
		return many(textMinutes, d.Minutes())
	case d < 2*time.Hour:
		return v.locale.Say(textHour)
	case d < 24*time.Hour:
		return many(textHours, d.Hours())
	case d < 48*time.Hour:
		return v.locale.Say(textYesterday)
	case d < 14*24*time.Hour:
		return many(textDays, d.Hours()/24)
	}
	return v.locale.Say(textOnDay.With(v.locale.Date(at)))
}

// sessionName returns what the list calls a session.
func (v *view) sessionName(s Session) string {
	if s.Support {
		return v.locale.Say(textSupport)
	}
	return v.device(s.Agent)
}

// device returns a short name of a session's browser, such as "Firefox on Windows", or the start of its User-Agent
// header.
func (v *view) device(agent string) string {
	const most = 60
	switch browser, system := ui.Device(agent); {
	case agent == "":
		return v.locale.Say(textBrowser)
	case browser != "" && system != "":
		return browser + " " + v.locale.Say(textOnSystem.With(system))
	case browser != "":
		return browser
	case len(agent) > most:
		return strings.ToValidUTF8(agent[:most], "") + "…"
	}
	return agent
}

// endForm is the ID of the form that ends sessions, and unlinkForm of the one that disconnects accounts.
const endForm, unlinkForm = "end-session", "unlink-account"

// aboutSignOut returns the text for screen readers after "Sign out".
func (v *view) aboutSignOut(s Session) string {
	if s.Current {
		return v.locale.Say(textHere)
	}
	return v.sessionName(s) + separator + v.aboutSession(s)
}

// aboutSession describes the last use and the network of a session.
func (v *view) aboutSession(s Session) string {
	if s.Support && !s.Made.IsZero() {
		return v.locale.Say(textSince.With(v.locale.Moment(s.Made)))
	}
	var parts []string
	switch {
	case s.Current:
		parts = append(parts, v.locale.Say(textInUse))
	case !s.Seen.IsZero():
		parts = append(parts, v.locale.Say(textLastUsed.With(v.ago(s.Seen))))
	}
	if !s.Made.IsZero() {
		parts = append(parts, v.locale.Say(textSignedIn.With(v.ago(s.Made))))
	}
	if s.Network != "" {
		parts = append(parts, s.Network)
	}
	if len(parts) == 0 {
		return v.locale.Say(textUntil.With(v.locale.Date(s.Expires)))
	}
	return capital(strings.Join(parts, separator))
}

// separator is between the facts about a session or a passkey.
const separator = " · "

// title returns the passkey's name, else the product that stores it, else the word "Passkey".
func (v *view) title(p Passkey) string {
	return cmp.Or(p.Name, p.Provider, v.locale.Say(textPasskey))
}

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// offer is the change that the page offers again after re-authentication: a row with a form and its button.
type offer struct {
	name, about   string
	action        string
	fields        [][2]string
	label, button string
	danger        bool
	// passkey is true for the form that adds a passkey, which has its own script.
	passkey bool
}

const maxProfileName = 100 // characters

// profileForm is the form with the values that the user typed, if they were refused.
type profileForm struct {
	name, image string
	values      map[string]string
	// problem is the sentence about the field in the form, or "". field is the name of that field, or "".
	problem, field string
}
