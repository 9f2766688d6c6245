package main

import (
	"fmt"
	"hash/fnv"
	"strings"
	"unicode/utf8"
)

// initials are the first letters of the first two words of a name.
func initials(name string) string {
	var out strings.Builder
	for i, word := range strings.Fields(name) {
		if r, _ := utf8.DecodeRuneInString(word); i < 2 {
			out.WriteRune(r)
		}
	}
	return strings.ToUpper(out.String())
}

// tint is the class of somebody's colour. A style in the page is what the Content-Security-Policy forbids.
func tint(name string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // a hash never fails to be written to
	return fmt.Sprint("tint-", sum.Sum32()%6)
}

// usage is what to type to use the API.
func usage(site, token string) string {
	return "curl " + site + "/api/cards -H 'Authorization: Bearer " + token + "'\n\n" +
		"curl " + site + "/api/cards -H 'Authorization: Bearer " + token + "' \\\n" +
		"  --json '{\"title\": \"Written by a program\"}'"
}
