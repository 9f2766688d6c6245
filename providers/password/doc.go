// Package password signs people in with an address and a password: sign-up, proof of the address, sign-in, forgotten
// passwords, changes. It is a module of its own, as it brings golang.org/x/crypto along.
//
//	passwords := password.New(password.Options{Mail: providers.Resend().Mailer()})
//	auth, err := core.New(core.Config{Store: store, Providers: []core.Provider{passwords}})
//
// The store keeps records. Pages live under /auth/password/, and answer programs with JSON: see docs/passwords.md.
// Nothing that depends on whether an address is known is done before the answer, and nothing is written to users before
// the address is proved.
package password
