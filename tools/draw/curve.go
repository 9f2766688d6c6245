package main

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
)

// curves is a diagram with one line for each series of values. A .curve file has a line for each series:
//
//	title: What a page costs as the token grows
//	x: bytes of claims
//	y: CPU µs
//	page: 0 7, 500 27, 2000 57
//
// The y axis begins at 0. The line "scale: log" makes the x axis logarithmic. "from: NAME UNIT" names the benchmark and
// the unit of the values: "from: sessions p50-ns".
type curves struct {
	title, x, y string
	log         bool
	series      []series
}

type series struct {
	name   string
	points []point
}

type point struct{ x, y float64 }

func parseCurves(text string) (*curves, error) {
	c := &curves{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		name, what, found := strings.Cut(line, ": ")
		if !found || strings.TrimSpace(what) == "" {
			return nil, fmt.Errorf("line %d has no text: %q", i+1, line)
		}
		switch name {
		case "title":
			c.title = what
		case "x":
			c.x = what
		case "y":
			c.y = what
		case "scale":
			c.log = what == "log"
		case "from":
		default:
			points, err := parsePoints(what)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			c.series = append(c.series, series{name, points})
		}
	}
	if c.title == "" || len(c.series) == 0 {
		return nil, fmt.Errorf("no title, or no figures")
	}
	return c, nil
}

func parsePoints(text string) (points []point, err error) {
	for pair := range strings.SplitSeq(text, ", ") {
		var p point
		if n, err := fmt.Sscanf(pair, "%g %g", &p.x, &p.y); n != 2 || err != nil {
			return nil, fmt.Errorf("%q is not two numbers", pair)
		}
		points = append(points, p)
	}
	return points, nil
}

// Sizes in a diagram, in pixels.
const (
	plotWide, plotTall  = 560, 260
	plotLeft, plotAbove = 70, 56
	plotRight           = 150 // for the names of the series
	plotBelow           = 54
	ticks               = 4
)

// lines are the colors of the series. The names at the end of the lines identify them without colors.
var lines = []string{"#0f766e", "#b45309", "#7c3aed", "#be123c"}

