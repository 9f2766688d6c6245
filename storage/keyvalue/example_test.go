package keyvalue_test

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// An engine of your own, which can read and commit, is all that a store needs; the name begins the errors of one in
// trouble.
func Example() {
	s := keyvalue.New("mine", newEngine())
	ctx := context.Background()
	if _, err := s.CreateUser(ctx, &store.User{ID: "1", Name: "Ada", Email: "ada@example.com"}); err != nil {
		fmt.Println(err)
		return
	}
	user, err := s.UserByEmail(ctx, "ada@example.com")
	fmt.Println(user.Name, err)
	_, err = s.UserByEmail(ctx, "bob@example.com")
	fmt.Println(err)
	// Output:
	// Ada <nil>
	// store: not found
}
