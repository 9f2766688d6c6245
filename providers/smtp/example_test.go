package smtp_test

import (
	"fmt"

	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/smtp"
)

// Links by mail, through a mail server. Without options the server is that of EMAIL_SERVER, the sender that of
// EMAIL_FROM.
func Example() {
	links := smtp.Email(smtp.Options{
		Server:       "smtp://user:password@mail.example:587",
		EmailOptions: providers.EmailOptions{From: "Acme <no-reply@acme.example>"},
	})
	fmt.Println(links.ID) // core.Config{Providers: []core.Provider{links}, Store: store}
	// Output: email
}
