package ui

import "slices"

// column is how many plain buttons stand one below the other, with whole sentences. More than these stand in two
// columns, with the names alone to see, so that a form beneath them is still on the screen.
const column = 4

// pair marks the buttons that stand in two columns. The last of an odd number has a line of its own.
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
