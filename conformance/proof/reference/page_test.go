// Package reference runs docs/reference.md: it makes what a row tells of, and compares what it sees with the row. That
// each name of the code has a row, and each row a name, tools/reference proves.
package reference

import (
	"os"
	"strings"
	"testing"
)

// cells are the rows of the tables of docs/reference.md by their first cell, without the first.
func cells(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for line := range strings.Lines(page(t)) {
		row := strings.Split(strings.TrimSpace(line), "|") // no cell has one
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
