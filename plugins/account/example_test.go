package account_test

import (
	"context"
	"fmt"
	"log"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// outbox is a Mailer that drops emails. Real programs use smtp.NewMailer(smtp.Options{}).
type outbox struct{}

func (outbox) Send(context.Context, core.Email) error { return nil }

// The page is at /auth/account.
func Example() {
	mine := account.New(account.Options{
		Mail: outbox{},
		Delete: func(context.Context, *core.User) error { // deletes the user's data in your tables
			return nil
		},
	})
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a secret of the example, 32 bytes or more"}, URL: "https://app.example",
		Store: memory.New(), Plugins: []core.Plugin{mine},
		Providers: []core.Provider{&core.EmailProvider{Send: func(context.Context, core.Email) error { return nil }}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(auth.BasePath() + "/account")
	// Output: /auth/account
}
