package negotiate

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// DatastarRedirect returns an event of the Datastar protocol that opens a page. It adds an element with an expression,
// which the library evaluates: a script element would need an exception in the content security policy. All characters
// that mean something in HTML, in JavaScript or in such expressions are escaped.
func DatastarRedirect(target string) []byte {
	body := []byte("event: datastar-patch-elements\ndata: selector body\ndata: mode append\n" +
		`data: elements <div data-effect="window.location.assign('`)
	for _, c := range utf16.Encode([]rune(target)) {
		if c < utf8.RuneSelf && (c == '/' || c == '-' || c == '_' || c == '.' || unicode.IsLetter(rune(c)) ||
			unicode.IsDigit(rune(c))) {
			body = append(body, byte(c))
		} else {
			body = fmt.Appendf(body, `\u%04x`, c)
		}
	}
	return append(body, "')\"></div>\n\n"...)
}
