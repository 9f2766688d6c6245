package core

import (
	"context"
	"slices"
)

// AddUserCheck registers a function that decides whether a user may get a new session or credential now. It returns an
// error of type [ErrAccessDenied] if not. Core calls it after it has stored a new session and before the response
// contains it: at each sign-in, in [Auth.NewSession] and in [ActionRequest.RenewSession]. Plugins call it with
// [PluginHost.CheckUser]. After an error the session is deleted.
//
// A plugin that bans users needs both a sign-in gate and a user check. A ban can be stored after the gate has passed
// and before the session exists, so that ending the user's sessions does not end this one.
func (h *PluginHost) AddUserCheck(check func(ctx context.Context, userID string) error) {
	h.attaching("AddUserCheck")
	h.needs(check != nil, "the function of AddUserCheck")
	h.plugins.checks = append(h.plugins.checks, check)
}

// CheckUser calls the functions of [PluginHost.AddUserCheck] and returns their first error. A plugin calls it after it
// has stored a new credential of a user, such as an API key, and deletes the credential if there is an error. Without
// such functions it returns nil and reads nothing.
func (h *PluginHost) CheckUser(ctx context.Context, userID string) error {
	return h.plugins.checkUser(ctx, userID)
}

func (ps *plugins) checkUser(ctx context.Context, userID string) error {
	for _, check := range ps.checks {
		if err := guard("user check", func() error { return check(ctx, userID) }); err != nil {
			return err
		}
	}
	return nil
}

// AddUserData registers data that the plugin has stored about users.
func (h *PluginHost) AddUserData(d UserData) {
	h.attaching("AddUserData")
	h.needs(d.Read != nil, "UserData.Read")
	h.plugins.userData = append(h.plugins.userData, d)
}

// UserData returns what plugins have registered with [PluginHost.AddUserData], in the order of the plugins. Call it
// after New has returned. The caller may modify the slice.
func (h *PluginHost) UserData() []UserData { return slices.Clone(h.plugins.userData) }
