package sqltest

import (
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// emailRequired checks that a database refuses users without an address if the layout says so, and that the store
// reports it. A plugin for guests turns that into a configuration error.
func emailRequired(t *testing.T, d Database) {
	for _, required := range []bool{false, true} {
		s := d.Migrated(t, sqlstore.Layout{EmailRequired: required, Prefix: map[bool]string{true: "required_"}[required]})
		if s, ok := s.(interface{ RequiresEmail() bool }); !ok || s.RequiresEmail() != required {
			t.Errorf("EmailRequired is %t: the store does not report it", required)
		}
		_, err := s.CreateUser(t.Context(), &store.User{ID: "5b3f1c5e-8f0a-4d53-9d2a-0a4b1f0f7f11"})
		if refused := err != nil; refused != required {
			t.Errorf("EmailRequired is %t: a user without an address: %v", required, err)
		}
	}
}
