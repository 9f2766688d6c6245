package ui

import (
	"strings"
	"testing"
)

// TestStyleFiles: every file is a block, and none is empty, which would leave out the style of its pages.
func TestStyleFiles(t *testing.T) {
	t.Parallel()
	files, err := styleFiles.ReadDir("assets/style")
	if err != nil || len(files) != len(styleNames) || styleEnd != 1<<len(styleNames) {
		t.Errorf("%d files and %d names of blocks (%v)", len(files), len(styleNames), err)
	}
	for i, text := range styleTexts {
		if text == "" {
			t.Errorf("%s is empty", styleNames[i])
		}
	}
}

// TestDarkIsDark: a page that is always dark, and one that is where the visitor's system is, have the same colours.
func TestDarkIsDark(t *testing.T) {
	t.Parallel()
	colours := func(made styles) string {
		text := strings.Join(made.texts(), "")
		return text[strings.Index(text, "--paper") : strings.Index(text, "}")+1]
	}
	if dark, auto := colours(styleDark), colours(styleAuto); dark != auto {
		t.Errorf("dark.css and auto.css:\n%s\n%s", dark, auto)
	}
}
