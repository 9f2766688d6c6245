package reauth

import (
	"strings"

	"github.com/latchkey-go/latchkey/internal/profiletext"
)

// Method is a method on the page.
type Method struct {
	// ID is the provider's ID, or the path of a plugin's action. Type is the provider's type, "code" for a code by email,
	// or "page" for a page of a plugin.
	ID   string `json:"id"`
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
	// URL receives the POST of a client. For the type "page" it is the address of a page.
	URL string `json:"url"`
}

// Methods is the response to GET reauth.
type Methods struct {
	Methods []Method `json:"methods"`
}

// Query is the input of GET reauth.
type Query struct {
	CallbackURL string `json:"callbackUrl,omitempty" jsonschema:"where the user continues"`
	Strong      string `json:"strong,omitempty" jsonschema:"1 if two factors are required"`
	ACRValues   string `json:"acr_values,omitempty" jsonschema:"the required acr values, separated by spaces"`
}

// Code is the input of POST reauth.
type Code struct {
	Code      string `json:"code,omitempty" jsonschema:"the code of the email; without it, a new code is sent"`
	Strong    string `json:"strong,omitempty" jsonschema:"1 if two factors are required"`
	ACRValues string `json:"acr_values,omitempty" jsonschema:"the required acr values, separated by spaces"`
}

// Form is the input of POST reauth/<provider>: the fields of the provider's form.
type Form struct {
	Fields map[string]string `json:"*"`
}

// MaxACRs is the maximum number of values in one requirement.
const MaxACRs = 8

// ParseACR splits a list of authentication context class references at spaces. It returns nil if one is invalid.
func ParseACR(list string) []string {
	values := strings.Fields(list)
	for _, value := range values {
		invalid := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
		if len(value) > profiletext.MaxACR || strings.ContainsFunc(value, invalid) {
			return nil
		}
	}
	if len(values) > MaxACRs {
		return nil
	}
	return values
}
