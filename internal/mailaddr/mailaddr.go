// Package mailaddr converts email addresses to the canonical form in which they are stored, compared and used. Address
// parsers disagree about comments, quotes, routes and lists. Anything that only some of them accept is rejected, so
// that an email is sent to the stored address and to no other.
package mailaddr

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

const (
	maxAddress = 320 // RFC 3696 section 3 with its erratum: 64 + 1 + 255
	maxLocal   = 64
	maxDomain  = 255
	maxLabel   = 63
)

// ErrInvalid is returned for anything that is not one plain address. It does not contain the input.
var ErrInvalid = errors.New("not one plain email address")

// Normalize returns the canonical form of an address (docs/protocol.md §9.1): NFKC, lower case, without surrounding
// white space, with the domain cut at the first comma as in Auth.js, and with A-labels converted to U-labels
// (xn--bcher-kva to bücher). The result is an addr-spec of dot-atom and host name (RFC 5322 section 3.4.1), which may
// contain non-ASCII letters. It takes linear time; length and encoding are checked first.
func Normalize(identifier string) (string, error) {
	if len(identifier) > 4*maxAddress || !utf8.ValidString(identifier) {
		return "", ErrInvalid
	}
	s := fold(strings.Trim(norm.NFKC.String(identifier), " \t"))
	local, domain, ok := strings.Cut(s, "@")
	if !ok || strings.Contains(domain, "@") {
		return "", ErrInvalid
	}
	domain, _, _ = strings.Cut(domain, ",")
	domain = unicodeLabels(domain)
	if !localPart(local) || !hostName(domain) || len(local)+1+len(domain) > maxAddress {
		return "", ErrInvalid
	}
	return local + "@" + domain, nil
}

// Canonical returns the form of a name in which limits and audit events compare it: a normalized email address, or the
// name in lower case without surrounding blanks.
func Canonical(name string) string {
	if address, err := Normalize(name); err == nil {
		return address
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// fold converts s, which must be in NFKC, to lower case in NFKC. It normalizes again, because some letters combine with
// a mark only in lower case (J and a caron), and an address must not have two forms. The capital dotted I becomes i
// with a combining dot above, as in all languages except Turkish; Go's mapping would make it a plain i, which is
// another person's address.
func fold(s string) string {
	return norm.NFKC.String(strings.ToLower(strings.ReplaceAll(s, "\u0130", "i\u0307")))
}

// localPart reports whether s is a dot-atom (RFC 5322 section 3.2.3). It rejects an encoded-word: mail software that
// decodes it, although RFC 2047 section 5 forbids encoded-words in addresses, would send the message to another
// mailbox.
func localPart(s string) bool {
	if s == "" || len(s) > maxLocal || encodedWord(s) {
		return false
	}
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" || startsWithMark(atom) || strings.ContainsFunc(atom, notAtext) {
			return false
		}
	}
	return true
}

// encodedWord reports whether s contains the start and, after it, the end of an encoded-word: =?charset?q?text?=
func encodedWord(s string) bool {
	_, rest, begins := strings.Cut(s, "=?")
	return begins && strings.Contains(rest, "?=")
}

func notAtext(r rune) bool {
	return !letterOrDigit(r) && (r >= utf8.RuneSelf || !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r))
}

// hostName reports whether s consists of labels of letters, digits and inner hyphens (RFC 1123 section 2.1). It rejects
// a name that ends in a number, because some resolvers read it as an IP address, and a label that starts like an
// A-label but has non-ASCII letters, because it is read as another label (RFC 5890 section 2.3.1).
func hostName(s string) bool {
	if s == "" || len(s) > maxDomain {
		return false
	}
	last := ""
	for label := range strings.SplitSeq(s, ".") {
		last = label
		if label == "" || startsWithMark(label) || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool { return r != '-' && !letterOrDigit(r) }) {
			return false
		}
		if strings.HasPrefix(label, acePrefix) && !isASCII(label) {
			return false
		}
	}
	return !number(last)
}

// number reports whether a label is a decimal number, or a hexadecimal one with its prefix.
func number(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// startsWithMark reports whether s starts with a combining mark, which would be displayed on the preceding dot or
// at-sign.
func startsWithMark(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsMark(r)
}

// letterOrDigit reports whether r is a letter, mark or digit of any script. It rejects invisible characters, some of
// which are letters or marks (variation selectors, Hangul fillers).
func letterOrDigit(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
	}
	if unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r)
}

// ASCII returns a canonical address with the labels of its domain as A-labels (RFC 5890 section 2.3.2.1):
// "ada@bücher.example" becomes "ada@xn--bcher-kva.example". A label that is too long is not converted. Neither is an
// address with non-ASCII letters before the at-sign, which requires a mail server that supports them anyway (RFC 6531).
func ASCII(address string) string {
	local, domain, _ := strings.Cut(address, "@")
	if !isASCII(local) {
		return address
	}
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		if isASCII(label) { // converting an invalid A-label would change it to another label
			continue
		}
		if encoded, err := idna.Punycode.ToASCII(label); err == nil && len(encoded) <= maxLabel {
			labels[i] = encoded
		}
	}
	return local + "@" + strings.Join(labels, ".")
}

const acePrefix = "xn--"

// unicodeLabels returns a domain with A-labels converted to U-labels. Only canonical A-labels of host names are
// converted.
func unicodeLabels(domain string) string {
	if !strings.Contains(domain, acePrefix) {
		return domain
	}
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		if !strings.HasPrefix(label, acePrefix) {
			continue
		}
		decoded, err := idna.Punycode.ToUnicode(label)
		if err != nil || isASCII(decoded) || fold(norm.NFKC.String(decoded)) != decoded || !hostName(decoded) {
			continue
		}
		if again, err := idna.Punycode.ToASCII(decoded); err == nil && again == label {
			labels[i] = decoded
		}
	}
	return strings.Join(labels, ".")
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}
