package otel

import "regexp"

// wordForm is the form of core's names and reasons, and of the IDs of providers.
var wordForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// word returns a text that may be an attribute: a core.Refusal has a Reason that an Authorize function may have made of
// what a visitor typed. How many there may be is the bound of the SDK, 2,000 unless it is told otherwise.
func word(text string) string {
	if text == "" || wordForm.MatchString(text) {
		return text
	}
	return "other"
}
