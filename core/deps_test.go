package core_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestDependencies keeps core's list of modules short: a new one is a decision, made here.
func TestDependencies(t *testing.T) {
	t.Parallel()
	allowed := []string{
		"github.com/latchkey-go/latchkey/core",
		"github.com/latchkey-go/latchkey/ui", // the built-in pages
		"github.com/a-h/templ",               // what they are written in
		"github.com/go-jose/go-jose/v4",      // key sets, ID tokens, client assertions
		"golang.org/x/net",                   // domains of e-mail addresses (IDNA)
		"golang.org/x/oauth2",                // the token request, PKCE
		"golang.org/x/text",                  // NFKC of e-mail addresses
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	for _, m := range slices.Compact(modules) {
		if !slices.Contains(allowed, m) {
			t.Errorf("core depends on %s: drop it, or add it here with the reason", m)
		}
	}
}
