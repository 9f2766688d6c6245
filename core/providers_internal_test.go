package core

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/actions"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name             string
		provider, action bool
	}{
		{"github", true, true},
		{"boxyhq-saml", true, true},
		{"a1", true, true},
		{"GitHub", true, false},
		{"azure.b2c_v2", true, false},
		{"1password", true, false},
		{strings.Repeat("a", 32), true, true},
		{strings.Repeat("a", 33), true, false},
		{strings.Repeat("a", 64), true, false},
		{strings.Repeat("a", 65), false, false},
		{"", false, false},
		{".hidden", false, false},
		{"-a", false, false},
		{"a/b", false, false},
		{"a b", false, false},
		{"a\n", false, false},
		{"zoë", false, false},
	} {
		if got := isProviderID(row.name); got != row.provider {
			t.Errorf("%q as the ID of a provider: %v", row.name, got)
		}
		if got := actions.IsName(row.name); got != row.action {
			t.Errorf("%q as the name of an action: %v", row.name, got)
		}
	}
}
