package ui

import "github.com/a-h/templ"

// Pages holds a constructor for each page. A nil field means our page, so an application replaces the ones it wants to draw
// itself. The constructors are called once per answer and must be safe for concurrent use.
type Pages struct {
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
}

// WithDefaults returns p with our page wherever p has none.
func (p Pages) WithDefaults() Pages {
	if p.SignIn == nil {
		p.SignIn = SignInPage
	}
	if p.SignOut == nil {
		p.SignOut = SignOutPage
	}
	if p.Error == nil {
		p.Error = ErrorPage
	}
	if p.VerifyRequest == nil {
		p.VerifyRequest = VerifyRequestPage
	}
	if p.Confirm == nil {
		p.Confirm = ConfirmPage
	}
	return p
}
