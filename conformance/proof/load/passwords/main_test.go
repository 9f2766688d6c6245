package main

import (
	"os"
	"strings"
	"testing"
)

// TestPageShowsThisProgram: docs/passwords.md contains this program, which compiles.
func TestPageShowsThisProgram(t *testing.T) {
	program, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../../docs/passwords.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(program), "\npackage main")
	if !strings.Contains(string(page), "package main"+shown) {
		t.Error("the program of docs/passwords.md is not this one")
	}
}
