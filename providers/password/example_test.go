package password_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// noMail drops emails. Real programs use smtp.NewMailer(smtp.Options{}).
type noMail struct{}

func (noMail) Send(context.Context, core.Email) error { return nil }

// Import hashes of another system. At the user's first sign-in such a hash is replaced by argon2id.
func Example() {
	ctx, store := context.Background(), memory.New()
	passwords := password.New(password.Options{Mail: noMail{}, LegacyHashes: []password.Verifier{password.Bcrypt()}})
	_, err := core.New(core.Config{
		Secrets: []core.Secret{"a secret of the example, 32 bytes or more"}, URL: "https://app.example",
		Store: store, Providers: []core.Provider{passwords},
	})
	if err != nil {
		log.Fatal(err)
	}
	user, err := store.CreateUser(ctx, &core.User{ID: core.NewID(), Email: "ada@example.com"})
	if err != nil {
		log.Fatal(err)
	}
	const hash = "$2b$10$N9qo8uLOickgx2ZMRZoMye7hLCKuEIm4BcKHuoCJsBy/5Q0NErxWS"
	fmt.Println(passwords.Import(ctx, user.ID, hash))
	fmt.Println(errors.Is(passwords.Import(ctx, user.ID, hash), core.ErrConflict)) // again: the first stays
	// Output:
	// <nil>
	// true
}
