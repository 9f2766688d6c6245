//go:build !production

package main

import (
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/dotenv"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/providers"
)

// "go build -tags production" compiles production.go instead of this file.
const production = false

// newMailer returns a mailbox that shows emails at /mailbox and sends none. It refuses to work for a site on https.
func newMailer() (core.Mailer, http.Handler) {
	box := mailbox.NewWith(providers.WriteEmail)
	return box, box
}

func loadEnv() error { return dotenv.Load(".env") }
