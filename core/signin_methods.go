package core

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/signinmethods"
)

// SignInMethods lists the linked accounts and the passkeys of a user, in the order of the store. It does not list
// passwords and sign-in links.
func (h *PluginHost) SignInMethods(ctx context.Context, userID string) ([]SignInMethod, error) {
	return h.plugins.signInMethods(ctx, userID)
}

// RemoveSignInMethods calls remove for each linked account and passkey of a user, removes the method if remove returns
// true, and returns the removed methods. After an error some may have been removed. It does not protect the last
// sign-in method, and it sends no emails: see [ActionRequest.NotifyChange].
func (h *PluginHost) RemoveSignInMethods(
	ctx context.Context, userID string, remove func(SignInMethod) bool,
) (removed []SignInMethod, err error) {
	all, err := h.plugins.signInMethods(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if !remove(m) {
			continue
		}
		if err := h.plugins.methods().Remove(ctx, &m.method); err != nil {
			return removed, errorf(ErrStore, "remove a sign-in method: %w", err)
		}
		removed = append(removed, m)
	}
	return removed, nil
}

// RemovedMethods returns the sign-in methods that [ActionRequest.MarkEmailVerified] removed in this request.
func (c *ActionRequest) RemovedMethods() []SignInMethod { return slices.Clone(c.unlinked) }

func (ps *plugins) signInMethods(ctx context.Context, userID string) (all []SignInMethod, err error) {
	found, err := ps.methods().List(ctx, userID)
	if err != nil {
		return nil, errorf(ErrStore, "%w", err)
	}
	for _, m := range found {
		all = append(all, ps.namedMethod(m))
	}
	return all, nil
}

func (ps *plugins) methods() *signinmethods.Methods {
	s := &ps.auth.store
	return &signinmethods.Methods{
		Accounts: s.Accounts, Passkeys: s.Passkeys, Deleter: s.PasskeyDeleter, Records: s.Records, Now: ps.now,
	}
}

func (ps *plugins) namedMethod(m signinmethods.Method) SignInMethod {
	return SignInMethod{
		ID: m.ID, Provider: m.Provider, Name: ps.providerName(m.Provider), Passkey: m.Passkey, Added: m.Added, method: m,
	}
}

func (ps *plugins) providerName(id string) string {
	if p := ps.auth.byID[id]; p != nil && p.name != "" {
		return p.name
	}
	return id
}

// noteMethod records that a sign-in method was added now. The method works without the record, so a failure is only
// logged.
func (ps *plugins) noteMethod(ctx context.Context, v *arrival, userID, id string) {
	if ps.ends == "" {
		return
	}
	if err := ps.methods().Note(ctx, userID, id); err != nil {
		v.log.failure(ctx, errorf(ErrStore, "record when a sign-in method was added: %w", err), v.attrs()...)
	}
}

// AddPasswordReset registers the plugin's functions that start a password reset. start does it in the browser of a
// request, without an email, and returns the URL of the page where the user chooses a password. link returns an action
// with its query for an email to the user, and its expiry. It returns [ErrNotFound] if the user has no password.
func (h *PluginHost) AddPasswordReset(
	start func(ctx context.Context, c *ActionRequest, userID string) (url string, err error),
	link func(ctx context.Context, userID string) (action string, expires time.Time, err error),
) {
	h.attaching("AddPasswordReset")
	h.plugins.reset, h.plugins.noticeLinks.Reset = start, link
}

// StartPasswordReset starts a password reset in this browser with the function of [PluginHost.AddPasswordReset]. Call
// it only if this request has verified that the user can read their mailbox. It returns the URL of the page where the
// user chooses a password, or "" if no plugin stores passwords.
func (c *ActionRequest) StartPasswordReset(ctx context.Context, userID string) (url string, err error) {
	if c.in.r.Method != "POST" {
		return "", errors.New("core: ActionRequest.StartPasswordReset: a GET action cannot start a reset")
	}
	if c.plugins.reset == nil {
		return "", nil
	}
	return c.plugins.reset(ctx, c, userID)
}
