package ui_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/ui"
)

// TestClientTypes: the module and its types export the same names, and every method of a client has a type.
func TestClientTypes(t *testing.T) {
	t.Parallel()
	module, types := string(ui.Client()), string(ui.ClientTypes())
	list := regexp.MustCompile(`export const \{\s+([^}]+),\s+\} = createClient\(\);`).FindStringSubmatch(module)
	if list == nil || !strings.Contains(module, "export function createClient(") ||
		!strings.Contains(types, "export function createClient(") {
		t.Fatal("createClient and the calls of a client are not exported")
	}
	var typed []string
	for _, found := range regexp.MustCompile(`export const (\w+): Client\["(\w+)"\];`).FindAllStringSubmatch(types, -1) {
		if found[1] != found[2] || !regexp.MustCompile(`\n  `+found[1]+`[(<]`).MatchString(types) {
			t.Errorf("%s has no type of its own in Client", found[1])
		}
		typed = append(typed, found[1])
	}
	if exported := strings.Split(list[1], ", "); !slices.Equal(exported, typed) {
		t.Errorf("client.js exports %v, client.d.ts %v", exported, typed)
	}
	if !strings.HasPrefix(ui.ClientHash(), "sha256-") {
		t.Errorf("hash %q", ui.ClientHash())
	}
}
