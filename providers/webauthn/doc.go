// Package webauthn implements sign-in with passkeys. It is a separate module because of the dependencies for verifying
// attestations.
//
//	auth, err := core.New(core.Config{
//		Providers:      []core.Provider{webauthn.Passkey()},
//		Store:          store, // a store.AuthenticatorStore
//		EnableWebAuthn: true,
//	})
//
// A passkey belongs to the domain it was created on. Set Config.URL, or RelyingParty of the provider if the site has
// several hosts.
package webauthn
