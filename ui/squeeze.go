package ui

import "strings"

// Scripts and stylesheets travel in each page. They are written for readers, and sent without indentation and comments:
// lines of a script stay lines, so that nothing in it comes to mean something else.

// squeezedScript is a script without indentation, blank lines and lines that are a comment. No text of it spans lines.
func squeezedScript(source string) string {
	out := make([]byte, 0, len(source))
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") {
			out = append(append(out, line...), '\n')
		}
	}
	return string(out)
}

// squeezedStyle is a stylesheet without indentation, comments, and the blanks and marks that separate nothing.
func squeezedStyle(source string) string {
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
		}
		return append(append(append(dst, name...), ':'), shorter.Replace(value)...)
	}
	return append(dst, line...)
}

// shorter leaves out of a value the blank behind a comma and the zero of a fraction. No text of ours has such in it.
var shorter = strings.NewReplacer(", 0.", ",.", ", ", ",", " 0.", " .", "(0.", "(.")

const propertyLetters = "abcdefghijklmnopqrstuvwxyz-"
