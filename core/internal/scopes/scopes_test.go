package scopes_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/scopes"
)

// TestAllow compares scopes by segments.
func TestAllow(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		own, required string
		allowed       bool
	}{
		{"orders:read", "orders:read", true},
		{"orders:read", "orders:write", false},
		{"orders:read", "orders", false},
		{"orders", "orders:read", false},
		{"orders:*", "orders:read", true},
		{"orders:*", "orders:items:read", true},
		{"orders:*", "orders", false},
		{"orders:*", "ordersx:read", false},
		{"*", "orders:read", true},
		{"*:read", "orders:read", true},
		{"*:read", "orders:write", false},
		{"*:read", "orders:items:read", false},
		{"orders:r*", "orders:read", false},
		{"", "orders:read", false},
		{"Orders:read", "orders:read", false},
	} {
		if got := scopes.Allow([]string{"other", row.own}, row.required); got != row.allowed {
			t.Errorf("%q for %q: %t", row.own, row.required, got)
		}
	}
	if scopes.Allow(nil, "x") {
		t.Error("a credential without scopes has some")
	}
}
