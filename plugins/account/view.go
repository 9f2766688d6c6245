package account

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
	// mailLinks reports whether a provider of sign-in links is configured, stale whether a change requires
	// re-authentication.
	mailLinks, stale bool
	// again is the change that was requested before re-authentication, or nil.
	again *offer
	// more are the sections of other plugins.
	more []ui.PageSection
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

// others reports whether there is a session other than the current one.
func (v *view) others() bool {
	return slices.ContainsFunc(v.Sessions, func(s Session) bool { return !s.Current })
}

// askView is the data of a page that asks for confirmation.
type askView struct {
	Page                  ui.Page
	CSRFToken             string
	Heading, Address      string
	Text                  ui.Text // around the address
	Action, Token, Button string
}

// who returns the user's name, or the email address.
func (v *view) who() string {
	if v.User.Name != "" {
		return v.User.Name
	}
	return v.User.Email
}

func (v *view) lastHint(removable bool) string {
	if removable {
		return ""
	}
	return v.locale.Say(textLast)
}

func (v *view) passkeyTag(p Passkey) string {
	if p.Name == "" {
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
		return ""
	}
	return v.locale.Say(textNotConfirmed)
}

// doneText returns the message for a successful change, or the zero value for an unknown code.
func doneText(what string) ui.Text {
	switch what {
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
	case "email-verified":
		return textDoneVerified
	}
	return ui.Text{}
}

// problemText returns the message for a rejected change.
func problemText(code string) ui.Text {
	switch code {
	case "":
		return ui.Text{}
	case codeLast:
		return textProblemLast
	case codeNotFound:
		return textProblemGone
	case codeBusy:
		return textProblemBusy
	case codeEmail:
		return textProblemEmail
	case codeSameEmail:
		return textProblemSame
	case codeLinkInvalid:
		return textProblemLink
	case codePhrase:
		return textProblemPhrase
	case codeName:
		return textProblemName
	case codeMail:
		return textProblemMail
	case codeNotListed:
		return textProblemListed
	case codeOther:
		return textProblemOtherUser
	}
	return textProblemOther
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

// aboutSession describes the last use and the network of a session.
func (v *view) aboutSession(s Session) string {
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

// title returns the passkey's name, or the word "Passkey".
func (v *view) title(p Passkey) string {
	if p.Name == "" {
		return v.locale.Say(textPasskey)
	}
	return p.Name
}

func capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
