package pages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestRecipes runs programs of pages, for real: the tests that a page shows, or one of ours on the page's functions.
func TestRecipes(t *testing.T) {
	t.Parallel()
	byPath := map[string]page{}
	for _, p := range pages(t) {
		byPath[p.path] = p
	}
	for _, c := range []struct {
		page  string
		about string   // what a block has to hold, to be of the program
		with  []string // files of testdata
	}{
		{"docs/recipes/testing.md", "package main", nil},
		{"docs/recipes/api.md", "func signIn(", []string{"api.go.txt"}},
		{"docs/authjs.md", "func fromV4(", []string{"authjs.go.txt"}},
		{"docs/moving/goth.md", "func move(", []string{"goth.go.txt"}},
		{"docs/moving/sessions.md", "func adopt(", []string{"sessions.go.txt"}},
		{"docs/moving/authboss.md", "func move(", []string{"authboss.go.txt", "site.go.txt"}},
		{"docs/moving/firebase.md", "func move(", []string{"firebase.go.txt", "site.go.txt"}},
		{"docs/moving/auth0.md", "func move(", []string{"auth0.go.txt", "site.go.txt"}},
	} {
		t.Run(filepath.Base(c.page), func(t *testing.T) {
			t.Parallel()
			dir, files := t.TempDir(), []string(nil)
			write := func(text string) {
				name := filepath.Join(dir, "page"+strconv.Itoa(len(files))+"_test.go")
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				files = append(files, name)
			}
			for _, b := range blocksOf(byPath[c.page]) {
				if b.strict && strings.Contains(b.text, c.about) {
					write(b.text)
				}
			}
			for _, name := range c.with {
				raw, err := os.ReadFile(filepath.Join("testdata", name))
				if err != nil {
					t.Fatal(err)
				}
				write(string(raw))
			}
			run := exec.CommandContext(t.Context(), "go", append([]string{"test", "-vet=off", "-v"}, files...)...)
			run.Dir, run.Env = top, inWorkspace(t)
			out, err := run.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: Test") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
