package mailaddr

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

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
