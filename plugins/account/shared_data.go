package account

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core"
)

// SharedData is a plugin with data of a user that other users share, such as organizations. The account page finds it
// in Config.Providers and Config.Plugins; there is nothing to configure.
type SharedData interface {
	// CheckDelete returns an error if the account must not be deleted now, and changes nothing. It is called when the
	// user asks for the deletion, and with Options.DeleteAfter again before the deletion. A *[core.Problem] is shown to
	// the user.
	CheckDelete(ctx context.Context, u *core.User) error
	// ForgetUser deletes the data, after Options.Delete and before the user is deleted. An error stops the deletion, and
	// ForgetUser is called again when the deletion is repeated.
	ForgetUser(ctx context.Context, u *core.User) error
}

// checkDelete calls CheckDelete of all plugins.
func checkDelete(ctx context.Context, h *core.PluginHost, u *core.User) error {
	return eachSharedData(h, func(s SharedData) error { return s.CheckDelete(ctx, u.Clone()) })
}

// forgetUser calls ForgetUser of all plugins.
func forgetUser(ctx context.Context, h *core.PluginHost, u *core.User) error {
	return eachSharedData(h, func(s SharedData) error { return s.ForgetUser(ctx, u.Clone()) })
}

func eachSharedData(h *core.PluginHost, do func(s SharedData) error) error {
	for _, plugin := range h.Plugins() {
		if shared, ok := plugin.(SharedData); ok {
			if err := do(shared); err != nil {
				return fmt.Errorf("account: shared data of %T: %w", plugin, err)
			}
		}
	}
	return nil
}
