package ui

import (
	"slices"
	"strconv"
	"strings"
)

// safeRadius reports whether s is a valid border radius. Like colors, nothing else gets into a style element.
func safeRadius(s string) bool {
	if s == "0" {
		return true
	}
	number, most := strings.TrimSuffix(s, "rem"), 2.0
	if number == s {
		number, most = strings.TrimSuffix(s, "px"), 32
	}
	if number == s || strings.Trim(number, "0123456789.") != "" || len(number) > 6 {
		return false
	}
	n, err := strconv.ParseFloat(number, 64)
	return err == nil && n <= most
}

// genericFonts are the generic font families (CSS Fonts Level 4, section 2.1.3).
var genericFonts = []string{
	"serif", "sans-serif", "monospace", "system-ui", "ui-serif", "ui-sans-serif", "ui-monospace", "ui-rounded",
}

// fontFamilies returns a list of font families in CSS, with quoted names. ok is false for an invalid list. An empty
// list is valid.
func fontFamilies(list string) (css string, ok bool) {
	if list == "" {
		return "", true
	}
	if len(list) > 200 {
		return "", false
	}
	var families []string
	for family := range strings.SplitSeq(list, ",") {
		family = strings.TrimSpace(family)
		if family == "" || strings.ContainsFunc(family, notInFontName) {
			return "", false
		}
		if !slices.Contains(genericFonts, family) {
			family = `"` + family + `"`
		}
		families = append(families, family)
	}
	return strings.Join(families, ","), true
}

// notInFontName reports whether r is not allowed in the name of a font family.
func notInFontName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != ' ' && r != '-'
}

// logo returns the picture above the heading and the one for dark systems, or "".
func (t Theme) logo() (light, dark string) {
	light = t.Logo
	if !safeImage(light) {
		light = ""
	}
	if !safeImage(t.DarkLogo) {
		return light, ""
	}
	switch {
	case t.ColorScheme == schemeDark || light == "":
		return t.DarkLogo, ""
	case t.ColorScheme == schemeLight:
		return light, ""
	}
	return light, t.DarkLogo
}
