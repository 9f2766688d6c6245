package doctor

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/latchkey-go/latchkey/core"
)

// State is the result of a check.
type State string

// States of a line.
const (
	// OK means that the check found no problem.
	OK State = "ok"
	// Wrong means that users cannot sign in, or are not safe, until the problem is fixed.
	Wrong State = "wrong"
	// Unknown means that doctor could not decide, or that only the operator knows.
	Unknown State = "unknown"
)

// Version is the version of a [Report]'s JSON. A later release may add members. Changed or removed members increase the
// version.
const Version = 1

// Line is one finding.
type Line struct {
	// Check names the subject: "secrets", "origin", "cookies", "store", or "provider" with an ID ("provider github").
	Check string `json:"check"`
	State State  `json:"state"`
	// What describes the finding. Fix is the remedy, if State is not OK. Each is one line without secrets.
	What string `json:"what"`
	Fix  string `json:"fix,omitempty"`
}

// Report lists all findings in the order of the checks. The zero value is an empty report.
type Report struct {
	// Version is the version of the JSON format.
	Version int    `json:"version"`
	Lines   []Line `json:"lines"`

	hidden []string
}

// Wrong reports whether the state of any line is Wrong.
func (r *Report) Wrong() bool {
	for _, l := range r.Lines {
		if l.State == Wrong {
			return true
		}
	}
	return false
}

// String formats the report for a terminal: a line for each finding with its fix below it, and a summary.
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

// JSON returns the report as indented JSON: {"version": 1, "lines": [{"check", "state", "what", "fix"}]}.
func (r *Report) JSON() []byte {
	out, _ := json.MarshalIndent(r, "", "  ") // a Report contains only texts and cannot fail
	return append(out, '\n')
}

// Merge appends the lines of another report.
func (r *Report) Merge(other *Report) { r.Lines = append(r.Lines, other.Lines...) }

// longest is the maximum length in bytes of a text in a line.
const longest = 600

func (r *Report) add(check string, state State, what, fix string) {
	r.Lines = append(r.Lines, Line{r.plain(check), state, r.plain(what), r.plain(fix)})
}

func (r *Report) ok(check, format string, args ...any) {
	r.add(check, OK, fmt.Sprintf(format, args...), "")
}

// hide removes these secrets from all later lines. It ignores secrets shorter than six bytes, because ordinary texts
// may contain them.
func (r *Report) hide(secrets ...core.Secret) {
	for _, s := range secrets {
		if len(s) >= 6 {
			r.hidden = append(r.hidden, string(s))
		}
	}
}

// plain returns text as one printable line of limited length without secrets. Other programs wrote parts of it, and the
// report is printed to a terminal: control characters (also C1) could send it commands, and bidirectional overrides
// could reorder the text. Therefore plain removes unprintable characters.
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
