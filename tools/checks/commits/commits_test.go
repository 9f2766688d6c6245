// Package commits checks the subjects of commits. Programs that list commits show about 72 characters of a subject.
package commits

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

// base is the last commit that is not checked: the subjects before it are longer.
const base = "a1f560e3d9f5db675fa4b73168cbf4fe992a6841"

func TestSubjectsAreShort(t *testing.T) {
	t.Parallel()
	if _, err := git(t, "rev-parse", "HEAD"); err != nil {
		t.Skip("not a git checkout")
	}
	commits := base + "..HEAD"
	if _, err := git(t, "rev-parse", "--verify", "--quiet", base+"^{commit}"); err != nil {
		commits = "HEAD^!" // a shallow clone: only the last commit
	}
	log, err := git(t, "log", "--no-merges", "--format=%h %s", commits)
	if err != nil {
		t.Fatal(err, log)
	}
	for line := range strings.Lines(log) {
		if hash, subject, _ := strings.Cut(strings.TrimSpace(line), " "); utf8.RuneCountInString(subject) > 72 {
			t.Errorf("%s: the subject has %d characters, at most 72: %s", hash, utf8.RuneCountInString(subject), subject)
		}
	}
}

func git(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
	return string(out), err
}
