package core

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

const (
	// recordMethod is the kind of the records that contain the time when a sign-in method was added. The key is the ID
	// of the method. They expire after methodRecent.
	recordMethod = "method"
	methodRecent = 31 * 24 * time.Hour
)

type methodNote struct {
	Added int64 `json:"at"` // Unix seconds
}

func accountMethodID(a *Account) string {
	return publicID("account " + a.Provider + " " + a.ProviderAccountID)
}

func passkeyMethodID(credentialID string) string { return publicID("passkey " + credentialID) }

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
		if err := h.plugins.removeMethod(ctx, &m); err != nil {
			return removed, errorf(ErrStore, "remove a sign-in method: %w", err)
		}
		removed = append(removed, m)
	}
	return removed, nil
}

// RemovedMethods returns the sign-in methods that [ActionRequest.MarkEmailVerified] removed in this request.
func (c *ActionRequest) RemovedMethods() []SignInMethod { return slices.Clone(c.unlinked) }

func (ps *plugins) signInMethods(ctx context.Context, userID string) (all []SignInMethod, err error) {
	s := ps.auth.store
	var accounts []*Account
	if s.accounts != nil {
		accounts, err = s.accounts.Accounts(ctx, userID)
		if err != nil {
			return nil, errorf(ErrStore, "list the accounts of a user: %w", err)
		}
	}
	var keys []*store.Authenticator
	if s.passkeys != nil {
		keys, err = s.passkeys.Authenticators(ctx, userID)
		if err != nil {
			return nil, errorf(ErrStore, "list the passkeys of a user: %w", err)
		}
	}
	added, err := ps.addedAt(ctx, userID)
	if err != nil {
		return nil, errorf(ErrStore, "list the records of sign-in methods: %w", err)
	}
	for _, a := range accounts {
		if a.Type == TypeWebAuthn || a.Type == TypeEmail {
			continue
		}
		m := ps.accountMethod(a)
		m.Added = added[m.ID]
		all = append(all, m)
	}
	for _, k := range keys {
		m := SignInMethod{ID: passkeyMethodID(k.CredentialID), Passkey: true, credential: k.CredentialID}
		m.Added = added[m.ID]
		for _, a := range accounts {
			if a.Type == TypeWebAuthn && a.ProviderAccountID == k.ProviderAccountID {
				m.Provider, m.Name = a.Provider, ps.providerName(a.Provider)
				m.accounts = append(m.accounts, a)
			}
		}
		if len(m.accounts) > 0 { // a passkey without its account cannot sign in
			all = append(all, m)
		}
	}
	return all, nil
}

func (ps *plugins) accountMethod(a *Account) SignInMethod {
	return SignInMethod{
		ID: accountMethodID(a), Provider: a.Provider, Name: ps.providerName(a.Provider), accounts: []*Account{a},
	}
}

func (ps *plugins) providerName(id string) string {
	if p := ps.auth.byID[id]; p != nil && p.name != "" {
		return p.name
	}
	return id
}

// addedAt returns when the recent sign-in methods of a user were added, by ID.
func (ps *plugins) addedAt(ctx context.Context, userID string) (map[string]time.Time, error) {
	records := ps.auth.store.records
	if records == nil {
		return nil, nil
	}
	list, err := records.UserRecords(ctx, userID, recordMethod)
	added := make(map[string]time.Time, len(list))
	for _, r := range list {
		var note methodNote
		if json.Unmarshal(r.Value, &note) == nil && r.Expires.After(ps.now()) {
			added[r.Key] = time.Unix(note.Added, 0)
		}
	}
	return added, err
}

// noteMethod records that a sign-in method was added now. The method works without the record, so a failure is only
// logged.
func (ps *plugins) noteMethod(ctx context.Context, v *arrival, userID, id string) {
	records := ps.auth.store.records
	if ps.ends == "" || records == nil {
		return
	}
	now := ps.now()
	value, err := json.Marshal(methodNote{now.Unix()})
	if err == nil {
		r := &store.Record{Kind: recordMethod, Key: id, UserID: userID, Value: value, Expires: now.Add(methodRecent)}
		err = records.CreateRecord(ctx, r)
		if errors.Is(err, ErrConflict) { // the method was added before, and removed since
			if _, err = records.DeleteRecord(ctx, recordMethod, id); err == nil || errors.Is(err, ErrNotFound) {
				err = records.CreateRecord(ctx, r)
			}
		}
	}
	if err != nil {
		v.log.failure(ctx, errorf(ErrStore, "record when a sign-in method was added: %w", err), v.attrs()...)
	}
}

// removeMethod removes the method's accounts before its passkey, because a passkey without its account cannot sign in.
func (ps *plugins) removeMethod(ctx context.Context, m *SignInMethod) error {
	s := ps.auth.store
	for _, a := range m.accounts {
		err := s.accounts.UnlinkAccount(ctx, a.Provider, a.ProviderAccountID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	if m.Passkey && s.unkey != nil {
		err := s.unkey.DeleteAuthenticator(ctx, m.credential)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	if s.records == nil {
		return nil
	}
	_, err := s.records.DeleteRecord(ctx, recordMethod, m.ID)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
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
