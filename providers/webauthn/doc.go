// Package webauthn signs in with passkeys. It is a module of its own because of what verifying attestations brings
// along.
//
//	auth, err := core.New(core.Config{
//		Providers:      []core.Provider{webauthn.Passkey()},
//		Store:          store, // a store.AuthenticatorStore
//		EnableWebAuthn: true,
//	})
//
// Passkeys are bound to the domain they were made on. Pin it with Config.URL, or with the RelyingParty of the provider
// where one site has several hosts.
package webauthn
