package ui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Locale is a language of pages, emails and problem documents. The zero value is English, which is built in and
// complete. Package locales has others. A Locale must not change after it was configured. It is safe for concurrent
// use.
type Locale struct {
	// Tag is the BCP 47 language tag: "de", "pt-BR", "zh-Hans". The default is "en".
	Tag string
	// Dir is the direction of the script, "ltr" or "rtl". The default is "ltr".
	Dir string
	// Texts are the translations by the keys of [Text]. Missing texts are shown in English. The keys are in texts.go of
	// this package and of each plugin. A text with %s must have %s once in its translation too.
	//
	// Names from the application's configuration have these keys: "label.Customer number" for the label of a form field or
	// link, "provider.Staff directory" for the name of a provider.
	Texts map[string]string
}

// Text is a text of pages or emails: its key and its English version. Plugins define their own texts, with keys that
// begin with the plugin's name, and locales translate them by key. If package locales translates the same key of
// another English text, that translation is not used.
type Text struct {
	// Key is the key of the text, such as "signin.heading".
	Key string
	// English is the English text. It contains %s at most once, which is replaced by the argument.
	English string

	argument string
}

// With returns t with an argument that replaces %s: a name, a number or a time.
func (t Text) With(argument string) Text {
	t.argument = argument
	return t
}

// Say returns the translated text with its argument. The result is not escaped.
func (l Locale) Say(t Text) string {
	before, after := l.Around(t)
	return before + t.argument + after
}

// Around returns the parts of a translated text before and after its %s, so that markup can be rendered between them.
func (l Locale) Around(t Text) (before, after string) {
	before, after, _ = strings.Cut(l.words(t), "%s")
	return before, after
}

// words returns the translation of a text, or its English. A translation in package locales belongs to one English
// text. If a plugin uses the same key for another text, that translation is not used.
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

// Label translates the label of a field, which an application or a plugin configures: the text "label." followed by it,
// or else the label itself.
func (l Locale) Label(text string) string { return l.label(text) }

// label translates the label of a field or link, and provider the name of a provider. Both are from the application's
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
	textDate   = Text{Key: "date", English: "January 2, 2006"}
	textMoment = Text{Key: "moment", English: "January 2, 2006 at 15:04 UTC"}
	textMonths = Text{Key: "months", English: "January February March April May June July August September October " +
		"November December"}
)

// Date returns the date of at in UTC. Its layout is the text "date", a layout of package time with the month as "1",
// "01" or "January". The text "months" has the names of the twelve months, separated by spaces.
func (l Locale) Date(at time.Time) string { return l.dated(textDate, at) }

// Moment returns the date, hour and minute of at in UTC. Its layout is the text "moment".
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

// tag returns the language tag of a document.
func (l Locale) tag() string {
	if l.Tag == "" {
		return "en"
	}
	return l.Tag
}

const rightToLeft = "rtl"

// Validate returns one sentence for each error in l, or nil. core.New checks whether Tag is a valid language tag.
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

// The texts of the passkey script, by their names in the script.
var scriptTexts = map[string]Text{
	"waiting":     {Key: "passkey.waiting", English: "Waiting for your passkey…"},
	"cancelled":   {Key: "passkey.cancelled", English: "That was canceled. You can try again."},
	"failed":      {Key: "passkey.failed", English: "Something went wrong. Please try again."},
	"unsupported": {Key: "passkey.unsupported", English: "This browser doesn't support passkeys."},
}

// ScriptTexts returns the texts of [Script] as a JSON object, for the attribute data-passkey-texts of a passkey form.
// It is empty in English, which the script contains.
func (l Locale) ScriptTexts() string {
	if len(l.Texts) == 0 {
		return ""
	}
	said := map[string]string{}
	for name, text := range scriptTexts {
		said[name] = l.Say(text)
	}
	b, err := json.Marshal(said)
	if err != nil { // cannot fail for strings
		return ""
	}
	return string(b)
}
