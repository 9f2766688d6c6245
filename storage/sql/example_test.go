package sqlstore_test

import (
	"fmt"

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// The layout is a field of the options of each database: postgres.Open(url, postgres.Options{Layout: layout}).
func ExampleLayout() {
	layout := sqlstore.Layout{
		Prefix:      "auth_",                                                 // auth_users, auth_sessions, …
		Columns:     map[string]string{"users.emailVerified": "verified_at"}, // a name of your own
		UserMembers: []string{"role"},                                        // a column, not a member in extra
		IDs:         sqlstore.IntegerIDs,                                     // counted by the engine
	}
	fmt.Println(layout.Prefix + "users, " + layout.Prefix + "sessions")
	// Output: auth_users, auth_sessions
}
