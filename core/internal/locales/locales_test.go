package locales_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/locales"
	"github.com/latchkey-go/latchkey/ui"
)

// TestBrowser: the stored language, the best one that the browser accepts, or the first one.
func TestBrowser(t *testing.T) {
	t.Parallel()
	l := locales.New([]ui.Locale{{Tag: "de"}, {}, {Tag: "pt-BR"}}, t.Errorf)
	for _, row := range []struct{ stored, accepted, want string }{
		{"", "", "de"}, {"", "ja", "de"}, {"", "en-GB, de;q=0.5", ""}, {"pt", "en", "pt-BR"}, {"ja", "en", ""},
	} {
		if got := l.Browser(row.stored, row.accepted); got.Tag != row.want {
			t.Errorf("%+v: %q", row, got.Tag)
		}
	}
	if got := l.Find("ja pt"); got == nil || got.Tag != "pt-BR" {
		t.Errorf("found %+v", got)
	}
	if got := l.Find("ja"); got != nil {
		t.Errorf("found %q", got.Tag)
	}
}

// TestNew checks that errors begin with the index of the language.
func TestNew(t *testing.T) {
	t.Parallel()
	var reported []string
	locales.New([]ui.Locale{{Tag: "de", Dir: "up"}, {Tag: "no language"}},
		func(format string, args ...any) { reported = append(reported, fmt.Sprintf(format, args...)) })
	all := strings.Join(reported, "\n")
	if !strings.HasPrefix(all, "[0]: ") || !strings.Contains(all, `[1]: tag "no language"`) {
		t.Errorf("%q", reported)
	}
}
