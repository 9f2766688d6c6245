package ui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// Views contains a constructor for each page. If a field is nil, the built-in page is used. The constructors are called
// once for each response and must be safe for concurrent use.
type Views struct {
	// SignIn returns the sign-in page. Its forms must post the fields of [SignInPage].
	SignIn func(SignInView) templ.Component
	// SignOut returns the page that asks for confirmation of the sign-out.
	SignOut func(SignOutView) templ.Component
	// Error returns the error page.
	Error func(ErrorView) templ.Component
	// VerifyRequest returns the page that is shown after a sign-in link was sent.
	VerifyRequest func(VerifyRequestView) templ.Component
	// Confirm returns the page of a sign-in link with a button that signs the user in; see EmailProvider.ConfirmLink of
	// package core.
	Confirm func(ConfirmView) templ.Component
	// Switch returns the page that asks a signed-in user whether to continue as another user. Its form must post the
	// fields of [SwitchPage].
	Switch func(SwitchView) templ.Component
}

// WithDefaults returns v with the built-in page for each nil field. The other constructors are called
// while their page is rendered, so that their panics are panics of Render.
func (v Views) WithDefaults() Views {
	return Views{
		SignIn: lazy(v.SignIn, SignInPage), SignOut: lazy(v.SignOut, SignOutPage), Error: lazy(v.Error, ErrorPage),
		VerifyRequest: lazy(v.VerifyRequest, VerifyRequestPage), Confirm: lazy(v.Confirm, ConfirmPage),
		Switch: lazy(v.Switch, SwitchPage),
	}
}

func lazy[V any](own, builtIn func(V) templ.Component) func(V) templ.Component {
	if own == nil {
		return builtIn
	}
	return func(view V) templ.Component {
		return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error { return own(view).Render(ctx, w) })
	}
}

// SignUpView is the data of a [SignUpPage].
type SignUpView struct {
	Page
	// CSRFToken is in every form. If it is empty, the check is disabled and forms have no such field.
	CSRFToken string
	// CallbackURL is the URL after the sign-in with another method. It may be empty.
	CallbackURL string
	// Heading is the heading of the page and the document's title.
	Heading string
	// Form is the name of the plugin's form, as for [FormField]. Its field "email" is the address for a new passkey.
	Form string
	// Providers are the configured sign-in methods. The page shows OAuth and OpenID Connect providers and the first
	// passkey provider.
	Providers []Provider
	// Foot is the link at the foot of the page, such as to the sign-in page. Its Label is already translated.
	Foot Link
}

// frame returns the page without the links below the card, which are in the agreement.
func (v SignUpView) frame() Page {
	p := withTitle(v.Page, v.Heading)
	p.Theme.Terms, p.Theme.Privacy = "", ""
	return p
}

// view returns the data of the buttons.
func (v SignUpView) view() SignInView {
	return SignInView{
		Page:        v.Page,
		CSRFToken:   v.CSRFToken,
		CallbackURL: v.CallbackURL,
		Providers:   v.Providers,
		signUp:      true,
	}
}

// buttons returns the providers without a form.
func (v SignUpView) buttons() []block {
	var all []block
	for i, p := range v.Providers {
		if !p.hasForm() {
			all = append(all, block{index: i, Provider: p})
		}
	}
	pair(all)
	return all
}

// passkey returns the passkey provider, or nil.
func (v SignUpView) passkey() *Provider {
	i := slices.IndexFunc(v.Providers, func(p Provider) bool { return p.Type == typeWebAuthn })
	if i < 0 || v.Providers[i].SignUp != "" {
		return nil
	}
	passkey := v.Providers[i]
	passkey.ConditionalUI = false // this page offers new passkeys, not those that the browser has
	return &passkey
}

// SentView is the data of a [SentPage].
type SentView struct {
	Page
	// CSRFToken is in the form. If it is empty, the check is disabled and the form has no such field.
	CSRFToken string
	// Text says what was sent. Email is the address, as the user typed it, or "" if it is unknown.
	Text, Email string
	// Typed means that, if Email is empty, the script shows the address that the user typed in this tab. The form is
	// hidden until the script has run.
	Typed bool
	// ResendURL is the target of the form "Resend email". Its POST has the field email. If ResendURL is empty, there is no
	// form.
	ResendURL string
	// ChangeURL is the URL of the link "Use a different email". If it is empty, there is no link.
	ChangeURL string
	// URL is the application's URL and Host its name, for the link back. If URL is empty, there is no link.
	URL, Host string
}

// inboxOf returns the name and the URL of the web mail that has the inbox of an address, or "" if it is not known. The
// address is what the user typed, so that the link reveals nothing about accounts.
func inboxOf(address string) (name, url string) {
	_, domain, _ := strings.Cut(strings.ToLower(strings.TrimSpace(address)), "@")
	switch domain {
	case "gmail.com", "googlemail.com":
		return "Gmail", "https://mail.google.com/"
	case "outlook.com", "hotmail.com", "live.com", "msn.com":
		return "Outlook", "https://outlook.live.com/mail/"
	}
	return "", ""
}

// SheetView is the data of a [Sheet].
type SheetView struct {
	Page
	// Heading is the heading of the page and the name of its navigation.
	Heading string
	// URL is the application's URL and Host its name, for the link back. Theme.HomeURL and Theme.Name replace them. If
	// neither is set, there is no link.
	URL, Host string
	// User is the signed-in user, for the header. The zero value shows none.
	User Visitor
	// Sections are rendered in this order.
	Sections []PageSection
}

// styled returns the page with its stylesheet, and the styles of a Sheet if that stylesheet does not contain them.
func (v SheetView) styled() (page Page, style string) {
	if v.SheetURL == "" {
		return v.Page, sheetStyle
	}
	return v.WithSheetStyles(), ""
}

// WithSheetStyles returns the page with the stylesheet of a [Sheet], for a [Shell] with its elements, such as
// [QuietButton]. Without SheetURL it returns p.
func (p Page) WithSheetStyles() Page {
	if p.SheetURL != "" {
		p.StylesheetURL = p.SheetURL
	}
	return p
}

// RowButton is a button in a row of a list.
type RowButton struct {
	// Form is the ID of the [ListForm] that the button submits, with the field Name and its Value, such as the ID of the
	// row's object.
	Form, Name, Value string
	// Label, About and Danger are as in [QuietButton].
	Label, About string
	Danger       bool
}

// excerpt is the maximum number of rows of [Excerpt].
const excerpt = 2

// Excerpt returns the first two rows of a list, for a section of another page. The label of the link to the whole
// list gets the number of all rows if some are left out.
func Excerpt[T any](all []T, label string) (rows []T, link string) {
	if len(all) <= excerpt {
		return all, label
	}
	return all[:excerpt], fmt.Sprintf("%s \u2068(%d)\u2069", label, len(all)) // isolated, after a word in another script
}

// PageSection is a section that a plugin adds to a page of another plugin, such as the account page.
type PageSection struct {
	// ID is the ID of the section for links and screen readers: a to z and hyphens, unique on the page.
	ID string
	// Heading is the heading of the section, in the language of the page.
	Heading string
	// Content is rendered below the heading. It consists of [Rows], [Row], [Form] and [QuietButton], or of markup of the
	// plugin.
	Content templ.Component
}

// Render renders the section. PageSection is a [templ.Component].
func (s PageSection) Render(ctx context.Context, w io.Writer) error { return section(s).Render(ctx, w) }
