package core

import (
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// NormalizeEmail returns the one form in which e-mail addresses are stored, compared and mailed to: lower-case, NFKC,
// without blanks around it, the domain in letters rather than in its ASCII spelling ("ada@bücher.example" for
// "Ada@XN--BCHER-KVA.example"). Applications that write users to the store themselves write this form: sign-in looks
// for it, and for the spelling that the client sent. Any text other than one plain address is an error, which does not
// repeat the text.
func NormalizeEmail(address string) (string, error) { return mailaddr.Normalize(address) }

// Recipient is To as every mail server understands it: the domain in its ASCII spelling (RFC 5890). An address with
// letters beyond ASCII before the at-sign stays as it is: it takes a mail server that knows them anyway.
func (m SignInMail) Recipient() string { return mailaddr.ASCII(m.To) }

// checkPage checks a page of the application: a rooted path or an http(s) URL.
func checkPage(page string) error {
	if _, err := weburl.AddQuery(page); err != nil {
		return errors.New("write a path such as /login, or an http(s) URL")
	}
	return nil
}

// checkEndpoint checks an address of a provider. Codes and tokens are sent there, so it must be https, except for a
// provider on this machine. insecure allows plain http to other hosts.
func checkEndpoint(u string, insecure bool) error {
	normal, err := weburl.Normalise(u)
	if err != nil {
		return errors.New("write an absolute https URL")
	}
	if strings.HasPrefix(normal, "https://") || insecure && strings.HasPrefix(normal, "http://") {
		return nil
	}
	bare, _, _ := strings.Cut(normal, "?")
	bare, _, _ = strings.Cut(bare, "#")
	if origin, _, err := weburl.ParseOrigin(bare); err != nil || !origin.IsLoopback() {
		return errors.New("plain http is for providers on localhost only: write https, or set AllowInsecureHTTP of the " +
			"provider if the network between the two is yours (docs/recipes/cluster.md)")
	}
	return nil
}

// canonicalName is the one spelling by which a name is counted.
func canonicalName(name string) string {
	if address, err := NormalizeEmail(name); err == nil {
		return address
	}
	return strings.ToLower(strings.TrimSpace(name))
}
