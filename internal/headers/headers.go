// Package headers makes and copies the header fields of responses with few allocations.
package headers

import (
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/internal/negotiate"
)

// New returns a header with the given canonical names and values, which alternate.
func New(fields ...string) http.Header {
	h := http.Header{}
	Set(h, fields...)
	return h
}

// Set sets several fields. Canonical names and values alternate.
func Set(h http.Header, fields ...string) {
	values := make([]string, 0, len(fields)/2)
	for pair := range slices.Chunk(fields, 2) {
		values = append(values, pair[1])
		h[pair[0]] = slices.Clip(values[len(values)-1:])
	}
}

// Copy copies all fields. A field replaces the values of to, except that the names in Vary are added. The headers share
// no memory.
func Copy(to, from http.Header) {
	copied := make([]string, 0, len(from))
	for name, values := range from {
		if name == "Vary" && len(to["Vary"]) > 0 {
			if more := negotiate.MissingVary(to["Vary"], from.Get("Vary")); more != "" {
				to.Add("Vary", more)
			}
			continue
		}
		first := len(copied)
		copied = append(copied, values...)
		to[name] = slices.Clip(copied[first:])
	}
}
