package ui

import "github.com/a-h/templ"

// Views holds a constructor for each page. A nil field means our page, so an application replaces the ones it wants to
// draw itself. The constructors are called once per answer and must be safe for concurrent use.
type Views struct {
	// SignIn draws the sign-in page. Its forms must post the fields that [SignInPage] posts.
	SignIn func(SignInView) templ.Component
	// SignOut draws the page that asks whether to sign out.
	SignOut func(SignOutView) templ.Component
	// Error draws the error page.
	Error func(ErrorView) templ.Component
	// VerifyRequest draws the page that follows the sending of a sign-in link.
	VerifyRequest func(VerifyRequestView) templ.Component
	// Confirm draws the page that a sign-in link leads to, where links are confirmed.
	Confirm func(ConfirmView) templ.Component
	// Switch draws the page that asks a user who is signed in whether to continue as another user. Its form must post
	// the fields that [SwitchPage] posts.
	Switch func(SwitchView) templ.Component
}

// WithDefaults returns v with our page wherever v has none.
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
