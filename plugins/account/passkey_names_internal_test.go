package account

import (
	"regexp"
	"testing"
	"unicode"
)

// TestPasskeyProviders: each key is an AAGUID as browsers write it, and each name is a short printable text.
func TestPasskeyProviders(t *testing.T) {
	aaguid := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	for id, name := range passkeyProviders {
		if !aaguid.MatchString(id) || id == "00000000-0000-0000-0000-000000000000" {
			t.Errorf("%q is no AAGUID of a product", id)
		}
		if len(name) < 3 || len(name) > 40 {
			t.Errorf("%s: %q", id, name)
		}
		for _, r := range name {
			if !unicode.IsPrint(r) {
				t.Errorf("%s: %q has %U", id, name, r)
			}
		}
	}
	for id, want := range map[string]string{
		"bada5566-a7aa-401f-bd96-45619a55120d": "1Password", "531126d6-e717-415c-9320-3d9aa6981239": "Dashlane",
		"08987058-cadc-4b81-b6e1-30de50dcbe96": "Windows Hello", "fbfc3007-154e-4ecc-8c0b-6e020557d7bd": "Apple Passwords",
	} {
		if got := passkeyProviders[id]; got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}
