package main

import (
	"maps"
	"slices"
)

// authJSWarnings are the warning codes that both Auth.js and Latchkey log. Latchkey has more codes. It does not log
// experimental-webauthn, because passkeys are a W3C standard and stable here.
var authJSWarnings = []string{
	"csrf-disabled", "debug-enabled", "env-url-basepath-mismatch", "env-url-basepath-redundant",
}

// warnings are the codes that a scenario logged. Auth.js logs most of them once for each process and Latchkey once for
// each Auth. Therefore only the sets are compared.
type warnings map[string]bool

// note adds the codes of log entries.
func (w warnings) note(entries []object) {
	for _, e := range entries {
		code, _ := e["code"].(string)
		if e["kind"] == "log" && e["level"] == "warn" && slices.Contains(authJSWarnings, code) {
			w[code] = true
		}
	}
}

// compare reports the codes that only one of the two logged.
func (w warnings) compare(observed warnings, b *binder) {
	if !maps.Equal(w, observed) {
		b.differ("warnings", "want %v, got %v", slices.Sorted(maps.Keys(w)), slices.Sorted(maps.Keys(observed)))
	}
}
