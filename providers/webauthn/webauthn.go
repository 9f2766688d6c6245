package webauthn

import "github.com/latchkey-go/latchkey/core"

// Passkey signs in with discoverable credentials only: user verification and resident keys are required. Its ID is
// "passkey". The fields of the returned provider can be changed before it is used in a configuration.
func Passkey() *core.WebAuthnProvider {
	p := WebAuthn()
	p.ID, p.Name, p.UserVerification, p.ResidentKey = "passkey", "Passkey", "required", "required"
	return p
}

// WebAuthn signs in with any authenticator, including security keys that store nothing: user verification and resident
// keys are preferred. Its ID is "webauthn". The fields of the returned provider can be changed before it is used in a
// configuration.
func WebAuthn() *core.WebAuthnProvider {
	return &core.WebAuthnProvider{ID: "webauthn", Name: "WebAuthn", Verifier: Verifier{}}
}
