package ui

import (
	"strings"
	"testing"
)

// TestStyleFiles: every file is part of the stylesheet, and none is empty.
func TestStyleFiles(t *testing.T) {
	t.Parallel()
	files, err := styleFiles.ReadDir("assets/style")
	if err != nil || len(files) != len(styleNames) {
		t.Errorf("%d files and %d names (%v)", len(files), len(styleNames), err)
	}
	for _, name := range styleNames {
		if text := styleText(name); text == "" || !strings.Contains(stylesheet, text) {
			t.Errorf("%s is empty, or not in the stylesheet", name)
		}
	}
}

// TestDarkIsDark: pages that are always dark and pages that follow the user's system have the same dark colors.
func TestDarkIsDark(t *testing.T) {
	t.Parallel()
	colors := func(name string) string {
		text := styleText(name)
		return text[strings.Index(text, "--paper") : strings.Index(text, "}")+1]
	}
	if dark, auto := colors("dark"), colors("auto"); dark != auto {
		t.Errorf("dark.css and auto.css:\n%s\n%s", dark, auto)
	}
}
