package ui

import "cmp"

// withTitle returns page with heading as its default title.
func withTitle(page Page, heading string) Page {
	page.Title = cmp.Or(page.Title, heading)
	return page
}
