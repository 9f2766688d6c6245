// Package admin is a plugin for administrators and support: they find users, look at their sign-in methods and
// sessions, end sessions, ban users, and help users who cannot sign in.
//
//	admins := admin.New(admin.Options{Guard: func(ctx context.Context, s *core.Session) error {
//		if !isAdmin(s.UserID) {
//			return core.ErrForbidden
//		}
//		return nil
//	}})
//	auth, err := core.New(core.Config{Plugins: []core.Plugin{admins}, Store: store, …})
//
// The page is <base path>/admin, with the same operations as JSON. The application chooses who may use it: without
// [Options].Guard, core.New returns a configuration error. Every change needs a recent sign-in and a reason, and
// Config.Audit receives an event with the IDs of both users.
//
// A ban ends the sessions, the refresh tokens and the API keys of a user, and refuses new ones, in all processes and
// under both session strategies. A check of a session costs no query more than without the plugin.
package admin
