package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// evidence is the group of pages that users do not need: proofs, measurements, and pages for contributors.
const evidence = "Evidence"

// words returns the number of words of the pages in dir, and of README.md next to it. It does not count code blocks and
// the pages of the group Evidence in dir/.vitepress/navigation.json.
func words(dir string) (n int, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, ".vitepress/navigation.json"))
	if err != nil {
		return 0, err
	}
	var groups []struct {
		Text  string
		Pages []string
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		return 0, err
	}
	var omitted []string
	for _, g := range groups {
		if g.Text == evidence {
			omitted = g.Pages
		}
	}
	if len(omitted) == 0 {
		return 0, fmt.Errorf("navigation.json has no group %q", evidence)
	}
	paths := []string{filepath.Join(dir, "../README.md")}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir)+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (d.Name() == "node_modules" || d.Name()[0] == '.'):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md" && !slices.Contains(omitted, name):
			paths = append(paths, path)
		}
		return nil
	})
	for _, path := range paths {
		text, failed := os.ReadFile(path)
		n, err = n+wordsOf(string(text)), errors.Join(err, failed)
	}
	return n, err
}

// wordsOf returns the number of words of a page outside of code blocks. A text without letters and digits, such as a
// dash, is no word.
func wordsOf(page string) (n int) {
	fence := ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		opens := ""
		for _, mark := range []string{"```", "~~~"} {
			if strings.HasPrefix(line, mark) {
				opens = mark
			}
		}
		switch {
		case fence != "":
			if opens == fence {
				fence = ""
			}
		case opens != "":
			fence = opens
		default:
			for word := range strings.FieldsSeq(line) {
				if strings.ContainsFunc(word, isAlnum) {
					n++
				}
			}
		}
	}
	return n
}

func isAlnum(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
