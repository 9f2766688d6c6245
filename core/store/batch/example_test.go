package batch_test

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/store/batch"
)

// lookUp is one call: what is asked for, and what was found.
type lookUp struct {
	token string
	user  *store.User
}

// A store whose engine finds several sessions by one statement.
func ExampleNew() {
	users := map[string]*store.User{"t1": {Name: "Ada"}} // in place of an engine
	lookUps := batch.New(6,
		func(_ context.Context, l *lookUp) error {
			l.user = users[l.token] // SELECT … WHERE token = $1
			return nil
		},
		func(_ context.Context, all []*lookUp) error {
			for _, l := range all { // SELECT … WHERE token IN ($1, $2, …)
				if user := users[l.token]; user != nil {
					l.user = user.Clone() // several may have asked for one
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
