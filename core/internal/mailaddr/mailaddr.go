// Package mailaddr brings e-mail addresses into the one form in which they are stored, compared and mailed to. Every
// address parser reads something else into comments, quotes, routes and lists; what only some of them accept is
// refused, so that a letter goes to the address that was stored and to no other.
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

// ErrInvalid is returned for anything that is not one plain address. It does not repeat what came.
var ErrInvalid = errors.New("not one plain e-mail address")

// Normalize returns the canonical form of an address (docs/protocol.md §9.1): NFKC, lower-case, without blanks around
// it, the domain cut at the first comma as Auth.js does, A-labels of it as U-labels (xn--bcher-kva as bücher). The form
// is an addr-spec of dot-atom and host name (RFC 5322 section 3.4.1), letters beyond ASCII included. It takes linear
// time; length and encoding are looked at first.
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

// fold lower-cases s, which is in NFKC, and keeps it there: some letters compose with a mark in lower case only (J and
// a caron), and an address must not have two forms. The capital dotted i becomes an i with a dot above, as in every
// language but Turkish; Go's mapping would make it the plain i of another person's address.
func fold(s string) string {
	return norm.NFKC.String(strings.ToLower(strings.ReplaceAll(s, "\u0130", "i\u0307")))
}

// localPart checks a dot-atom (RFC 5322 section 3.2.3). One with an encoded-word is refused: mail software that decodes
// it, although RFC 2047 section 5 forbids an encoded-word in an address, would send the message to another mailbox.
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

// encodedWord reports whether s contains the beginning and, after it, the end of an encoded-word: =?charset?q?text?=
func encodedWord(s string) bool {
	_, rest, begins := strings.Cut(s, "=?")
	return begins && strings.Contains(rest, "?=")
}

func notAtext(r rune) bool {
	return !letterOrDigit(r) && (r >= utf8.RuneSelf || !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r))
}

// hostName checks labels of letters, digits and inner hyphens (RFC 1123 section 2.1). A name that ends in a number is
// an address in disguise to some resolvers, and one that begins as an A-label and has letters beyond ASCII is read as
// another label (RFC 5890 section 2.3.1).
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

// number reports whether a label is digits only, or hexadecimal with its prefix.
func number(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// startsWithMark reports whether s begins with a combining mark, which would be drawn onto the dot or at-sign before
// it.
func startsWithMark(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsMark(r)
}

// letterOrDigit lets in the letters of all scripts with their marks, and none of the characters that are invisible,
// some of which are letters and marks too (variation selectors, the Hangul fillers).
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
// "ada@bücher.example" as "ada@xn--bcher-kva.example". A label that is too long is returned as it is, and so is an
// address with letters beyond ASCII before the at-sign, which takes a mail server that knows them anyway (RFC 6531).
func ASCII(address string) string {
	local, domain, _ := strings.Cut(address, "@")
	if !isASCII(local) {
		return address
	}
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		if isASCII(label) { // what looks like an A-label and is none would be read, and written as another
			continue
		}
		if encoded, err := idna.Punycode.ToASCII(label); err == nil && len(encoded) <= maxLabel {
			labels[i] = encoded
		}
	}
	return local + "@" + strings.Join(labels, ".")
}

const acePrefix = "xn--"

// unicodeLabels returns a domain with its A-labels as U-labels. A label that is no A-label of the one canonical
// spelling of a host name stays as it is: nothing else is ever turned into it.
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
