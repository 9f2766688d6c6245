package accounts_test

import (
	"bytes"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/accounts"
)

// TestUserIDs: without a store, the ID depends on the account only, and accounts with the same texts in other places
// have other IDs.
func TestUserIDs(t *testing.T) {
	t.Parallel()
	random := bytes.NewReader(bytes.Repeat([]byte{1}, 16))
	kept, derived := accounts.UserIDs(true, random), accounts.UserIDs(false, random)
	ids := map[string]bool{}
	for _, account := range [][2]string{{"a", "bc"}, {"a", "bc"}, {"b", "bc"}, {"ab", "c"}, {"a", "b"}} {
		id, err := derived(account[0], account[1])
		if err != nil || len(id) != 36 || id[14] != '8' {
			t.Errorf("%q: %q, %v", account, id, err)
		}
		ids[id] = true
	}
	if len(ids) != 4 {
		t.Errorf("four accounts have the IDs %v", ids)
	}
	if id, err := kept("a", "bc"); err != nil || id != "01010101-0101-4101-8101-010101010101" {
		t.Errorf("a random ID: %q, %v", id, err)
	}
	if _, err := kept("a", "bc"); err == nil {
		t.Error("a failure of the random source is ignored")
	}
}
