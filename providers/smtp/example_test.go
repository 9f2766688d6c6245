package smtp_test

import (
	"fmt"

	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/smtp"
)

// Sign-in links with a mail server. By default, the server is $EMAIL_SERVER and the sender $EMAIL_FROM.
func Example() {
	links := smtp.New("email", smtp.Options{
		Server:       "smtp://user:password@mail.example:587",
		EmailOptions: providers.EmailOptions{From: "Acme <no-reply@acme.example>"},
	})
	fmt.Println(links.ID) // core.Config{Providers: []core.Provider{links}, Store: store}
	// Output: email
}
