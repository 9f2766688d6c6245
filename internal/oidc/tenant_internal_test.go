package oidc

import (
	"strings"
	"testing"
)

// TestNamesOfTenants checks which tenant names may be part of a URL.
func TestNamesOfTenants(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"contoso": true, "9188040d-6c67-4c5b-b112-36a304b66dad": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "a/b": false, "a.b": false, "..": false, "a?b": false, "a#b": false,
		"a@b": false, "a:b": false, "a%2fb": false, "a b": false, "ä": false, "a\\b": false,
	} {
		if isTenant(name) != good {
			t.Errorf("%q: %v", name, !good)
		}
	}
}
