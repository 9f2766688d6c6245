package account

import (
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// view is what the sections show, on our page and on those of the application.
type view struct {
	Overview
	// base is the public address of the auth routes, csrf the token of the forms, back where forms of other actions lead.
	base, csrf, back string
	// locale is the language of the words.
	locale ui.Locale
	now    time.Time
	// add are the providers that can be linked, passkeys is the one for passkeys, empty for none.
	add      []core.ProviderInfo
	passkeys string
	// password: there is a provider for passwords, and mails: letters can be sent. deletes: the account can be deleted.
	password, mails, deletes bool
	// mailLinks: there is a provider of sign-in links. stale: a change needs a sign-in first.
	mailLinks, stale bool
	// again is what the visitor asked for before they signed in again; nil: nothing.
	again *offer
	// page is for the script of the passkey form; nil outside of our page, which then leads there.
	page *ui.Page
}

func (v *view) url(action string) string { return v.base + "/" + action }

func (v *view) has(method string) bool { return slices.Contains(v.Methods, method) }

// mailed reports whether a link by mail opens the account.
func (v *view) mailed() bool { return v.mailLinks && v.User.EmailVerified }

// listed reports whether there is a way to sign in to list.
func (v *view) listed() bool { return len(v.Accounts)+len(v.Passkeys) > 0 || v.password || v.mailed() }

// others reports whether there is a session besides the current one.
func (v *view) others() bool {
	return slices.ContainsFunc(v.Sessions, func(s Session) bool { return !s.Current })
}

// askView is a page that asks before something happens.
type askView struct {
	Page                   ui.Page
	CSRFToken              string
	Heading, Text, Address string
	Action, Token, Button  string
}

// who is what the page calls its visitor.
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
