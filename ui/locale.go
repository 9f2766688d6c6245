package ui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Locale is a language of the pages, letters and problem documents. The zero value is English, which is built in and
// complete; package locales has others. It is not changed after it was configured and is safe for concurrent use.
type Locale struct {
	// Tag is the language as HTML and HTTP name it (BCP 47): "de", "pt-BR", "zh-Hans". Empty: "en".
	Tag string
	// Dir is the direction of the script, "ltr" or "rtl"; empty: "ltr".
	Dir string
	// Texts are the words by the keys of [Text]; nil: English. What is missing is said in English. docs/languages.md lists
	// the keys. Those of texts with %s in them, a name or a time, have it once as well.
	//
	// What an application itself named in its configuration is looked up by that name: the label of a form field and the
	// text of a link under "label.Customer number", the name of a provider under "provider.Staff directory".
	Texts map[string]string
}

// Text is a text of pages or emails: its key and its English. Plugins define their own, under keys that begin with the
// plugin's name, and languages translate them by key. If package locales has a translation of the key for another
// English text, the text is shown in English.
type Text struct {
	// Key is the name of the text: "signin.heading".
	Key string
	// English is the text in English. %s, once at most, is where the argument goes.
	English string

	argument string
}

// With returns t with the argument that stands in place of its %s: a name, a number or a time.
func (t Text) With(argument string) Text {
	t.argument = argument
	return t
}

// Say returns a text in the language, with its argument; it is not escaped.
func (l Locale) Say(t Text) string {
	before, after := l.Around(t)
	return before + t.argument + after
}

// Around returns the two halves of a text in the language, around the place of its argument: for an argument that is
// markup.
func (l Locale) Around(t Text) (before, after string) {
	before, after, _ = strings.Cut(l.words(t), "%s")
	return before, after
}

// words returns the translation of a text, or its English. A translation in package locales belongs to one English
// text: a plugin that uses the same key for another text must not show the words of that translation.
func (l Locale) words(t Text) string {
	words := l.Texts[t.Key]
	if words == "" {
		return t.English
	}
	if english, ok := catalogued(t.Key); ok && english != t.English {
		return t.English
	}
	return words
}

// label is the label of a field or link, and provider the name of a provider: the application has named them in its
// configuration.
func (l Locale) label(text string) string    { return l.named("label.", text) }
func (l Locale) provider(text string) string { return l.named("provider.", text) }

func (l Locale) named(prefix, text string) string {
	if words := l.Texts[prefix+text]; words != "" && text != "" {
		return words
	}
	return text
}

var (
	textDate   = Text{Key: "date", English: "2 January 2006"}
	textMoment = Text{Key: "moment", English: "2 January 2006, 15:04 UTC"}
	textMonths = Text{Key: "months", English: "January February March April May June July August September October " +
		"November December"}
)

// Date is the day of a moment, in UTC. The text "date" is its layout, one of package time with the month as "1", "01"
// or "January"; the text "months" has the twelve names, with a space between them.
func (l Locale) Date(at time.Time) string { return l.dated(textDate, at) }

// Moment is a time as people of every zone can read it: day and minute in UTC. The text "moment" is its layout.
func (l Locale) Moment(at time.Time) string { return l.dated(textMoment, at) }

func (l Locale) dated(layout Text, at time.Time) string {
	at = at.UTC()
	text := at.Format(l.words(layout))
	months := strings.Fields(l.words(textMonths))
	if len(months) != int(time.December) {
		return text
	}
	return strings.Replace(text, at.Month().String(), months[at.Month()-1], 1)
}

// tag is the language of a document.
func (l Locale) tag() string {
	if l.Tag == "" {
		return "en"
	}
	return l.Tag
}

const rightToLeft = "rtl"

// Validate reports everything that is wrong with l, one sentence each, or nothing. Whether Tag is the name of a
// language is seen by core.New.
func (l Locale) Validate() []string {
	prefix := fmt.Sprintf("locale %q: ", l.Tag)
	var problems []string
	if l.Dir != "" && l.Dir != "ltr" && l.Dir != rightToLeft {
		problems = append(problems, fmt.Sprintf("%sdir %q is unknown: use ltr or rtl", prefix, l.Dir))
	}
	for _, key := range slices.Sorted(maps.Keys(l.Texts)) {
		if strings.Count(l.Texts[key], "%s") > 1 {
			problems = append(problems, fmt.Sprintf("%stext %q has %%s more than once", prefix, key))
		}
	}
	return problems
}

// The sentences of the passkey script, by their names there.
var scriptTexts = map[string]Text{
	"waiting":     {Key: "passkey.waiting", English: "Waiting for your passkey…"},
	"cancelled":   {Key: "passkey.cancelled", English: "That was cancelled. You can try again."},
	"failed":      {Key: "passkey.failed", English: "That did not work. Please try again."},
	"unsupported": {Key: "passkey.unsupported", English: "This browser does not support passkeys."},
}

// ScriptTexts is what [Script] says, for the attribute data-passkey-texts of a form with a passkey: a JSON object. It
// is empty in English, which the script knows.
func (l Locale) ScriptTexts() string {
	if len(l.Texts) == 0 {
		return ""
	}
	said := map[string]string{}
	for name, text := range scriptTexts {
		said[name] = l.Say(text)
	}
	b, err := json.Marshal(said)
	if err != nil { // texts alone
		return ""
	}
	return string(b)
}
