// Package userlocale selects the language of a response.
package userlocale

import (
	"github.com/latchkey-go/latchkey/internal/languages"
	"github.com/latchkey-go/latchkey/ui"
)

// Locales are the languages of a configuration, at least one.
type Locales struct {
	all     []ui.Locale
	matcher *languages.Matcher
}

// New returns the languages. report receives what is wrong with them.
func New(all []ui.Locale, report func(format string, args ...any)) *Locales {
	tags := make([]string, len(all))
	for i, locale := range all {
		for _, problem := range locale.Validate() {
			report("Locales[%d]: %s", i, problem)
		}
		tags[i] = Tag(&all[i])
	}
	matcher, problems := languages.New(tags)
	for _, problem := range problems {
		report("Locales%s", problem)
	}
	return &Locales{all, matcher}
}

// Tag returns the tag of a language. English, the zero Locale, has "en".
func Tag(l *ui.Locale) string {
	if l.Tag == "" {
		return "en"
	}
	return l.Tag
}

// Find returns the language for a list of tags, separated by blanks and ordered by preference. It returns nil if none
// matches.
func (l *Locales) Find(list string) *ui.Locale {
	if at, ok := l.matcher.Find(list); ok {
		return &l.all[at]
	}
	return nil
}

// Choose returns the language of the first list that has one, or else the language of the header Accept-Language. The
// default is the first language of the configuration.
func (l *Locales) Choose(accept string, lists ...string) *ui.Locale {
	for _, list := range lists {
		if found := l.Find(list); found != nil {
			return found
		}
	}
	if at, ok := l.matcher.Accept(accept); ok {
		return &l.all[at]
	}
	return &l.all[0]
}
