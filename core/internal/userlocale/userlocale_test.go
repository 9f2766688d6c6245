package userlocale_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/userlocale"
	"github.com/latchkey-go/latchkey/ui"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	l := userlocale.New([]ui.Locale{{Tag: "de"}, {}, {Tag: "fr"}}, func(format string, args ...any) {
		t.Errorf(format, args...)
	})
	for _, test := range []struct {
		accept string
		lists  []string
		want   string
	}{
		{"", nil, "de"},
		{"", []string{"", ""}, "de"},
		{"fr-CH, en;q=0.5", nil, "fr"},
		{"nl", nil, "de"},
		{"fr", []string{"en"}, "en"},
		{"fr", []string{"", "nl", "en", "de"}, "en"},
		{"fr", []string{"nl de"}, "de"},
	} {
		if got := userlocale.Tag(l.Choose(test.accept, test.lists...)); got != test.want {
			t.Errorf("%v: %s", test, got)
		}
	}
	if l.Find("nl") != nil || l.Find("") != nil {
		t.Error("found a language that is not configured")
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for want, all := range map[string][]ui.Locale{
		"Locales[1]":         {{}, {Tag: "not a tag"}},
		"Locales[1]: \"de\"": {{Tag: "de"}, {Tag: "de"}},
	} {
		var found []string
		userlocale.New(all, func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) })
		if len(found) == 0 || !strings.HasPrefix(found[0], want) {
			t.Errorf("%s: %q", want, found)
		}
	}
}
