//go:build ignore

// Command common_gen writes common.bin from a list of words on standard input, one a line:
//
//	go run common_gen.go <words.txt
package main

import (
	"bufio"
	"crypto/sha256"
	"os"
	"slices"
	"strings"
)

func main() {
	var all []string
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		sum := sha256.Sum256([]byte(strings.ToLower(lines.Text())))
		all = append(all, string(sum[:5]))
	}
	slices.Sort(all)
	if err := os.WriteFile("common.bin", []byte(strings.Join(slices.Compact(all), "")), 0o600); err != nil {
		panic(err)
	}
}
