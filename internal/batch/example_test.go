package batch_test

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/internal/batch"
)

type person struct{ Name string }

// lookUp is one call: the token to look up, and the user found.
type lookUp struct {
	token string
	user  *person
}

// A store whose database can look up several sessions in one statement.
func ExampleNew() {
	users := map[string]*person{"t1": {Name: "Ada"}} // instead of a database
	lookUps := batch.New(6,
		func(_ context.Context, l *lookUp) error {
			l.user = users[l.token] // SELECT … WHERE token = $1
			return nil
		},
		func(_ context.Context, all []*lookUp) error {
			for _, l := range all { // SELECT … WHERE token IN ($1, $2, …)
				if user := users[l.token]; user != nil {
					l.user = &person{user.Name} // several calls may have the same token
				}
			}
			return nil
		})

	l := &lookUp{token: "t1"}
	if err := lookUps.Do(context.Background(), l); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.user.Name)
	// Output: Ada
}
