package accountcookie_test

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/accountcookie"
)

const (
	newest = "a-secret-of-more-than-thirty-two-bytes"
	older  = "an-older-secret-of-more-than-32-bytes"
)

// TestUnpack checks who can make a value: only an application with the secret, for the same browser.
func TestUnpack(t *testing.T) {
	t.Parallel()
	keys := accountcookie.Keys{newest, older}
	value := keys.Pack("browser", "the user", "a.token~with.dots")
	old := accountcookie.Keys{older}.Pack("browser", "the user", "a.token~with.dots")
	code, payload, _ := strings.Cut(value, ".")
	for name, row := range map[string]struct {
		keys           accountcookie.Keys
		browser, value string
		ok             bool
	}{
		"the same browser":      {keys, "browser", value, true},
		"an older secret":       {keys, "browser", old, true},
		"another browser":       {keys, "other", value, false},
		"no browser":            {keys, "", value, false},
		"another secret":        {accountcookie.Keys{older}, "browser", value, false},
		"no code":               {keys, "browser", payload, false},
		"an empty code":         {keys, "browser", "." + payload, false},
		"a shorter code":        {keys, "browser", code[:10] + "." + payload, false},
		"another token":         {keys, "browser", value + "x", false},
		"another user":          {keys, "browser", code + ".b3RoZXI.a.token~with.dots", false},
		"nothing":               {keys, "browser", "", false},
		"a value without user":  {keys, "browser", keys.Pack("browser", "", "token"), false},
		"a value without token": {keys, "browser", keys.Pack("browser", "the user", ""), false},
		"packed for no browser": {keys, "", keys.Pack("", "the user", "token"), false},
	} {
		userID, token, ok := row.keys.Unpack(row.browser, row.value)
		if ok != row.ok || ok && (userID != "the user" || token != "a.token~with.dots") {
			t.Errorf("%s: %q, %q, %t", name, userID, token, ok)
		}
	}
}

// TestRef checks that references differ between browsers and users, and do not contain the ID.
func TestRef(t *testing.T) {
	t.Parallel()
	keys := accountcookie.Keys{newest}
	ref := keys.Ref("browser", "user")
	if ref != keys.Ref("browser", "user") || ref == keys.Ref("other", "user") || ref == keys.Ref("browser", "other") ||
		strings.Contains(ref, "user") || len(ref) < 16 {
		t.Errorf("the reference is %q", ref)
	}
}
