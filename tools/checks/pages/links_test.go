package pages

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`(?:\]\(<?|(?:src|srcset)=")([^)>"\s]*)`)
	inline  = regexp.MustCompile("`[^`]*`")
	heading = regexp.MustCompile(`^#{1,6} +(.+?)\s*#*$`)
	// dropped matches the characters that GitHub omits from the anchor of a heading.
	dropped = regexp.MustCompile(`[^\p{L}\p{N}\p{M}_ -]`)
	target  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors returns the anchors of a page's headings, as GitHub creates them.
func anchors(p page) map[string]bool {
	known, seen := map[string]bool{}, map[string]int{}
	for _, l := range p.lines {
		m := heading.FindStringSubmatch(l.text)
		if m == nil || l.language != "" {
			continue
		}
		slug := target.ReplaceAllString(m[1], "$1")
		slug = strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(slug), ""), " ", "-")
		if n := seen[slug]; n > 0 {
			known[slug+"-"+strconv.Itoa(n)] = true
		}
		seen[slug]++
		known[slug] = true
	}
	return known
}

// deadLinks returns the links of a page whose target in the repository does not exist. It does not check web addresses.
func deadLinks(p page, byPath map[string]page) []string {
	var out []string
	for i, l := range p.lines {
		if l.language != "" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(l.text, ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, ":") {
				continue
			}
			to := p.path
			if file != "" {
				to = path.Join(path.Dir(p.path), file)
			}
			at := p.path + ":" + strconv.Itoa(i+1) + ": " + m[1]
			other, known := byPath[to]
			if _, err := os.Stat(filepath.Join(top, to)); err != nil && !known {
				out = append(out, at+" is not there")
			} else if anchor != "" && (!known || !anchors(other)[anchor]) {
				out = append(out, at+" is no heading of "+to)
			}
		}
	}
	return out
}

func TestLinks(t *testing.T) {
	t.Parallel()
	byPath, links := map[string]page{}, 0
	for _, p := range pages(t) {
		byPath[p.path] = p
		for _, l := range p.lines {
			links += len(link.FindAllString(l.text, -1))
		}
	}
	for _, p := range byPath {
		for _, wrong := range deadLinks(p, byPath) {
			t.Error(wrong)
		}
	}
	if links < 200 {
		t.Errorf("only %d links were found", links)
	}
}

func TestDeadLinksAreFound(t *testing.T) {
	t.Parallel()
	other := page{"docs/other.md", read("# Two words, and `code`\n## Twice\n## Twice\n```\n# no heading\n```")}
	for _, c := range []struct {
		name, text string
		dead       int
	}{
		{"a page", "[x](other.md)", 0},
		{"a heading", "[x](other.md#two-words-and-code)", 0},
		{"the second of two headings", "[x](other.md#twice-1)", 0},
		{"a heading of the same page", "# Here\n[x](#here)", 0},
		{"an address on the web", "[x](https://example.com/a#b)", 0},
		{"a link in code", "`[x](gone.md)`\n```\n[x](gone.md)\n```", 0},

		{"a page that is not there", "[x](gone.md)", 1},
		{"a heading that is not there", "[x](other.md#three)", 1},
		{"a line of a block is no heading", "[x](other.md#no-heading)", 1},
		{"a heading that is not on the same page", "[x](#there)", 1},
		{"two in a line", "[x](gone.md), [y](#there)", 2},
		{"pictures for light and dark", `<source srcset="gone.png"><img alt="x" src="gone.gif">`, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := page{"docs/page.md", read(c.text)}
			dead := deadLinks(p, map[string]page{p.path: p, other.path: other})
			if len(dead) != c.dead {
				t.Errorf("%d found, want %d: %v", len(dead), c.dead, dead)
			}
		})
	}
}
