// Package languages selects one of an application's languages for a request.
package languages

import (
	"fmt"
	"strings"

	"golang.org/x/text/language"
)

// Matcher selects a language by its index. It is safe for concurrent use.
type Matcher struct{ matcher language.Matcher }

// New returns a Matcher for languages as BCP 47 tags. problems has a text for each tag that is invalid or a duplicate;
// a text begins with the index in brackets.
func New(tags []string) (m *Matcher, problems []string) {
	parsed := make([]language.Tag, len(tags))
	seen := map[language.Tag]bool{}
	for i, text := range tags {
		tag, err := language.Parse(text)
		switch {
		case err != nil:
			problems = append(problems,
				fmt.Sprintf("[%d]: tag %q is not a language: use a BCP 47 tag such as de or pt-BR", i, text))
		case seen[tag]:
			problems = append(problems, fmt.Sprintf("[%d]: %q is a duplicate: list each language once", i, text))
		}
		parsed[i], seen[tag] = tag, true
	}
	return &Matcher{language.NewMatcher(parsed)}, problems
}

// maxText is the maximum length of a parameter or header that is parsed. No browser sends more.
const maxText = 512

// maxListed is the maximum number of languages of a parameter that are compared, and maxAccepted the
// maximum of the header Accept-Language. Comparing hundreds of them would take a millisecond.
const (
	maxListed   = 6
	maxAccepted = 16
)

// Accept returns the language for an Accept-Language header (RFC 9110 section 12.5.4). It returns false if none
// matches.
func (m *Matcher) Accept(header string) (index int, ok bool) {
	if len(header) > maxText {
		header = header[:max(0, strings.LastIndexByte(header[:maxText], ','))]
	}
	if all := strings.SplitN(header, ",", maxAccepted+1); len(all) > maxAccepted {
		header = strings.Join(all[:maxAccepted], ",")
	}
	tags, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return 0, false
	}
	return m.match(tags)
}

// Find returns the language for a list of tags, separated by blanks and ordered by preference. It returns false if none
// matches.
func (m *Matcher) Find(list string) (index int, ok bool) {
	if list == "" || len(list) > maxText {
		return 0, false
	}
	var tags []language.Tag
	for i, name := range strings.Fields(list) {
		if i >= maxListed {
			break
		}
		if tag, err := language.Parse(name); err == nil {
			tags = append(tags, tag)
		}
	}
	return m.match(tags)
}

func (m *Matcher) match(tags []language.Tag) (index int, ok bool) {
	if len(tags) == 0 {
		return 0, false
	}
	_, index, confidence := m.matcher.Match(tags...)
	return index, confidence != language.No
}
