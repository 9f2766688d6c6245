package ui

import "slices"

// column is the number of plain buttons that fit below each other with full labels. More buttons are shown in two
// columns with names only, so that a form below them stays on the screen.
const column = 4

// pair marks the buttons for two columns. If their number is odd, the last one has its own line.
func pair(blocks []block) {
	for len(blocks) > 0 {
		run := slices.IndexFunc(blocks, func(b block) bool { return b.hasForm() })
		if run < 0 {
			run = len(blocks)
		}
		for i := range run - run%2 {
			blocks[i].paired = run > column
		}
		blocks = blocks[min(run+1, len(blocks)):]
	}
}

func (b block) isPaired() bool { return b.paired }
