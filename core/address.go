package core

import (
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// NormalizeEmail returns the canonical form of an email address, in which addresses are stored, compared and mailed to:
// lower case, NFKC, without surrounding blanks, and with the domain in Unicode rather than ASCII ("ada@bücher.example"
// for "Ada@XN--BCHER-KVA.example"). An application that writes users to the store itself must write this form, because
// sign-in looks for it, and for the spelling that the client sent. A text that is not one plain address is an error,
// which does not repeat the text.
func NormalizeEmail(address string) (string, error) { return mailaddr.Normalize(address) }

// Recipient returns To with the domain in ASCII (RFC 5890), which every mail server supports. A local part with
// non-ASCII characters is not changed: it requires a mail server that supports them.
func (m SignInMail) Recipient() string { return mailaddr.ASCII(m.To) }

// checkPage returns an error unless page is a path that begins with a slash, or an http or https URL.
func checkPage(page string) error {
	if _, err := weburl.AddQuery(page); err != nil {
		return errors.New("write a path such as /login, or an http(s) URL")
	}
	return nil
}

// checkEndpoint checks the URL of a provider. Codes and tokens are sent to it, so it must use https, unless the
// provider runs on this machine. If insecure is true, plain http to other hosts is allowed.
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

// canonicalName returns the form of a name that limits and audit events use: a normalized email address, or the name in
// lower case without surrounding blanks.
func canonicalName(name string) string {
	if address, err := NormalizeEmail(name); err == nil {
		return address
	}
	return strings.ToLower(strings.TrimSpace(name))
}
