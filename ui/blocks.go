package ui

import "cmp"

// titled is a page with a title.
func titled(page Page, heading string) Page {
	page.Title = cmp.Or(page.Title, heading)
	return page
}
