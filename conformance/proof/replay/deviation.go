package main

import (
	"fmt"
	"regexp"
	"slices"
)

// deviation is a scenario with intentional differences, and their reason. Any other difference is an error, and so is a
// listed difference that does not occur. The differences are those of the first step that has any.
type deviation struct {
	Reason      string   `json:"reason"`
	Differences []string `json:"differences"`
}

var random = []struct {
	shape *regexp.Regexp
	name  string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`[A-Za-z0-9_-]{20,}\.\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`), "<jwe>"},
	{regexp.MustCompile(`\b[0-9a-f]{64}%7C[0-9a-f]{64}\b`), "<csrf cookie>"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "<hex64>"},
	{regexp.MustCompile(`(^|[^A-Za-z0-9_-])[A-Za-z0-9_-]{43}($|[^A-Za-z0-9_-])`), "${1}<random>${2}"},
	{regexp.MustCompile(`(\?flow=|form-answer\.)[A-Za-z0-9_-]{8}`), "${1}<tag>"},
	{regexp.MustCompile(`reference\\":\\"[0-9a-z]{8}\\"`), `reference\":\"<code>\"`},
}

// compare compares the actual differences with the expected ones.
func (d deviation) compare(came []string) (diffs []string) {
	for i, line := range came {
		for _, r := range random {
			line = r.shape.ReplaceAllString(line, r.name)
		}
		came[i] = line
	}
	if slices.Equal(came, d.Differences) {
		return nil
	}
	for _, line := range came {
		if !slices.Contains(d.Differences, line) {
			diffs = append(diffs, "not listed in deviations.json: "+line)
		}
	}
	for _, line := range d.Differences {
		if !slices.Contains(came, line) {
			diffs = append(diffs, "listed in deviations.json and gone: "+line)
		}
	}
	if diffs == nil {
		diffs = []string{fmt.Sprintf("the differences came in another order: %q", came)}
	}
	return diffs
}
