package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWords counts three pages, one of them under Evidence, and checks that a budget is not lowered automatically.
func TestWords(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("README.md", "# One\n\ntwo three\n")
	write("docs/guide.md", "Four: *five* – 6.\n\n```go\nnot counted\n~~~\nnor this\n```\n\n| seven | eight |\n|---|---|")
	write("docs/deep/page.md", "nine\n~~~\n```\nno\n~~~\nten\n")
	write("docs/proof.md", "not counted\n")
	write("docs/node_modules/a.md", "not counted\n")
	write("docs/.vitepress/cache/a.md", "not counted\n")
	navigation := "docs/.vitepress/navigation.json"
	write(navigation, `[{"text": "Start", "pages": ["guide.md"]}, {"text": "Evidence", "pages": ["proof.md"]}]`)
	if n, err := words(filepath.Join(root, "docs")); n != 10 || err != nil {
		t.Errorf("%d words, %v", n, err)
	}
	for limits, want := range map[string]int{"words docs 10\n": 0, "words docs 11\n": 0, "words docs 9\n": 1} {
		write("limits.txt", limits)
		objections, err := compare(root, filepath.Join(root, "limits.txt"), "")
		after, failed := os.ReadFile(filepath.Join(root, "limits.txt"))
		if len(objections) != want || err != nil || string(after) != limits || failed != nil {
			t.Errorf("%q: %v, %v, %v; the limits are %q", limits, objections, err, failed, after)
		}
	}
	write(navigation, `[{"text": "Start", "pages": ["guide.md"]}]`)
	if _, err := words(filepath.Join(root, "docs")); err == nil {
		t.Error("a navigation without the group is accepted")
	}
}
