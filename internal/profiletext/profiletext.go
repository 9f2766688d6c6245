// Package profiletext checks and limits the texts in a provider's profile of a user. Most of them are in the session
// token, whose cookies must stay within the browser's limits.
package profiletext

import (
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/internal/cleantext"
	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
)

// Limits in bytes.
const (
	// MaxACR is the maximum length of an authentication context class reference.
	MaxACR   = 80
	maxName  = 1000
	maxImage = 16 << 10 // some services send pictures as data URLs
	maxLabel = 254      // of an email address
)

// CheckID returns an error if an ID cannot identify an account.
func CheckID(id string) error {
	switch {
	case !exactjson.IsClean(id):
		return errors.New("the profile's id has control or malformed characters: two accounts could share it")
	case id == "" || id == "undefined" || id == "null":
		return errors.New("the profile has no id: without it each sign-in would create another user")
	}
	return nil
}

// Name returns a name without line breaks. A name that is too long is cut.
func Name(name string) string {
	if name = cleantext.Line(name, ' '); len(name) > maxName {
		return strings.ToValidUTF8(name[:maxName], "")
	}
	return name
}

// Image returns the URL of a picture, or "" if it is too long: an incomplete URL is useless.
func Image(url string) string {
	if url = cleantext.Line(url, -1); len(url) > maxImage {
		return ""
	}
	return url
}

// Address returns the canonical form of an email address. An invalid address becomes empty and matches no user.
func Address(address string) string {
	canonical, _ := mailaddr.Normalize(address) // "" for an invalid address
	return canonical
}

// Label returns the label of an account, or "" if it is too long.
func Label(label string) string {
	if label = cleantext.Line(label, ' '); len(label) > maxLabel {
		return ""
	}
	return label
}

// ACR returns an authentication context class reference, or "" if it is malformed or too long.
func ACR(acr string) string {
	if len(acr) > MaxACR || !exactjson.IsClean(acr) {
		return ""
	}
	return acr
}
