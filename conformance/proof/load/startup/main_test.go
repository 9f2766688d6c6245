package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMain also runs the measured program, because report starts its own executable.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-serve") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestReport measures one start of each kind, and checks the report, not the times.
func TestReport(t *testing.T) {
	var out strings.Builder
	if err := report(t.Context(), &out, 1, 640); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines: %s", len(lines), out.String())
	}
	for _, line := range lines[1:] {
		figures := strings.Fields(line)
		if figures[len(figures)-1] == "0.0" || figures[len(figures)-2] == "0.0" {
			t.Errorf("nothing was measured: %s", line)
		}
	}
}

// TestFailures: a program that does not respond is an error.
func TestFailures(t *testing.T) {
	if err := ask(t.Context(), "http://127.0.0.1:1/"); err == nil {
		t.Error("a missing response counted as a response")
	}
	if _, err := memory(-1); err == nil {
		t.Error("a process that is not there has memory")
	}
}
