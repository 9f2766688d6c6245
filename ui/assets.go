package ui

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

// The files, for readers.
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
	//go:embed assets/busy.js
	busyFile string
)

// What is sent of them.
var (
	sheetStyle = squeezedStyle(sheetFile)
	script     = squeezedScript(revealFile + factsFile + typedFile + passkeyFile + busyFile)

	stylesheetHash = hash(stylesheet)
	scriptHash     = hash(script)
)

// Stylesheet returns the stylesheet of the pages as it is sent, UTF-8, without comments: the files to read are
// assets/style. Core serves it at page.style under the base path. The slice is the caller's.
func Stylesheet() []byte { return []byte(stylesheet) }

// SheetStylesheet returns what [Sheet] adds to the stylesheet, UTF-8: for pages of an application's own that show the
// parts of one. It stands in a second style element, which needs the nonce. The slice is the caller's.
func SheetStylesheet() []byte { return []byte(sheetStyle) }

// StylesheetHash returns the hash of [Stylesheet] as it stands in a Content-Security-Policy source or an integrity
// attribute, without quotes: "sha256-" and base64. It changes when the stylesheet does, so it also serves to get round
// caches. It does not cover the small second style element of themed pages, which needs the nonce.
func StylesheetHash() string { return stylesheetHash }

// Script returns the script of the pages, UTF-8: it shows a password to those who ask, says who is signed in, keeps
// what was typed when a sign-in fails, marks the way that was taken last, is the passkey client, and has a form sent
// once. What a page has nothing for does nothing. Core serves it at page.script under the base path. The slice is the
// caller's.
func Script() []byte { return []byte(script) }

// ScriptHash returns the hash of [Script] in the form of [StylesheetHash], for pages that have no nonce.
func ScriptHash() string { return scriptHash }

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
