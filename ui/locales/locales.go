// Package locales has the words of the built-in pages, letters and problem documents in other languages than English,
// for core.Config.Locales. Each language is a function that makes it anew, so that a program holds those that it names
// and may change single words. Everything of this repository is in each of them: package ui, core, the letters of
// providers, providers/password and account.
package locales

import "github.com/latchkey-go/latchkey/ui"

// English is the language that is built in: it has no texts of its own, and stands in the list where others do.
func English() ui.Locale { return ui.Locale{Tag: "en"} }

// All returns all languages, English first, the others by their tags.
func All() []ui.Locale {
	return []ui.Locale{
		English(), Arabic(), German(), Spanish(), French(), Japanese(), Portuguese(), Chinese(),
	}
}
