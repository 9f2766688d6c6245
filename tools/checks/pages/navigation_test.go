package pages

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// navigation is the list of pages of the documentation site.
const navigation = "docs/.vitepress/navigation.json"

// TestNavigation: each page in docs is in the navigation of the documentation site once, in one of at most eight
// groups, and no two pages have the same title.
func TestNavigation(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(top, navigation))
	if err != nil {
		t.Fatal(err)
	}
	var groups []struct {
		Text  string
		Pages []string
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		t.Fatal(err)
	}
	if len(groups) > 8 {
		t.Errorf("%s has %d groups: readers find their way in at most eight", navigation, len(groups))
	}
	if n := medianLines(t, groups[0].Pages); n > 150 {
		t.Errorf("the pages that a new user reads first have %d lines (median), at most 150: %s", n, groups[0].Pages)
	}
	if n := medianLines(t, []string{"../README.md"}); n > 150 {
		t.Errorf("README.md has %d lines, at most 150", n)
	}
	listed := map[string]int{}
	for _, g := range groups {
		for _, file := range g.Pages {
			listed["docs/"+file]++
		}
	}
	titles := map[string]string{}
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.path, "docs/") || p.path == "docs/index.md" { // the landing page
			continue
		}
		if n := listed[p.path]; n != 1 {
			t.Errorf("%s is %d times in %s: add it to a group, so that readers find it", p.path, n, navigation)
		}
		delete(listed, p.path)
		title := ""
		for _, l := range p.lines {
			if strings.HasPrefix(l.text, "# ") && title == "" {
				title = l.text
			}
		}
		if other := titles[title]; other != "" {
			t.Errorf("%s and %s have the same title: %q", p.path, other, title)
		}
		titles[title] = p.path
	}
	for file := range listed {
		t.Errorf("%s lists %s, which does not exist", navigation, file)
	}
}

// medianLines returns the median of the lines of pages in docs, the longer one of two.
func medianLines(t *testing.T, files []string) int {
	t.Helper()
	var lines []int
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(top, "docs", file))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Count(string(raw), "\n"))
	}
	slices.Sort(lines)
	return lines[len(lines)/2]
}
