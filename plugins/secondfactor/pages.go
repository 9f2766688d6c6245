package secondfactor

import (
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/ui"
)

// codeField is the field of a code of an authenticator app.
func codeField(label string) ui.Field {
	return ui.Field{
		Name: "code", Label: label, Autocomplete: "one-time-code", Required: true,
		Attributes: []ui.Attribute{{Name: "inputmode", Value: "numeric"}, {Name: "maxlength", Value: "12"}},
	}
}

// recoveryField is the field of a recovery code.
func recoveryField(l ui.Locale) ui.Field {
	return ui.Field{
		Name: "code", Label: l.Say(textRecoveryCode), Autocomplete: "off", Required: true,
		Attributes: []ui.Attribute{
			{Name: "autocapitalize", Value: "characters"}, {Name: "spellcheck", Value: "false"},
			{Name: "maxlength", Value: "40"},
		},
	}
}

// withQuery adds a parameter to an URL.
func withQuery(address, name, value string) string {
	separator := "?"
	if strings.Contains(address, "?") {
		separator = "&"
	}
	return address + separator + url.Values{name: {value}}.Encode()
}
