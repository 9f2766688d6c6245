package sqlstore_test

import (
	"fmt"

	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// Pass a layout to Open or New of the database's module, as in postgres.Open(url, layout).
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
