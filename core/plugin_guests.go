package core

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/store"
)

// AllowGuests allows guests: users without an email address and without a sign-in method, whom the plugin creates with
// [PluginHost.CreateGuest]. If a guest signs in with an account that no user has, the guest becomes that user and keeps
// the ID. If the account belongs to another user, [Callbacks].Merge is called and the guest is deleted. In both cases
// all sessions of the guest end.
//
// AllowGuests also calls TrackAuthentication and EndsSessions. The store must be a store.Transactor, store.RecordStore,
// store.RecordLister and store.UserDeleter, and under StrategyDatabase a store.SessionLister.
func (h *PluginHost) AllowGuests(o GuestOptions) {
	h.TrackAuthentication()
	h.EndsSessions()
	if h.plugins.guests != nil {
		h.fault("another plugin allows guests: remove one of them")
		return
	}
	if h.Records() != nil && (h.Transactor == nil || h.RecordLister == nil || h.UserDeleter == nil ||
		h.Strategy == StrategyDatabase && h.SessionLister == nil) {
		h.fault("guests need a Store that implements store.Transactor, store.RecordLister, store.UserDeleter and, under " +
			"StrategyDatabase, store.SessionLister: use one of the stores of Latchkey")
	}
	h.AllowUsersWithoutEmail()
	if o.MaxAge <= 0 {
		h.fault("MaxAge of guests is %v: it must be positive", o.MaxAge)
	}
	o.Actions = slices.Clone(o.Actions)
	g := &guests{GuestOptions: o, plugin: h.plugin, auth: h.Auth, now: h.Now}
	h.plugins.guests = g
	h.AddTask(g.run)
}

// AllowUsersWithoutEmail reports a configuration error if the store cannot contain users without an email address. Call
// it in Attach if the plugin creates such users.
func (h *PluginHost) AllowUsersWithoutEmail() {
	if s, ok := h.Auth.store.given.(interface{ RequiresEmail() bool }); ok && s.RequiresEmail() {
		h.fault("it creates users without an email address, and the column of the email address is NOT NULL: make the " +
			"column nullable and remove EmailRequired from the layout of the store")
	}
}

// checkGuests reports a configuration in which the sessions of a guest could not end.
func checkGuests(c *Config, ps *plugins, faults *ConfigError) {
	switch g := ps.guests; {
	case g == nil && c.Callbacks.Merge != nil:
		faults.add(ErrInvalidConfig, "Callbacks.Merge would never run: no plugin allows guests. Add plugins/guest, or "+
			"remove the callback")
	case g != nil && c.Session.Strategy == StrategyJWT && c.Session.Revocation.On == False:
		faults.add(ErrInvalidConfig, "%s: the sessions of a guest must end when the guest signs in, and "+
			"Session.Revocation.On is False: remove it, or use StrategyDatabase", g.plugin)
	case g != nil:
		g.merge = c.Callbacks.Merge
	}
}

// CreateGuest stores a new guest. Call it in [SignIn].Create, with SignIn.Guest.
func (h *PluginHost) CreateGuest(ctx context.Context) (user *User, err error) {
	g, st := h.plugins.guests, h.Auth.store
	if g == nil || st.tx == nil || st.records == nil {
		return nil, errors.New("core: PluginHost.CreateGuest: call AllowGuests in Attach")
	}
	id, err := uuid(h.Rand)
	if err != nil {
		return nil, err
	}
	value, err := json.Marshal(guestNote{Made: g.now().Unix()})
	if err != nil {
		return nil, err
	}
	err = st.tx.InTransaction(ctx, func(ctx context.Context, tx Store) (err error) {
		in := newStores(tx, st.watch, 0)
		if user, err = in.CreateUser(ctx, &User{ID: id, Null: store.NullEmail}); err != nil {
			return err
		}
		return in.records.CreateRecord(ctx, &store.Record{Kind: kindGuest, Key: user.ID, UserID: user.ID, Value: value})
	})
	if err != nil {
		return nil, errorf(ErrStore, "create a guest: %w", err)
	}
	return user, nil
}

// IsGuest reports whether a session is that of a guest. It reads nothing from the store.
func (h *PluginHost) IsGuest(s *Session) bool {
	return s != nil && slices.Contains(s.Methods, methodGuest)
}

// NotGuest returns a guard that refuses guests: a browser is redirected to the sign-in page and returns after the
// sign-in; other clients get a problem with the code "guest". It reads nothing from the store. It also refuses copies
// of a guest's session that have ended, in processes that do not know that yet.
func (h *PluginHost) NotGuest() Guard {
	return func(_ context.Context, s *Session) error {
		if h.IsGuest(s) {
			return errGuest
		}
		return nil
	}
}

// UpgradeGuest makes a guest a full user, within a transaction of the store: it sets the email address, fills in an
// empty name and image and missing further members from user, and ends the guest's sessions. Of concurrent calls one
// succeeds. The others return [ErrNotFound], because the user is no guest any more. The error is [ErrConflict] if
// another user has the email address. Call it in [SignIn].Upgrade.
func (h *PluginHost) UpgradeGuest(ctx context.Context, tx Store, guestID string, user *User) (*User, error) {
	g := h.plugins.guests
	in := newStores(tx, h.Auth.store.watch, 0)
	if g == nil || in.records == nil {
		return nil, ErrNotFound
	}
	return g.upgrade(ctx, in, guestID, user)
}
