//go:build production

package main

import (
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/smtp"
)

const production = true

// newMailer returns a mailer that sends emails with the server in EMAIL_SERVER, from the address in EMAIL_FROM.
func newMailer() (core.Mailer, http.Handler) {
	return smtp.NewMailer(smtp.Options{}), http.NotFoundHandler() // there is no mailbox
}

// loadEnv reads nothing: in production, the variables are those of the process.
func loadEnv() error { return nil }
