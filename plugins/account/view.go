package account

import (
	"slices"
	"time"

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
