package ui

import (
	"fmt"
	"strconv"
	"strings"
)

// Mark is a provider's logo, drawn inline, so that it needs no request. Shapes without a color use the text color: a
// black logo is white on a dark page.
type Mark struct {
	// Side is the side length of the square that contains the shapes, from 0,0. The default is 24.
	Side int
	// Shapes are drawn in this order, on top of each other.
	Shapes []Shape
}

// Shape is a filled part of a [Mark].
type Shape struct {
	// Path is the outline, as in the d attribute of a path element (SVG 2, section 9.3).
	Path string
	// Fill is a CSS color with the rules of [Theme].BrandColor. The default is the text color.
	Fill string
}

// maxMark is the maximum size of a mark's path data, because every page with the mark contains it.
const maxMark = 16 << 10

// viewBox returns the viewBox attribute of the svg element.
func (m *Mark) viewBox() string {
	side := m.Side
	if side <= 0 {
		side = 24
	}
	return "0 0 " + strconv.Itoa(side) + " " + strconv.Itoa(side)
}

// drawable reports whether there is a valid mark.
func (m *Mark) drawable() bool { return m != nil && m.fault() == "" }

// fault returns the error in the mark, or "".
func (m *Mark) fault() string {
	if m.Side < 0 || len(m.Shapes) == 0 {
		return "has no shape or no square: set Side to the side of the viewBox, or 0 for 24, and Shapes to the paths"
	}
	size := 0
	for _, s := range m.Shapes {
		size += len(s.Path)
		switch {
		case !safePath(s.Path):
			return fmt.Sprintf("has the path %q: use the value of the attribute d of an SVG path", truncate(s.Path))
		case s.Fill != "" && !safeColor(s.Fill):
			return fmt.Sprintf("has the color %q: use #rrggbb, a color name or a color function", truncate(s.Fill))
		}
	}
	if size > maxMark {
		return fmt.Sprintf("has %d bytes of paths, but the maximum is %d: use a picture as Logo", size, maxMark)
	}
	return ""
}

// safePath reports whether s contains only characters of path data and starts like it.
func safePath(s string) bool {
	const first, all = "Mm", "MmZzLlHhVvCcSsQqTtAaEe0123456789+-., \n"
	return s != "" && strings.Contains(first, s[:1]) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(all, r) })
}
