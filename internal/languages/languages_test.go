package languages_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/languages"
)

func TestMatcher(t *testing.T) {
	t.Parallel()
	tags := []string{"en", "de", "pt-BR"}
	m, problems := languages.New(tags)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	many := strings.Repeat("ja, ", 16)
	for header, want := range map[string]string{
		"de-AT, en;q=0.5": "de", "en;q=0.5, de": "de", "pt": "pt-BR", "ja": "", "": "", "de;q=x": "",
		many + "de": "", many[:60] + "de": "de", strings.Repeat("x", 600) + ", de": "",
		"de, " + strings.Repeat("x", 600): "de",
	} {
		if at, ok := m.Accept(header); ok != (want != "") || ok && tags[at] != want {
			t.Errorf("Accept-Language %.40q: %d, %t", header, at, ok)
		}
	}
	for list, want := range map[string]string{
		"de": "de", "ja pt-BR de": "pt-BR", "nonsense!": "", "": "", "ja ja ja ja ja ja de": "",
		"de" + strings.Repeat(" ", 600): "",
	} {
		if at, ok := m.Find(list); ok != (want != "") || ok && tags[at] != want {
			t.Errorf("%.40q: %d, %t", list, at, ok)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	_, problems := languages.New([]string{"en", "no language", "de", "DE"})
	want := []string{
		`[1]: tag "no language" is not a language: use a BCP 47 tag such as de or pt-BR`,
		`[3]: "DE" is a duplicate: list each language once`,
	}
	if !slices.Equal(problems, want) {
		t.Errorf("got %q", problems)
	}
}
