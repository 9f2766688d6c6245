// Package guest is a plugin for guests: users who try the application without an email address and without a sign-in
// method.
//
//	guests := guest.New(guest.Options{})
//	auth, err := core.New(core.Config{
//		Plugins: []core.Plugin{guests}, Store: store,
//		Callbacks: core.Callbacks{Merge: func(ctx context.Context, guest, existing *core.User) error {
//			return orders.Move(ctx, guest.ID, existing.ID)
//		}},
//	})
//
// The sign-in page has the button "Continue as guest", which posts to <base path>/guest. A guest who signs up with any
// method keeps the user ID. If the account belongs to an existing user, Callbacks.Merge is called until it succeeds,
// and the guest is deleted. In both cases the sessions of the guest end, and the browser gets a new one.
//
// Pages that require an account use the guard [Guests.NotGuest]. Actions of other plugins that require a session, such
// as the account page and API keys, refuse guests.
package guest
