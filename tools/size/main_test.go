package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompare measures a package with three exported names, two unexported functions and a comment that violates one
// rule.
func TestCompare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", "// Package p is an example.\npackage p\n\nimport \"fmt\"\n\ntype A struct{ fmt.Stringer }\n\n"+
		"func B() { there(); here(); here() }\n\nfunc here() {}\n")
	write("b.go", "package p\n\nconst C = 1\n\nfunc there() {}\n")
	write("b_test.go", "package p\n\nfunc D() { there() }\n")
	vale := filepath.Join(dir, "vale")
	write("vale", "#!/bin/sh\necho '{\"a.go\": [{\"Line\": 1}], \"b.go\": [{}, {}]}'\n")
	if err := os.Chmod(vale, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ limits, after, want string }{
		"exact": {limits: "# a comment\n\nexported p 3\nlines p 100\nscattered p 50\nprose p 3\n"},
		"lower": {limits: "exported p 5\nscattered  p 60\n", after: "exported p 3\nscattered  p 50\n"},
		"above": {
			limits: "exported p 2\nlines p 99\nscattered p 49\nprose p 2\n",
			want: "exported of p: 3, at most 2|lines of p: 100, at most 99|scattered of p: 50, at most 49|" +
				"prose of p: 3, at most 2",
		},
		"no such figure":  {limits: "names p 2\n", want: `there is no figure "names"`},
		"no such package": {limits: "lines q 2\n", want: "no Go files"},
		"no number":       {limits: "lines p\n", want: "is no figure, folder and number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := filepath.Join(t.TempDir(), "limits.txt")
			if err := os.WriteFile(limits, []byte(strings.ReplaceAll(row.limits, " p", " "+filepath.Base(dir))), 0o600); err != nil {
				t.Fatal(err)
			}
			objections, err := compare(filepath.Dir(dir), limits, vale)
			if err != nil {
				objections = append(objections, err.Error())
			}
			got := strings.ReplaceAll(strings.Join(objections, "|"), "of "+filepath.Base(dir), "of p")
			for part := range strings.SplitSeq(row.want, "|") {
				if !strings.Contains(got, part) || row.want == "" && got != "" {
					t.Errorf("got %q, want %q", got, row.want)
				}
			}
			after, err := os.ReadFile(limits)
			if want := row.after; err != nil || want != "" && strings.ReplaceAll(string(after), filepath.Base(dir), "p") != want {
				t.Errorf("the limits are %q, %v", after, err)
			}
		})
	}
}
