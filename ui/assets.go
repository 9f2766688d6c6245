package ui

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

// The source files.
var (
	//go:embed assets/sheet.css
	sheetFile string
	//go:embed assets/reveal.js
	revealFile string
	//go:embed assets/typed.js
	typedFile string
	//go:embed assets/facts.js
	factsFile string
	//go:embed assets/passkey.js
	passkeyFile string
	//go:embed assets/strength.js
	strengthFile string
	//go:embed assets/dialog.js
	dialogFile string
	//go:embed assets/code.js
	codeFile string
	//go:embed assets/copy.js
	copyFile string
	//go:embed assets/tabs.js
	tabsFile string
	//go:embed assets/busy.js
	busyFile string
	//go:embed assets/remember.js
	rememberFile string
)

// The files as served.
var (
	sheetStyle = minifyStyle(sheetFile)
	script     = minifyScript(
		revealFile + factsFile + typedFile + strengthFile + passkeyFile + dialogFile + codeFile + copyFile + tabsFile +
			busyFile + rememberFile,
	)

	stylesheetHash = hash(stylesheet)
	scriptHash     = hash(script)
)

// Stylesheet returns the stylesheet of the pages as served, in UTF-8 and without comments. Its sources are in
// assets/style. Core serves it at page.style under the base path. The caller owns the slice.
func Stylesheet() []byte { return []byte(stylesheet) }

// SheetStylesheet returns the additional styles of [Sheet], in UTF-8, for pages of an application that show its
// sections. Core serves them after the stylesheet in a variant of page.style; see Page.SheetURL. The caller owns the
// slice.
func SheetStylesheet() []byte { return []byte(sheetStyle) }

// StylesheetHash returns the hash of [Stylesheet] for a Content-Security-Policy source or an integrity attribute,
// without quotes: "sha256-" and base64. It can also serve as a cache key. It does not cover the small second style
// element of themed pages, which needs the nonce.
func StylesheetHash() string { return stylesheetHash }

// Script returns the script of the pages, in UTF-8. It shows and hides passwords, measures new passwords, restores
// the typed address after a failed sign-in, marks the last used sign-in method, contains the passkey client,
// shows confirmations in a dialog, submits complete codes, copies reference codes, marks the current section, prevents
// double submits, and adds the choice "Keep me signed in" to every form. It skips what a page does not contain. Core
// serves it at page.script under the base path. The caller owns the slice.
func Script() []byte { return []byte(script) }

// ScriptHash returns the hash of [Script] in the format of [StylesheetHash], for pages without a nonce.
func ScriptHash() string { return scriptHash }

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
