package webauthn

import "github.com/latchkey-go/latchkey/core"

// Passkey signs in with discoverable credentials and nothing else: user verification and resident keys are required.
// Its ID is "passkey". Fields of what it returns can be changed before it goes into a configuration.
func Passkey() *core.WebAuthnProvider {
	p := WebAuthn()
	p.ID, p.Name, p.UserVerification, p.ResidentKey = "passkey", "Passkey", "required", "required"
	return p
}

// WebAuthn signs in with any authenticator, security keys that store nothing included: user verification and resident
// keys are preferred. Its ID is "webauthn". Fields of what it returns can be changed before it goes into a
// configuration.
func WebAuthn() *core.WebAuthnProvider {
	return &core.WebAuthnProvider{ID: "webauthn", Name: "WebAuthn", Verifier: Verifier{}}
}
