// Package mailaddr brings e-mail addresses into the one form in which they are stored, compared and mailed to. Every address
// parser reads something else into comments, quotes, routes and lists; what only some of them accept is refused, so that a
// letter goes to the address that was stored and to no other.
package mailaddr

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxAddress = 320 // RFC 3696 section 3 with its erratum: 64 + 1 + 255
	maxLocal   = 64
	maxDomain  = 255
	maxLabel   = 63
)

// ErrInvalid is returned for anything that is not one plain address. It does not repeat what came.
var ErrInvalid = errors.New("not one plain e-mail address")

// Normalize returns the canonical form of an address (WIRE.md section 9): NFKC, lower-case, without blanks around it, the domain
// cut at the first comma as the reference does. The form is an addr-spec of dot-atom and host name (RFC 5322 section 3.4.1),
// letters beyond ASCII included. It takes linear time; length and encoding are looked at first.
func Normalize(identifier string) (string, error) {
	if len(identifier) > 4*maxAddress || !utf8.ValidString(identifier) {
		return "", ErrInvalid
	}
	s := strings.Trim(norm.NFKC.String(identifier), " \t")
	s = strings.ToLower(s)
	local, domain, ok := strings.Cut(s, "@")
	if !ok || strings.Contains(domain, "@") {
		return "", ErrInvalid
	}
	domain, _, _ = strings.Cut(domain, ",")
	if !localPart(local) || !hostName(domain) || len(local)+1+len(domain) > maxAddress {
		return "", ErrInvalid
	}
	return local + "@" + domain, nil
}

// localPart checks a dot-atom (RFC 5322 section 3.2.3).
func localPart(s string) bool {
	if s == "" || len(s) > maxLocal {
		return false
	}
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" || strings.ContainsFunc(atom, notAtext) {
			return false
		}
	}
	return true
}

func notAtext(r rune) bool {
	return !letterOrDigit(r) && (r >= utf8.RuneSelf || !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r))
}

// hostName checks labels of letters, digits and inner hyphens (RFC 1123 section 2.1).
func hostName(s string) bool {
	if s == "" || len(s) > maxDomain {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool { return r != '-' && !letterOrDigit(r) }) {
			return false
		}
	}
	return true
}

// letterOrDigit lets in the letters of all scripts with their marks, and none of the characters that are invisible.
func letterOrDigit(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r)
}
