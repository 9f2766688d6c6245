// Package account lets people look after their own account: how they can sign in, where they are signed in, their
// address, and the end of it all. It is a part of an Auth:
//
//	mine := account.New(account.Options{Mail: mailer})
//	auth, err := core.New(core.Config{Parts: []core.Part{mine}, …})
//
// The page is at <base path>/account, and GET with Accept: application/json is the same as data. It works without
// JavaScript, but for a new passkey. Its four sections are components for pages of one's own: [Account.Methods],
// [Account.Sessions], [Account.Email] and [Account.Danger].
//
// Three rules hold whoever asks:
//
//   - the last way to sign in stays, also where two requests remove one at the same moment;
//   - a change needs a proof of who the visitor is that is not older than Options.Fresh, an end of a session one of the
//     last hour;
//   - a new address is written when its mailbox has proved it, in the session that asked, and the old mailbox can take
//     the change back for seven days.
package account

//go:generate env GOWORK=off go tool -modfile=../tools/go.mod templ generate -include-version=false
