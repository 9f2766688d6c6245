package main

import (
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/webauthn"
)

func newAuth(store core.Store, mail core.Mailer) (*core.Auth, error) {
	signUp := webauthn.SignUpOptions{Mail: mail, Code: true}
	return core.New(core.Config{
		Store: store, EnableWebAuthn: true,
		Providers: []core.Provider{webauthn.WithSignUp(webauthn.Passkey(), signUp)},
	})
}
