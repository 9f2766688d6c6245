package otel

import "regexp"

// wordForm is the form of core's names and reasons, and of provider IDs.
var wordForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// word returns text if it has the form of a word. An Authorize function may return an audit.Denial with a Reason that
// contains user input. The number of different words is limited by the SDK: to 2,000 by default.
func word(text string) string {
	if text == "" || wordForm.MatchString(text) {
		return text
	}
	return "other"
}
