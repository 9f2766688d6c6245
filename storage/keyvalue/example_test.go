package keyvalue_test

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/keyvalue"
)

// A store needs only an engine that can read and commit. The name is the prefix of its errors.
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
