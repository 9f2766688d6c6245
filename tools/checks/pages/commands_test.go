package pages

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	// command matches a call of make or go at the beginning of a line in a block, in inline code, or after "&&".
	command = regexp.MustCompile(`(?:^|&&|;|\$)\s*((?:[A-Z_]+=\S* )*(?:make|go) [^;&|#)]+)`)
	code    = regexp.MustCompile("`([^`]+)`")
	rule    = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
	asked   = regexp.MustCompile(`\$\(?([A-Z_]+)`)
	setting = regexp.MustCompile(`^\[?([A-Z_]+)=`)
)

// shell are the languages of blocks with commands.
var shell = []string{"indented", "text", "sh", "shell", "bash"}

// commands returns the commands in a line.
func commands(l line) []string {
	texts := []string{l.text}
	if l.language == "" {
		texts = nil
		for _, m := range code.FindAllStringSubmatch(l.text, -1) {
			texts = append(texts, m[1])
		}
	} else if !slices.Contains(shell, l.language) {
		return nil
	}
	var out []string
	for _, text := range texts {
		for _, m := range command.FindAllStringSubmatch(strings.TrimSpace(text), -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// wrong describes the missing target, program or file of a command. It looks in dir, the page's folder, and at the top.
// targets also contains the variables of the Makefiles.
func wrong(words []string, dir string, targets map[string]bool) string {
	for len(words) > 0 && strings.Contains(words[0], "=") { // variables of the environment
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	for _, word := range words[1:] {
		set := setting.FindStringSubmatch(word)
		switch {
		case words[0] == "make" && set != nil && !targets[set[1]]:
			return "make knows no " + set[1]
		case words[0] == "make" && regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(word):
			if !targets[word] {
				return "make has no target " + word
			}
		case strings.HasPrefix(word, "./") && word != "./..." && !strings.Contains(word, "…"):
			file := strings.TrimSuffix(word, "/...")
			_, above := os.Stat(filepath.Join(top, file))
			if _, beside := os.Stat(filepath.Join(top, dir, file)); above != nil && beside != nil {
				return word + " is not there"
			}
		}
	}
	return ""
}

func makeTargets(t *testing.T) map[string]bool {
	t.Helper()
	targets := map[string]bool{}
	for _, path := range []string{"Makefile", "conformance/proof/Makefile"} {
		raw, err := os.ReadFile(filepath.Join(top, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []*regexp.Regexp{rule, asked} {
			for _, m := range pattern.FindAllStringSubmatch(string(raw), -1) {
				targets[m[1]] = true
			}
		}
	}
	return targets
}

func TestCommands(t *testing.T) {
	t.Parallel()
	targets, count := makeTargets(t), 0
	for _, p := range pages(t) {
		for i, l := range p.lines {
			for _, c := range commands(l) {
				count++
				if w := wrong(strings.Fields(c), path.Dir(p.path), targets); w != "" {
					t.Error(p.path + ":" + strconv.Itoa(i+1) + ": " + w)
				}
			}
		}
	}
	if count < 40 {
		t.Errorf("only %d commands were found", count)
	}
}

func TestWrongCommandsAreFound(t *testing.T) {
	t.Parallel()
	targets := map[string]bool{"test": true, "T": true}
	for _, c := range []struct {
		name, text string
		wrong      bool
	}{
		{"a target", "    make test T=60s", false},
		{"a variable that may be set", "    make test [T=60s]", false},
		{"a program", "    go run ./tools/link -check", false},
		{"all of a folder", "use `go test ./tools/...`", false},
		{"a comment behind it", "    make test # every test, make none", false},
		{"a word of the text", "that would make sense, and go nowhere", false},
		{"a program of another project", "    go run example.com/x@latest", false},

		{"no target", "    make tests", true},
		{"no target, in the text", "`make tests` runs them", true},
		{"no variable", "    make test TIME=60s", true},
		{"no variable that may be set", "    make test [TIME=60s]", true},
		{"no program", "    go run ./tools/gone", true},
		{"the second command", "    cd core && go test ./gone", true},
		{"behind a variable", "    PORT=1 go run ./gone", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := ""
			for _, l := range read("\n" + c.text) {
				for _, text := range commands(l) {
					found += wrong(strings.Fields(text), "docs", targets)
				}
			}
			if (found != "") != c.wrong {
				t.Errorf("found %q", found)
			}
		})
	}
}
