// Package reference tests docs/reference.md: it creates what a row describes and compares the result.
// tools/checks/reference checks that each name in the code has a row, and the reverse.
package reference

import (
	"os"
	"strings"
	"testing"
)

// cells returns the rows of the tables in docs/reference.md by their first cell, without that cell.
func cells(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for line := range strings.Lines(page(t)) {
		row := strings.Split(strings.TrimSpace(line), "|") // no cell contains this character
		if len(row) < 4 || row[0] != "" {
			continue
		}
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		all[strings.Trim(row[1], "`")] = row[2 : len(row)-1]
	}
	if len(all) < 250 {
		t.Fatalf("%d rows", len(all))
	}
	return all
}

func page(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
