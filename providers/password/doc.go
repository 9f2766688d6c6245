// Package password implements sign-in with an email address and a password: sign-up, email verification, sign-in,
// password reset and password change. It is a separate module because it depends on golang.org/x/crypto.
//
//	passwords := password.New(password.Options{Mail: providers.Resend().Mailer()})
//	auth, err := core.New(core.Config{Store: store, Providers: []core.Provider{passwords}})
//
// The store must implement store.RecordStore. The pages are under /auth/password/ and have JSON equivalents: see
// docs/passwords.md. To prevent user enumeration, all work that depends on whether an address is known happens after
// the response. Users are created only after their address is verified.
package password

// ID is the ID of the provider and the name of its actions.
const ID = "password"
