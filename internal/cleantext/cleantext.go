// Package cleantext removes or escapes what texts of other parties must not contain.
package cleantext

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line removes characters that databases, cookies and pages cannot represent: control characters and invalid
// UTF-8. A tab or line break is replaced with lineBreak, or removed if lineBreak is -1.
func Line(s string, lineBreak rune) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return lineBreak
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// maxEscaped is the maximum length of an escaped text, such as a User-Agent.
const maxEscaped = 256

// Escaped escapes characters that could forge or break a log line, and cuts the text at maxEscaped.
func Escaped(text string) string {
	out := make([]byte, 0, min(len(text), maxEscaped))
	for i := 0; i < len(text); i++ {
		from := len(out)
		if c := text[i]; c >= 0x20 && c < 0x7f && c != '\\' && c != '"' {
			out = append(out, c)
		} else {
			quoted := strconv.AppendQuoteToASCII(nil, text[i:i+1])
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		if len(out) > maxEscaped {
			return string(out[:from])
		}
	}
	return string(out)
}
