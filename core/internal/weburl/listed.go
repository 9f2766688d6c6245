package weburl

import (
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/ascii"
)

// Listed reports whether one of the patterns covers o: origins such as "https://app.example", or with a wildcard for
// exactly one more label, "https://*.preview.app.example".
func (o Origin) Listed(patterns []string) bool {
	for _, p := range patterns {
		scheme, host, ok := strings.Cut(ascii.Lower(p), "://")
		if ok && scheme == o.Scheme && listed([]string{strings.TrimSuffix(host, "/")}, o) {
			return true
		}
	}
	return false
}

// IsLoopback reports whether o names this machine, where plain http is as good as https.
func (o Origin) IsLoopback() bool {
	switch name := hostname(o.Host); {
	case name == "localhost", strings.HasSuffix(name, ".localhost"), name == "::1":
		return true
	default:
		return strings.HasPrefix(name, "127.") && isNumeric(name[strings.LastIndexByte(name, '.')+1:])
	}
}
