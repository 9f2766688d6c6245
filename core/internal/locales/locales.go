// Package locales selects the language of a response from those of core.Config.
package locales

import (
	"cmp"

	"github.com/latchkey-go/latchkey/internal/languages"
	"github.com/latchkey-go/latchkey/ui"
)

// Locales are the languages of a configuration. The first one is the default.
type Locales struct {
	all     []ui.Locale
	matcher *languages.Matcher
}

// New returns the languages of a configuration, and calls report for each error in them. all must not be empty.
func New(all []ui.Locale, report func(format string, args ...any)) *Locales {
	tags := make([]string, len(all))
	for i, locale := range all {
		for _, problem := range locale.Validate() {
			report("[%d]: %s", i, problem)
		}
		tags[i] = cmp.Or(locale.Tag, "en")
	}
	matcher, problems := languages.New(tags)
	for _, problem := range problems {
		report("%s", problem)
	}
	return &Locales{all, matcher}
}

// Find returns the language for a list of tags, separated by blanks and ordered by preference. It returns nil if none
// matches.
func (l *Locales) Find(list string) *ui.Locale {
	if at, ok := l.matcher.Find(list); ok {
		return &l.all[at]
	}
	return nil
}

// Browser returns the language of a browser: the stored tag, else the best one of the Accept-Language header, else the
// default.
func (l *Locales) Browser(stored, accepted string) *ui.Locale {
	if chosen := l.Find(stored); chosen != nil {
		return chosen
	}
	if at, ok := l.matcher.Accept(accepted); ok {
		return &l.all[at]
	}
	return &l.all[0]
}
