package core

import (
	"context"
	"errors"

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
	c.session, c.read, c.failed = nil, true, nil
	c.cookies = append(c.in.session.clear(), c.parts.auth.sessions.away.forget(ctx, &c.in.arrival)...)
	return err
}

// UpdatedUser tells the application that a user was changed in the store, by Events.UpdateUser. before is the user as
// they were: where they are the visitor and have another address now, [Call.Reissue] writes it into a session token
// that holds the old one.
func (c *Call) UpdatedUser(ctx context.Context, before, after *User) {
	if before.Email != after.Email {
		c.moved = movedAddress{true, before.Email, after.Email, !after.EmailVerified.IsZero()}
	}
	c.parts.entry.linker.events.updatedUser(ctx, &c.in.arrival, after)
}
