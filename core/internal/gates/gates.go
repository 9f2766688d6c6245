// Package gates has the order of the sign-in gates of plugins, their names in pending sign-ins, and the loop that asks
// them.
package gates

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/actions"
)

// Ask asks a gate about a sign-in. next is the action that the sign-in must wait for. It is empty if the gate passes.
type Ask[S any] func(ctx context.Context, signIn S) (next string, err error)

// Gates are sign-in gates in the order in which they are asked.
type Gates[S any] []gate[S]

type gate[S any] struct {
	ask    Ask[S]
	plugin string
	number int // position among the plugin's gates
	final  bool
}

// Add adds a gate of a plugin, at the end, but before the final gates unless it is final itself.
func (g *Gates[S]) Add(plugin string, final bool, ask Ask[S]) {
	number, at := 0, len(*g)
	for _, other := range *g {
		if other.plugin == plugin {
			number++
		}
		if other.final && !final {
			at--
		}
	}
	*g = slices.Insert(*g, at, gate[S]{ask, plugin, number, final})
}

// Ask calls the gates without a name in released, until one returns an action. name is the name of that gate: its
// action and its position among the gates of its plugin, so that it stays valid in a process that has other plugins
// configured before this one. Each gate gets its own result of signIn.
func (g Gates[S]) Ask(
	ctx context.Context, owners *actions.Table, released []string, signIn func() S,
) (next, name string, err error) {
	for _, one := range g {
		number := strconv.Itoa(one.number)
		if slices.ContainsFunc(released, func(name string) bool {
			action, position, _ := strings.Cut(name, "#")
			return owners.Owner(action) == one.plugin && position == number
		}) {
			continue
		}
		next, err := one.ask(ctx, signIn())
		if err != nil || next != "" {
			return next, next + "#" + number, err
		}
	}
	return "", "", nil
}
