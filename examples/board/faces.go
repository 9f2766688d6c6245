package main

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// initials returns the first letters of the first two words of a name.
func initials(name string) string {
	var out strings.Builder
	for i, word := range strings.Fields(name) {
		if r, _ := utf8.DecodeRuneInString(word); i < 2 {
			out.WriteRune(r)
		}
	}
	return strings.ToUpper(out.String())
}

// tint returns the CSS class of a user's colour. The Content-Security-Policy forbids inline styles.
func tint(name string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // Write of a hash never fails
	return fmt.Sprint("tint-", sum.Sum32()%6)
}

// usage returns a command that uses the API.
func usage(site, token string) string {
	return "curl " + site + "/api/cards -H 'Authorization: Bearer " + token + "'\n\n" +
		"curl " + site + "/api/cards -H 'Authorization: Bearer " + token + "' \\\n" +
		"  --json '{\"title\": \"Written by a program\"}'"
}
