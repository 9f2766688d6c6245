package main

import (
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/smtp"
)

func newAuth(store core.Store) (*core.Auth, *password.Provider, error) {
	passwords := password.New(password.Options{
		Mail:     smtp.NewMailer(smtp.Options{}), // EMAIL_SERVER, EMAIL_FROM
		Breached: password.HIBP,                  // sends five digits of a hash to Have I Been Pwned
	})
	auth, err := core.New(core.Config{Store: store, Providers: []core.Provider{passwords}})
	return auth, passwords, err
}
