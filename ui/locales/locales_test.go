package locales_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/latchkey-go/latchkey/ui"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// TestEveryKeyInEveryLanguage: all languages have the same keys.
func TestEveryKeyInEveryLanguage(t *testing.T) {
	places := map[string]int{} // for each key, by language
	all := locales.All()
	for _, l := range all {
		for key, words := range l.Texts {
			places[key]++
			if strings.TrimSpace(words) != words || words == "" {
				t.Errorf("%s: %q is %q", l.Tag, key, words)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(places)) {
		for _, l := range all[1:] {
			if l.Texts[key] == "" {
				t.Errorf("%s does not say %q", l.Tag, key)
			}
			if got, want := strings.Count(l.Texts[key], "%s"), strings.Count(all[1].Texts[key], "%s"); got != want {
				t.Errorf("%s: %q has %d arguments, %s %d", l.Tag, key, got, all[1].Tag, want)
			}
		}
	}
}

func TestLanguages(t *testing.T) {
	scripts := map[string]*unicode.RangeTable{"ar": unicode.Arabic, "ja": unicode.Hiragana, "zh-Hans": unicode.Han}
	seen := map[string]bool{}
	for _, l := range locales.All() {
		if problems := l.Validate(); len(problems) > 0 || seen[l.Tag] {
			t.Errorf("%s: %q, there already: %t", l.Tag, problems, seen[l.Tag])
		}
		seen[l.Tag] = true
		if (l.Dir == "rtl") != (l.Tag == "ar") {
			t.Errorf("%s is written %q", l.Tag, l.Dir)
		}
		script := unicode.Latin
		if own := scripts[l.Tag]; own != nil {
			script = own
		}
		said := l.Say(ui.Text{Key: "signin.required", English: "Sign in to continue."})
		if !strings.ContainsFunc(said, func(r rune) bool { return unicode.Is(script, r) }) {
			t.Errorf("%s says %q", l.Tag, said)
		}
	}
	if len(seen) != 8 {
		t.Errorf("%d languages", len(seen))
	}
}

func TestDates(t *testing.T) {
	at := time.Date(2026, 3, 5, 16, 4, 0, 0, time.UTC)
	for tag, want := range map[string]string{
		"en": "March 5, 2026 at 16:04 UTC", "ar": "5 مارس 2026، 16:04 UTC", "de": "5. März 2026, 16:04 UTC",
		"es": "5 de marzo de 2026, 16:04 UTC", "fr": "5 mars 2026, 16:04 UTC", "ja": "2026年3月5日 16:04（UTC）",
		"pt": "5 de março de 2026, 16:04 UTC", "zh-Hans": "2026年3月5日 16:04（UTC）",
	} {
		i := slices.IndexFunc(locales.All(), func(l ui.Locale) bool { return l.Tag == tag })
		if got := locales.All()[i].Moment(at); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}
