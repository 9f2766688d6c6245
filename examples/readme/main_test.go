package main

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsThisProgram checks that the README's first program is main.go, which compiles.
func TestReadmeShowsThisProgram(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(program), "\npackage main")
	if !strings.Contains(string(readme), "package main"+shown) {
		t.Error("the README's first program is not examples/readme/main.go")
	}
}
