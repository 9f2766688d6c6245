package core_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestDataKeepsItsType compiles a package that uses session data as a value of another type. Each such line, and no
// other, must be a compiler error.
func TestDataKeepsItsType(t *testing.T) {
	t.Parallel()
	const file = "testdata/mistyped/mistyped.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, "// want: ") {
			want = append(want, fmt.Sprintf("%s:%d", file, i+1))
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "./testdata/mistyped").CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	var got []string
	for _, line := range strings.Split(string(out), "\n") {
		if at, _, found := strings.Cut(line, ": "); found && strings.HasPrefix(at, file) {
			got = append(got, at[:strings.LastIndex(at, ":")])
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) || len(want) < 5 {
		t.Errorf("errors in\n%s\nwant\n%s\nthe compiler says\n%s", got, want, out)
	}
}
