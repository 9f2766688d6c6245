// Package commits checks the subjects of commits (CONTRIBUTING.md). Programs that list commits show about 72 characters
// of a subject.
package commits

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// base is the last commit that is not checked: the subjects before it are longer.
const base = "a1f560e3d9f5db675fa4b73168cbf4fe992a6841"

// form matches a subject, with its first verb.
var form = regexp.MustCompile(`^[A-Za-z0-9._/*][A-Za-z0-9._/*, -]*: ([a-z-]+)(,? |$)`)

// noVerb matches words that are no imperative verbs.
var noVerb = regexp.MustCompile("^(the|an?|what|who|which|how|when|no|all|each|some|new|more|only|" +
	".{3,}ed|.{3,}ing|.*[^su]s)$")

// verbs are imperatives that noVerb matches.
var verbs = regexp.MustCompile(`^(embed|exceed|proceed|alias|bias|focus)$`)

// objection returns the reason why a subject is not accepted, or "".
func objection(subject string) string {
	m := form.FindStringSubmatch(subject)
	switch {
	case utf8.RuneCountInString(subject) > 72:
		return "it has more than 72 characters"
	case m == nil:
		return "write a package, a colon, and a verb in lower case: storage/mysql: retry deadlocks"
	case noVerb.MatchString(m[1]) && !verbs.MatchString(m[1]):
		return "begin with an imperative verb instead of " + m[1]
	}
	return ""
}

func TestObjection(t *testing.T) {
	t.Parallel()
	for subject, want := range map[string]string{
		"storage/mysql: retry deadlocks":                             "",
		"README, docs: show the sign-in page":                        "",
		".ci/test: embed the list":                                   "",
		"all: generate, and tidy the modules":                        "",
		"core: pass the context, and address a race":                 "",
		"core: process emails":                                       "",
		"retry deadlocks":                                            "write a package",
		"core retry: ":                                               "write a package",
		"core: Retry deadlocks":                                      "write a package",
		"core: a redirect is one allocation":                         "imperative verb",
		"core: added a redirect":                                     "imperative verb",
		"core: adding a redirect":                                    "imperative verb",
		"core: adds a redirect":                                      "imperative verb",
		"core: what the store refuses of one token fails":            "imperative verb",
		"core: retry " + strings.Repeat("x", 72-len("core: retry ")): "",
		"core: retry " + strings.Repeat("x", 73-len("core: retry ")): "more than 72",
	} {
		if got := objection(subject); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", subject, got, want)
		}
	}
}

func TestSubjects(t *testing.T) {
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
		hash, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if reason := objection(subject); reason != "" {
			t.Errorf("%s: %s: %s", hash, subject, reason)
		}
	}
}

func git(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
	return string(out), err
}