func (c *curves) svg() string {
	all, most := c.measured(), point{}
	for _, s := range c.series {
		for _, p := range s.points {
			most.y = max(most.y, p.y)
		}
	}
	most.y = round(most.y)
	across := func(x float64) int { return plotLeft + int(plotWide*c.along(x, all)) }
	down := func(y float64) int { return plotAbove + plotTall - int(plotTall*y/most.y) }
	width, height := plotLeft+plotWide+plotRight, plotAbove+plotTall+plotBelow
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n%s", html.EscapeString(c.title), style)
	label(&b, "name", width/2, 22, c.title)
	label(&b, "", plotLeft, plotAbove-14, c.y)
	label(&b, "", plotLeft+plotWide/2, height-10, c.x)
	for i := range ticks + 1 {
		y := most.y * float64(i) / ticks
		fmt.Fprintf(&b, `<line class="lane" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n",
			plotLeft, down(y), plotLeft+plotWide, down(y))
		label(&b, "", plotLeft/2, down(y)+5, short(y))
	}
	for _, x := range c.stops() {
		label(&b, "", across(x), plotAbove+plotTall+20, short(x))
	}
	names := c.names(down)
	for i, s := range c.series {
		line(&b, s, lines[i%len(lines)], across, down)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n",
			across(s.points[len(s.points)-1].x)+8, names[i]+5, html.EscapeString(s.name))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// line draws a series.
func line(b *strings.Builder, s series, colour string, across, down func(float64) int) {
	var path []string
	for _, p := range s.points {
		path = append(path, fmt.Sprintf("%d,%d", across(p.x), down(p.y)))
		fmt.Fprintf(b, `<circle cx="%d" cy="%d" r="3" fill="%s"/>`+"\n", across(p.x), down(p.y), colour)
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n",
		strings.Join(path, " "), colour)
}

// names returns the vertical position of each series' name: next to the line's end, or higher to avoid an overlap.
func (c *curves) names(down func(float64) int) []int {
	const tall = 16
	all, order := make([]int, len(c.series)), make([]int, len(c.series))
	for i, s := range c.series {
		all[i], order[i] = down(s.points[len(s.points)-1].y), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b], all[a]) })
	for i, at := range order[min(1, len(order)):] {
		all[at] = min(all[at], all[order[i]]-tall)
	}
	return all
}

// measured returns the x values in ascending order.
func (c *curves) measured() (all []float64) {
	for _, s := range c.series {
		for _, p := range s.points {
			all = append(all, p.x)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// along returns the position of a value on the x axis, from 0 to 1. A logarithmic axis begins at the lowest value, a
// linear axis at 0.
func (c *curves) along(x float64, all []float64) float64 {
	lowest, highest := all[0], all[len(all)-1]
	if !c.log || lowest == highest {
		return x / highest
	}
	return (math.Log10(1+x) - math.Log10(1+lowest)) / (math.Log10(1+highest) - math.Log10(1+lowest))
}

// stops returns the labeled values of the x axis: the measured values, except those that would overlap.
func (c *curves) stops() (shown []float64) {
	all := c.measured()
	for _, x := range all {
		if n := len(shown); n == 0 || c.along(x, all)-c.along(shown[n-1], all) > 0.08 {
			shown = append(shown, x)
		}
	}
	return shown
}

// round returns the next larger number that can be divided into four steps.
func round(y float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(y)))
	for _, times := range []float64{1, 2, 4, 6, 8, 10} {
		if step*times >= y {
			return step * times
		}
	}
	return y
}

// short formats a number for a label.
func short(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e6, "M"}, {1e3, "k"}} {
		if n >= unit.size {
			return strconv.FormatFloat(n/unit.size, 'g', 3, 64) + unit.name
		}
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

// filled replaces the series in the .curve file called name by the results of benchmarks. The benchmarks have the name
// Growth/NAME/SERIES/X and the unit cpu-ns/op, unless the file has a "from" line. Nanoseconds are converted to
// microseconds. Of several results the best counts, because other programs only make a result worse: the largest for
// units that end in /s, otherwise the smallest.
func filled(text, name, benchmarks string) string {
	unit := "cpu-ns/op"
	for line := range strings.SplitSeq(text, "\n") {
		if from, found := strings.CutPrefix(line, "from: "); found {
			name, unit, _ = strings.Cut(from, " ")
		}
	}
	all := map[string][]point{}
	for line := range strings.SplitSeq(benchmarks, "\n") {
		if series, p, found := figure(line, name, unit); found {
			all[series] = append(all[series], p)
		}
	}
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		head, _, _ := strings.Cut(line, ":")
		if len(all) == 0 || slices.Contains(heads, head) {
			out = append(out, line)
		}
	}
	better := 1
	if strings.HasSuffix(unit, "/s") {
		better = -1
	}
	for series, points := range all {
		slices.SortFunc(points, func(a, b point) int {
			return cmp.Or(cmp.Compare(a.x, b.x), better*cmp.Compare(a.y, b.y))
		})
		points = slices.CompactFunc(points, func(a, b point) bool { return a.x == b.x }) // keeps the best of each
		pairs := make([]string, 0, len(points))
		for _, p := range points {
			pairs = append(pairs, strconv.FormatFloat(p.x, 'f', -1, 64)+" "+strconv.FormatFloat(p.y, 'f', -1, 64))
		}
		out = append(out, series+": "+strings.Join(pairs, ", "))
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return strings.Join(out, "\n") + "\n"
}

// figure returns the result in a line of this benchmark, in this unit.
func figure(line, name, unit string) (series string, p point, found bool) {
	fields := strings.Fields(line)
	at := slices.Index(fields, unit)
	if at < 1 {
		return "", p, false
	}
	parts := strings.Split(strings.TrimPrefix(fields[0], "BenchmarkGrowth/"), "/")
	if len(parts) != 3 || parts[0] != name {
		return "", p, false
	}
	number, _, _ := strings.Cut(parts[2], "-") // the suffix is the number of processors
	x, bad := strconv.ParseFloat(number, 64)
	y, worse := strconv.ParseFloat(fields[at-1], 64)
	if strings.HasSuffix(unit, "-ns") || strings.HasSuffix(unit, "-ns/op") {
		y = math.Round(y/100) / 10
	}
	return strings.ReplaceAll(parts[1], "_", " "), point{x, y}, bad == nil && worse == nil
}

// heads are the keys of the lines of a .curve file that are not series.
var heads = []string{"title", "x", "y", "scale", "from"}

// place returns the sort key of a .curve file's line: the heads first, then the series by name.
func place(line string) string {
	head, _, _ := strings.Cut(line, ":")
	if n := slices.Index(heads, head); n >= 0 {
		return strconv.Itoa(n)
	}
	return "9" + head
}
