//go:build ignore

// Command common_gen adds the words on standard input, one on each line, to common.bin. It ignores the rest of a line,
// such as a frequency, and words of fewer than four characters:
//
//	go run common_gen.go <passwords.txt
package main

import (
	"bufio"
	"crypto/sha256"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

func main() {
	kept, err := os.ReadFile("common.bin")
	if err != nil {
		panic(err)
	}
	var all []string
	for entry := range slices.Chunk(kept, 5) {
		all = append(all, string(entry))
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		word, _, _ := strings.Cut(lines.Text(), " ")
		if utf8.RuneCountInString(word) < 4 {
			continue
		}
		sum := sha256.Sum256([]byte(strings.ToLower(word)))
		all = append(all, string(sum[:5]))
	}
	slices.Sort(all)
	if err := os.WriteFile("common.bin", []byte(strings.Join(slices.Compact(all), "")), 0o600); err != nil {
		panic(err)
	}
}
