package gates

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/actions"
)

// asked is a sign-in that records which gates were asked.
type asked struct{ gates *[]string }

// newGates returns gates of two plugins with the actions "first" and "second". Each gate has an answer by its name.
func newGates(answers map[string]string) (Gates[*asked], *actions.Table) {
	var gates Gates[*asked]
	add := func(plugin, name string, final bool) {
		gates.Add(plugin, final, func(_ context.Context, s *asked) (string, error) {
			*s.gates = append(*s.gates, name)
			if answers[name] == "fails" {
				return "", errors.New("failed")
			}
			return answers[name], nil
		})
	}
	add("plugin 1", "1a", false)
	add("plugin 1", "final", true)
	add("plugin 2", "2a", false)
	add("plugin 2", "last", true)
	add("plugin 1", "1b", false)
	table := &actions.Table{}
	table.Add("plugin 1", "first", "", "GET")
	table.Add("plugin 2", "second", "", "GET")
	return gates, table
}

// TestAsk checks the order of the gates, the skipped ones, and that the first action or error ends the loop.
func TestAsk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		about, released   string
		answers           map[string]string
		asked, next, name string
		fails             bool
	}{
		{about: "all pass", asked: "1a 2a 1b final last"},
		{about: "one holds", answers: map[string]string{"2a": "second"}, asked: "1a 2a", next: "second", name: "second#0"},
		{about: "one fails", answers: map[string]string{"2a": "fails"}, asked: "1a 2a", fails: true},
		{
			about: "the second gate of a plugin", answers: map[string]string{"1b": "first"}, asked: "1a 2a 1b",
			next: "first", name: "first#2",
		},
		{about: "a gate has passed", released: "first#0", asked: "2a 1b final last"},
		{about: "two gates have passed", released: "first#1 second#0", asked: "1a 1b last"},
		{about: "the gate of a plugin that was removed", released: "gone#0", asked: "1a 2a 1b final last"},
		{about: "a position that no gate has", released: "first#9 first", asked: "1a 2a 1b final last"},
	} {
		gates, table := newGates(test.answers)
		var names []string
		seen := map[*asked]bool{}
		next, name, err := gates.Ask(t.Context(), table, strings.Fields(test.released), func() *asked {
			s := &asked{&names}
			seen[s] = true
			return s
		})
		if (err != nil) != test.fails || next != test.next || err == nil && name != test.name {
			t.Errorf("%s: %q, %q, %v", test.about, next, name, err)
		}
		if !slices.Equal(names, strings.Fields(test.asked)) || len(seen) != len(names) {
			t.Errorf("%s: asked %q about %d sign-ins", test.about, names, len(seen))
		}
	}
}
