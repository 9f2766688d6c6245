// Package account is a plugin that lets users manage their own account: name and picture, sign-in methods, active
// sessions, email address and account deletion.
//
//	mine := account.New(account.Options{Mail: mailer})
//	auth, err := core.New(core.Config{Plugins: []core.Plugin{mine}, …})
//
// The page is at <base path>/account. GET with Accept: application/json returns the same data as JSON. Everything
// except adding a passkey works without JavaScript. The sections are also components for the application's own
// pages: [Account.Profile], [Account.SignInMethods], [Account.Sessions], [Account.Email] and [Account.DeleteForm].
//
// Three rules always hold:
//
//   - The last sign-in method cannot be removed, even if two requests remove different methods at the same time.
//   - A change requires a sign-in within Options.Fresh. Ending a session requires one within the last hour.
//   - A new email address takes effect only after it is verified in the session that requested it. The owner of the old
//     address can undo the change for seven days.
package account

//go:generate env GOWORK=off go tool -modfile=../tools/go.mod templ generate -include-version=false
