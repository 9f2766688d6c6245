package ui

import (
	"fmt"
	"strconv"
	"strings"
)

// Mark is the mark of a provider, drawn into the page itself: nothing is fetched for it, and what has no colour of its
// own takes that of the text, so that a black mark is white on a dark page.
type Mark struct {
	// Side is the length of the square from 0,0 that the shapes are in. Zero: 24.
	Side int
	// Shapes are drawn one over the other.
	Shapes []Shape
}

// Shape is a filled part of a [Mark].
type Shape struct {
	// Path is its outline, the value of the attribute d of a path element (SVG 2, section 9.3).
	Path string
	// Fill is its CSS colour, under the rules of [Theme].BrandColor. Empty: the colour of the text.
	Fill string
}

// maxMark is how much path data a mark may have: every page that shows it carries it.
const maxMark = 16 << 10

// viewBox is the square as the svg element has it.
func (m *Mark) viewBox() string {
	side := m.Side
	if side <= 0 {
		side = 24
	}
	return "0 0 " + strconv.Itoa(side) + " " + strconv.Itoa(side)
}

// drawable reports whether there is a mark, and all of it can be drawn.
func (m *Mark) drawable() bool { return m != nil && m.fault() == "" }

// fault says what is wrong with the mark.
func (m *Mark) fault() string {
	if m.Side < 0 || len(m.Shapes) == 0 {
		return "has no shape or no square to draw in: Side is 24 or what the viewBox of the drawing says, Shapes its paths"
	}
	size := 0
	for _, s := range m.Shapes {
		size += len(s.Path)
		switch {
		case !safePath(s.Path):
			return fmt.Sprintf("has the path %q: use the value of the attribute d of an SVG path", clip(s.Path))
		case s.Fill != "" && !safeColor(s.Fill):
			return fmt.Sprintf("has the colour %q: use #rrggbb, a colour name or a colour function", clip(s.Fill))
		}
	}
	if size > maxMark {
		return fmt.Sprintf("has %d bytes of paths: %d at most, or a picture as Logo", size, maxMark)
	}
	return ""
}

// safePath reports whether s is made of what path data is made of, and begins as path data has to.
func safePath(s string) bool {
	const first, all = "Mm", "MmZzLlHhVvCcSsQqTtAaEe0123456789+-., \n"
	return s != "" && strings.Contains(first, s[:1]) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(all, r) })
}
