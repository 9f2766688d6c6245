package ui

import "cmp"

// titled returns page with heading as its default title.
func titled(page Page, heading string) Page {
	page.Title = cmp.Or(page.Title, heading)
	return page
}
