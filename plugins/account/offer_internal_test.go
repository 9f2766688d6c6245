package account

import (
	"testing"
	"time"
)

// TestLastMethodIsNotOffered: a change is not offered after re-authentication if its object has become the last sign-in
// method, belongs to another user, or is gone.
func TestLastMethodIsNotOffered(t *testing.T) {
	v := &view{now: time.Unix(0, 0)}
	v.Accounts = []Linked{{ID: "may-go", Name: "Hub", Removable: true}, {ID: "last", Name: "Hub"}}
	v.Passkeys = []Passkey{{ID: "may-go", Removable: true}, {ID: "last"}}
	for _, row := range []struct {
		name, action string
		fields       [][2]string
		there        bool
	}{
		{"an account", "unlink", [][2]string{{"account", "may-go"}}, true},
		{"the last account", "unlink", [][2]string{{"account", "last"}}, false},
		{"an account that is gone", "unlink", [][2]string{{"account", "gone"}}, false},
		{"no account", "unlink", nil, false},
		{"a passkey", "passkey", [][2]string{{"id", "may-go"}, {"remove", "1"}}, true},
		{"the last passkey", "passkey", [][2]string{{"id", "last"}, {"remove", "1"}}, false},
		{"its name", "passkey", [][2]string{{"id", "last"}, {"name", "key ring"}}, true},
		{"a passkey that is gone", "passkey", [][2]string{{"id", "gone"}, {"remove", "1"}}, false},
		{"an action that there is none of", "own", nil, false},
	} {
		o := v.offered(&pendingChange{User: "ada", Action: row.action, Fields: row.fields})
		if (o != nil) != row.there {
			t.Errorf("%s: offered %+v", row.name, o)
		}
	}
}
