package ui

import "testing"

// TestRulesThatCanMatch has each kind of rule of a stylesheet, on a page that is a paragraph.
func TestRulesThatCanMatch(t *testing.T) {
	t.Parallel()
	on := words(`<p class="card" dir="ltr">say(p.dataset.who)</p>`)
	for _, row := range []struct{ name, css, want string }{
		{"a class", ".card{a:b}.gone{a:b}", ".card{a:b}"},
		{"an element", "p{a:b}table{a:b}", "p{a:b}"},
		{"an attribute", `[dir="other"]{a:b}[aria-busy]{a:b}`, `[dir="other"]{a:b}`},
		{"an attribute of a script", "[data-who]{a:b}", "[data-who]{a:b}"},
		{"several", ".gone,p,.card .gone,p > .card{a:b}", "p,p > .card{a:b}"},
		{"all of them gone", ".gone,.gone p{a:b}p{c:d}", "p{c:d}"},
		{"a state", ".card:hover{a:b}p::before,.gone::before{a:b}", ".card:hover{a:b}p::before{a:b}"},
		{"behind a state", ".card:hover .gone{a:b}", ""},
		{"a choice", ":is(h1,h2).card{a:b}:is(h1,h2).gone,p{a:b}", ":is(h1,h2).card{a:b}p{a:b}"},
		{"a negation", "p:not(.gone,.lost){a:b}", "p:not(.gone,.lost){a:b}"},
		{"everything", "*,::before{a:b}", "*,::before{a:b}"},
		{"a condition", "@media (a: b){.gone{a:b}p{c:d}}@media (a: b){.gone{a:b}}", "@media (a: b){p{c:d}}"},
		{"a movement", "@keyframes busy{from{a:b}}", "@keyframes busy{from{a:b}}"},
	} {
		if got := on.rulesOf(row.css); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
