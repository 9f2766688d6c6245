// Package locales contains the texts of pages, emails and problem documents in other languages than English, for
// core.Config.Locales. Each language is a function that returns a new map, so that a program contains only the
// languages that it uses and can change single texts. Each language has all texts of this repository: those of package
// ui, core, providers, providers/password and account.
package locales

import "github.com/latchkey-go/latchkey/ui"

// English returns the built-in language, for a list of languages. It contains no texts.
func English() ui.Locale { return ui.Locale{Tag: "en"} }

// All returns all languages: English first, the others ordered by tag.
func All() []ui.Locale {
	return []ui.Locale{
		English(), Arabic(), German(), Spanish(), French(), Japanese(), Portuguese(), Chinese(),
	}
}
