package ui

import "strings"

// Pages contain or load scripts and stylesheets, which are served without indentation and comments. Scripts keep their
// lines, so that minification cannot change their meaning.

// minifyScript removes indentation, blank lines and comment lines from a script. No string in it spans lines.
func minifyScript(source string) string {
	out := make([]byte, 0, len(source))
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") {
			out = append(append(out, line...), '\n')
		}
	}
	return string(out)
}

// minifyStyle removes indentation, comments, and redundant spaces and semicolons from a stylesheet.
func minifyStyle(source string) string {
	out := make([]byte, 0, len(source))
	for source != "" {
		before, rest, commented := strings.Cut(source, "/*")
		if commented {
			_, rest, _ = strings.Cut(rest, "*/")
		}
		source = rest
		for line := range strings.Lines(before) {
			out = appendStyle(out, strings.TrimSpace(line))
		}
	}
	return string(out)
}

func appendStyle(dst []byte, line string) []byte {
	if line == "" {
		return dst
	}
	if n := len(dst); n > 0 && strings.IndexByte("{};,", dst[n-1]) < 0 {
		dst = append(dst, ' ')
	} else if n > 0 && dst[n-1] == ';' && line == "}" {
		dst = dst[:n-1]
	}
	if selector, opens := strings.CutSuffix(line, " {"); opens {
		return append(append(dst, selector...), '{')
	}
	if name, value, declares := strings.Cut(line, ": "); declares && strings.Trim(name, propertyLetters) == "" {
		if strings.HasPrefix(value, "0.") {
			value = value[1:]
		} else if fraction, negative := strings.CutPrefix(value, "-0."); negative {
			value = "-." + fraction
		}
		return append(append(append(dst, name...), ':'), shorter.Replace(value)...)
	}
	return append(dst, line...)
}

// shorter removes the space after a comma and the zero before a decimal point. No text in the stylesheet contains
// these.
var shorter = strings.NewReplacer(", 0.", ",.", ", ", ",", " 0.", " .", "(0.", "(.")

const propertyLetters = "abcdefghijklmnopqrstuvwxyz-"
