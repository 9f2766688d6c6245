package mailbox_test

import (
	"context"
	"fmt"
	"log"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/dev/mailbox"
)

// A test waits for an email.
func Example() {
	box := mailbox.New()
	ctx := context.Background()
	err := box.Send(ctx, core.Email{
		To: "ada@example.com", Kind: mailkind.SignIn, URL: "http://localhost:3000/auth/callback/email?token=t",
	})
	if err != nil {
		log.Fatal(err)
	}
	mail, err := box.Wait(ctx, "ada@example.com")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mail.To)
	// Output: ada@example.com
}
