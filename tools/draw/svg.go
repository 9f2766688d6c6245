package main

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Sizes are in pixels. The assumed width of a character is larger than that of most.
const (
	letter  = 7
	rowTall = 46
	head    = 64
	margin  = 12
	least   = 170
)

// style contains colors for light and dark pages, because a picture does not inherit the colors of its page.
const style = `<style>
text { font: 13px system-ui, sans-serif; fill: #1c1917 } .name { font-weight: 600 }
.lane { stroke: #a8a29e; stroke-dasharray: 3 4 } .go { stroke: #0f766e } .tip { fill: #0f766e }
.box { fill: #f5f5f4; stroke: #a8a29e } .note { fill: #fef9c3; stroke: #ca8a04 } .answer { stroke-dasharray: 6 4 }
@media (prefers-color-scheme: dark) {
text { fill: #f5f5f4 } .box { fill: #292524; stroke: #78716c } .note { fill: #422006; stroke: #a16207 }
.go { stroke: #5eead4 } .tip { fill: #5eead4 } .lane { stroke: #57534e } }
</style>
`

func wide(text string) int { return letter*utf8.RuneCountInString(text) + 2*margin }

// lane returns the distance between actors, so that the longest text between two of them fits.
func (p *picture) lane() int {
	lane := least
	for _, s := range p.steps {
		apart := max(s.to-s.from, s.from-s.to)
		if apart == 0 { // its box may overlap the lines next to it
			apart = 2
		}
		lane = max(lane, wide(s.text)/apart)
	}
	return lane
}

func (p *picture) svg() string {
	lane := p.lane()
	width, height := lane*len(p.actors)+2*margin, head+rowTall*len(p.steps)+margin
	at := func(actor int) int { return margin + lane/2 + lane*actor }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n%s", html.EscapeString(p.title), style)
	for i, name := range p.actors {
		x, w := at(i), wide(name)
		fmt.Fprintf(&b, `<line class="lane" x1="%d" y1="44" x2="%d" y2="%d"/>`+"\n", x, x, height-margin/2)
		fmt.Fprintf(&b, `<rect class="box" x="%d" y="12" width="%d" height="32" rx="6"/>`+"\n", x-w/2, w)
		label(&b, "name", x, 33, name)
	}
	for i, s := range p.steps {
		y := head + rowTall*i + rowTall/2
		if s.from == s.to {
			w := wide(s.text)
			fmt.Fprintf(&b, `<rect class="note" x="%d" y="%d" width="%d" height="28" rx="4"/>`+"\n", at(s.from)-w/2, y-14, w)
			label(&b, "", at(s.from), y+5, s.text)
			continue
		}
		arrow(&b, at(s.from), at(s.to), y+8, s.answer)
		label(&b, "", (at(s.from)+at(s.to))/2, y, s.text)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func label(b *strings.Builder, class string, x, y int, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(b, `<text%s x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", class, x, y, html.EscapeString(text))
}

func arrow(b *strings.Builder, from, to, y int, answer bool) {
	class, tip := "go", 8
	if answer {
		class += " answer"
	}
	if to < from {
		tip = -8
	}
	fmt.Fprintf(b, `<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", class, from, y, to-tip, y)
	fmt.Fprintf(b, `<path class="tip" d="M%d %d l%d -4 v8 z"/>`+"\n", to, y, -tip)
}
