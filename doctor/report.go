package doctor

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/latchkey-go/latchkey/core"
)

// State is what an examination has found.
type State string

// The states.
const (
	// OK: it is as it should be.
	OK State = "ok"
	// Wrong: people cannot sign in, or are not safe, until it is mended.
	Wrong State = "wrong"
	// Unknown: it could not be found out, or only the operator knows.
	Unknown State = "unknown"
)

// Version is that of the JSON of a [Report]. A later one may add members; one that changes or removes members has
// another number.
const Version = 1

// Line is one finding.
type Line struct {
	// Check is what was examined: "secrets", "origin", "cookies", "store", or "provider" and an id, "provider github".
	Check string `json:"check"`
	State State  `json:"state"`
	// What was found, and for lines that are not ok what to do; one line each, without secrets.
	What string `json:"what"`
	Fix  string `json:"fix,omitempty"`
}

// Report lists all findings in the order of the examination. Its zero value is empty.
type Report struct {
	// Version is that of the JSON.
	Version int    `json:"version"`
	Lines   []Line `json:"lines"`

	hidden []string
}

// Wrong reports whether a line is.
func (r *Report) Wrong() bool {
	for _, l := range r.Lines {
		if l.State == Wrong {
			return true
		}
	}
	return false
}

// String is the report for a terminal: a line for each finding, its fix beneath it, and a summary.
func (r *Report) String() string {
	var b strings.Builder
	width, count := 0, map[State]int{}
	for _, l := range r.Lines {
		width, count[l.State] = max(width, len(l.Check)), count[l.State]+1
	}
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "%-7s  %-*s  %s\n", l.State, width, l.Check, l.What)
		if l.Fix != "" {
			fmt.Fprintf(&b, "%-7s  %-*s  → %s\n", "", width, "", l.Fix)
		}
	}
	fmt.Fprintf(&b, "\n%d ok, %d wrong, %d unknown\n", count[OK], count[Wrong], count[Unknown])
	return b.String()
}

// JSON is the report for programs: {"version": 1, "lines": [{"check", "state", "what", "fix"}]}, indented.
func (r *Report) JSON() []byte {
	out, _ := json.MarshalIndent(r, "", "  ") // texts alone
	return append(out, '\n')
}

// Merge adds the lines of another report.
func (r *Report) Merge(other *Report) { r.Lines = append(r.Lines, other.Lines...) }

// longest is how much of a text that others have written a line repeats, in bytes.
const longest = 600

func (r *Report) add(check string, state State, what, fix string) {
	r.Lines = append(r.Lines, Line{r.plain(check), state, r.plain(what), r.plain(fix)})
}

func (r *Report) ok(check, format string, args ...any) {
	r.add(check, OK, fmt.Sprintf(format, args...), "")
}

// hide keeps a secret out of all lines to come. What is shorter than six bytes is a word that texts may have.
func (r *Report) hide(secrets ...core.Secret) {
	for _, s := range secrets {
		if len(s) >= 6 {
			r.hidden = append(r.hidden, string(s))
		}
	}
}

// plain makes a text one bounded line without secrets. What others have written goes to a terminal, which takes orders
// from controls, C1 among them, and shows text behind an override in another order: only what can be printed stays.
func (r *Report) plain(text string) string {
	for _, secret := range r.hidden {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	unprintable := func(c rune) bool { return !unicode.IsPrint(c) }
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\n"), unprintable), " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}
