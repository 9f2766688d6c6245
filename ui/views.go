package ui

import (
	"context"
	"io"

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
	// Confirm returns the page that asks for confirmation of a sign-in link, if links are confirmed.
	Confirm func(ConfirmView) templ.Component
	// Switch returns the page that asks a signed-in user whether to continue as another user. Its form must post the
	// fields of [SwitchPage].
	Switch func(SwitchView) templ.Component
}

// WithDefaults returns v with the built-in page for each nil field.
func (v Views) WithDefaults() Views {
	if v.SignIn == nil {
		v.SignIn = SignInPage
	}
	if v.SignOut == nil {
		v.SignOut = SignOutPage
	}
	if v.Error == nil {
		v.Error = ErrorPage
	}
	if v.VerifyRequest == nil {
		v.VerifyRequest = VerifyRequestPage
	}
	if v.Confirm == nil {
		v.Confirm = ConfirmPage
	}
	if v.Switch == nil {
		v.Switch = SwitchPage
	}
	return v
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
	// Sections are the sections, in this order.
	Sections []PageSection
}

// PageSection is a section that a plugin adds to a page of another plugin, such as the account page.
type PageSection struct {
	// ID is the ID of the section for links and screen readers: lower-case letters and hyphens, unique on the page.
	ID string
	// Heading is the heading of the section, in the language of the page.
	Heading string
	// Content is rendered below the heading. It consists of [Rows], [Row], [Form] and [QuietButton], or of markup of the
	// plugin.
	Content templ.Component
}

// Render renders the section. PageSection is a [templ.Component].
func (s PageSection) Render(ctx context.Context, w io.Writer) error { return section(s).Render(ctx, w) }
