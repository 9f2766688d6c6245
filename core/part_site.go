package core

import (
	"context"
	"errors"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// ProviderInfo is what anybody may know of a configured provider, as GET providers tells it.
type ProviderInfo struct {
	// ID is the provider's, Name what people call it.
	ID, Name string
	// Type is its kind.
	Type ProviderType
}

// Providers are the configured providers, those of parts among them, in the order of the sign-in page. They are known
// once New has returned. The slice is the caller's.
func (h *Host) Providers() []ProviderInfo {
	all := make([]ProviderInfo, len(h.Auth.providers))
	for i, p := range h.Auth.providers {
		all[i] = ProviderInfo{ID: p.id, Name: p.name, Type: p.kind}
	}
	return all
}

// URL is the absolute address of an action outside of a request, for letters that a program sends: Config.URL, the
// base path and the action, with parameters as names and values. An error: Config.URL is not set, so nobody knows the
// origin.
func (h *Host) URL(action string, query ...string) (string, error) {
	if !h.Auth.site.pinned {
		return "", errors.New("core: the address of this site is known while a request is answered and not otherwise: " +
			"set Config.URL or AUTH_URL")
	}
	return weburl.AddQuery(h.Auth.site.pinnedOrigin+h.Auth.site.publicBase+"/"+action, query...)
}

// SignOut ends the visitor's session and has the browser forget it, as POST signout does: the browser is signed out
// whatever the store says, which the error repeats.
func (c *Call) SignOut(ctx context.Context) error {
	if c.in.r.Method != "POST" {
		return errGetSignsIn
	}
	_ = c.in.session.settle(ctx) // what it finds wrong, end finds again
	_, err := c.parts.auth.sessions.end(ctx, &c.in.session)
	c.forgetSession(ctx)
	return err
}

// forgetSession has the browser delete its session cookies.
func (c *Call) forgetSession(ctx context.Context) {
	c.session, c.read, c.failed = nil, true, nil
	c.cookies = append(c.in.session.clear(), c.parts.auth.sessions.away.forget(ctx, &c.in.arrival)...)
}

// EndSessions ends sessions of the user who is signed in, as [Auth.EndSessions] does. If the current session is one of
// them, the browser is signed out as well. It needs an action of POST. Requirements and errors are those of
// Auth.EndSessions.
func (c *Call) EndSessions(ctx context.Context, o EndOptions) (ended int, err error) {
	if c.in.r.Method != "POST" {
		return 0, errGetSignsIn
	}
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return 0, err
	case session == nil:
		return 0, errNobody("EndSessions")
	}
	list, ended, err := c.parts.auth.endSessions(ctx, session.UserID, o)
	switch {
	case err != nil || o.Except != "" || o.One != "" && o.One != session.ID:
		return ended, err
	case slices.ContainsFunc(list, func(s listedSession) bool { return session.ID != "" && s.ID == session.ID }):
		c.forgetSession(ctx)
		return ended, nil
	}
	if err := c.SignOut(ctx); err != nil { // the session has ended, and the cookies go all the same
		c.parts.auth.log.failure(ctx, asError(err, ErrSignOut), c.in.attrs()...)
	}
	return ended, nil
}

// UpdatedUser tells the application that a user was changed in the store, by Events.UpdateUser. before is the user as
// they were: if they are the current user and their address was changed or verified, [Call.Reissue] updates the session
// token.
func (c *Call) UpdatedUser(ctx context.Context, before, after *User) {
	verified := before.EmailVerified.IsZero() && !after.EmailVerified.IsZero()
	if before.Email != after.Email || verified {
		c.moved = movedAddress{true, before.Email, after.Email, !after.EmailVerified.IsZero()}
	}
	c.parts.entry.linker.events.updatedUser(ctx, &c.in.arrival, after)
}
