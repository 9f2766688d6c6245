package store_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestLeaf checks the imports of this package, because every store compiles them.
func TestLeaf(t *testing.T) {
	const format = "{{if not .Standard}}{{.ImportPath}}{{end}}"
	out, err := exec.Command("go", "list", "-deps", "-f", format, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	got := strings.Fields(string(out))
	slices.Sort(got)
	want := []string{
		"github.com/latchkey-go/latchkey/core/store",
		"github.com/latchkey-go/latchkey/internal/ascii",
		"github.com/latchkey-go/latchkey/internal/exactjson",
		"github.com/latchkey-go/latchkey/internal/recordstore",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the package imports %q in addition to the standard library, want %q", got, want)
	}
}
