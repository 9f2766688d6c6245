package oidc_test

import (
	"reflect"
	"testing"

	"github.com/latchkey-go/latchkey/internal/oidc"
)

// TestWithUserinfo: the claims of the ID token take precedence. email and email_verified are taken from the same
// document.
func TestWithUserinfo(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ claims, userinfo, want map[string]any }{
		"a name": {
			map[string]any{"sub": "1"}, map[string]any{"sub": "2", "name": "Ann"}, map[string]any{"sub": "1", "name": "Ann"},
		},
		"claims about the token": {
			map[string]any{"sub": "1"}, map[string]any{"auth_time": 1, "sid": "s", "iss": "i"}, map[string]any{"sub": "1"},
		},
		"an address, vouched for in the token": {
			map[string]any{"email_verified": true, "xms_edov": true}, map[string]any{"email": "a@b.c"},
			map[string]any{"email": "a@b.c"},
		},
		"an address, vouched for in userinfo": {
			map[string]any{}, map[string]any{"email": "a@b.c", "email_verified": true},
			map[string]any{"email": "a@b.c", "email_verified": true},
		},
	} {
		if got := oidc.WithUserinfo(row.claims, row.userinfo); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
