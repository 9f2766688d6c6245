// Package wellknown has the names and the entity tags of the documents at /.well-known (RFC 8615).
package wellknown

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

// Path is the path prefix of the documents.
const Path = "/.well-known"

// IsName reports whether name can be the name of a document: lower-case letters, digits, hyphens and dots.
func IsName(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == "" && strings.Trim(name, ".") != ""
}

// Name returns the name of the document that a request target is for. ok is false if its path is another one.
func Name(target string) (name string, ok bool) {
	if !strings.Contains(target, Path) {
		return "", false
	}
	name, more, ok := weburl.Segments(target, Path)
	if more != "" {
		name += "/" + more
	}
	return name, ok
}

// Tag returns the entity tag of a document, and whether the client with these If-None-Match fields has the same
// document (RFC 9110 section 13.1.2).
func Tag(body []byte, fields []string) (tag string, same bool) {
	sum := sha256.Sum256(body)
	tag = `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	return tag, strings.Contains(strings.Join(fields, ","), tag)
}
