package account

import (
	"context"
	"io"

	"github.com/a-h/templ"
)

// SignInMethods is the section with the user's sign-in methods (linked accounts, passkeys, password), for the
// application's own pages. Like the other sections, it has no styles and reads its data from the store. It fails to
// render without the request hook or without a session. After a change, its forms redirect to the account page.
func (a *Account) SignInMethods() templ.Component { return a.section("Methods", methodsSection) }

// Sessions is the section that lists the user's active sessions and ends them.
func (a *Account) Sessions() templ.Component { return a.section("Sessions", sessionsSection) }

// Email is the section with the user's email address. It contains a form to change it if Options.Mail is set.
func (a *Account) Email() templ.Component { return a.section("Email", emailSection) }

// Profile is the section with the user's picture and name, and a form to change them. It does not show
// [Options].Profile, because it does not load their values. On the application's own page, the Content-Security-Policy
// must permit the picture.
func (a *Account) Profile() templ.Component { return a.section("Profile", profileSection) }

// DeleteForm is the section with the form that deletes the account. It renders nothing if Options.Delete is nil.
func (a *Account) DeleteForm() templ.Component { return a.section("Danger", dangerSection) }

// section returns a component that renders a section on a page of the application.
func (a *Account) section(name string, draw func(*view) templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		v, err := a.handlers.pages.embedded(ctx, name)
		if err != nil {
			return err
		}
		return draw(v).Render(ctx, w)
	})
}
