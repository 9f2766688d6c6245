package password

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// Import stores the hash of a user's password unchanged. The hash must be argon2id in the PHC string format, or known
// to a Verifier of Options.LegacyHashes. Unsalted MD5 and SHA-1 are rejected even if a Verifier knows them.
//
// Import returns core.ErrConflict if the user has a password, which stays; so an import can be repeated. It returns
// core.ErrNotFound if there is no such user.
//
// Import does not verify the email address. If EmailVerified is zero, the password may be an attacker's. It becomes
// invalid when the address is verified in another way, for example by a sign-in link, and the owner then chooses a new
// one.
func (p *Provider) Import(ctx context.Context, userID, encoded string) error {
	m, err := p.onlyManagement()
	if err != nil {
		return err
	}
	hash, err := m.hashes.admit(encoded)
	if err != nil {
		return err
	}
	user, err := userByID(ctx, m.users, userID)
	switch {
	case err != nil:
		return err
	case user == nil:
		return fmt.Errorf("password: import for user %q: %w", userID, core.ErrNotFound)
	}
	if err := m.passwords.set(ctx, user.ID, hash, isUnproved(user), nil); err != nil {
		return fmt.Errorf("password: import for user %q: %w", userID, err)
	}
	return nil
}

// SendReset emails a user a link to choose a new password. It lets an administrator help a user without learning or
// setting the password. It requires Config.URL. It returns core.ErrNotFound if there is no such user or the user has no
// address.
func (p *Provider) SendReset(ctx context.Context, userID string) error {
	m, err := p.onlyManagement()
	if err != nil {
		return err
	}
	user, err := userByID(ctx, m.users, userID)
	switch {
	case err != nil:
		return err
	case user == nil || user.Email == "":
		return fmt.Errorf("password: reset for user %q: %w", userID, core.ErrNotFound)
	}
	token, err := m.links.newToken()
	if err != nil {
		return err
	}
	link, err := m.host.URL(ID+"/reset", "token", token)
	if err != nil {
		return fmt.Errorf("password: reset: %w", err)
	}
	l := core.Email{
		Kind: mailkind.Reset, URL: core.Secret(link), Host: hostOf(link), Theme: m.host.Theme, Locale: m.host.Locale,
	}
	return m.links.mail(ctx, user, token, l)
}

// ResetLink returns a link to choose a new password, for a user without an email address. An administrator who has
// verified who the user is gives it to them. It works once, and expires after Options.ResetTTL. It requires Config.URL.
// It returns [core.ErrNotFound] if there is no such user, and an error if the user has an address: use SendReset.
func (p *Provider) ResetLink(ctx context.Context, userID string) (core.Secret, error) {
	m, err := p.onlyManagement()
	if err != nil {
		return "", err
	}
	user, err := userByID(ctx, m.users, userID)
	switch {
	case err != nil:
		return "", err
	case user == nil:
		return "", fmt.Errorf("password: reset for user %q: %w", userID, core.ErrNotFound)
	case user.Email != "":
		return "", fmt.Errorf("password: reset for user %q: the user has an email address: use SendReset", userID)
	}
	token, err := m.links.newToken()
	if err != nil {
		return "", err
	}
	link, err := m.host.URL(ID+"/reset", "token", token)
	if err == nil {
		_, err = (&resetEmail{resetLinks: m.links, token: token}).write(ctx, user)
	}
	if err != nil {
		return "", fmt.Errorf("password: reset: %w", err)
	}
	return core.Secret(link), nil
}

// Remove deletes a user's password and reset links. The user then signs in with another method or requests a reset.
// Sessions stay valid; call core.Auth.EndSessions to end them. It returns core.ErrNotFound if the user has no password.
func (p *Provider) Remove(ctx context.Context, userID string) error {
	m, err := p.onlyManagement()
	if err != nil {
		return err
	}
	if _, err := m.records.DeleteRecord(ctx, kindPassword, userID); err != nil {
		return fmt.Errorf("password: remove the password of user %q: %w", userID, err)
	}
	if _, err := m.records.DeleteUserRecords(ctx, userID, kindReset); err != nil {
		return fmt.Errorf("password: remove the links of user %q: %w", userID, err)
	}
	return nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// mail stores a link and sends it. If sending fails, the link is deleted.
func (l *resetLinks) mail(ctx context.Context, user *core.User, token string, email core.Email) error {
	e := &resetEmail{resetLinks: l, token: token, email: email}
	email, err := e.write(ctx, user)
	if err != nil {
		return err
	}
	if err := l.emails.send(ctx, email); err != nil {
		e.undo(context.WithoutCancel(ctx))
		return err
	}
	return nil
}

// PepperUse counts the stored passwords by the ID of their pepper. The ID "" counts those without one, with the hashes
// of other systems. A pepper of Options.Peppers that is missing in the result is no longer needed. PepperUse reads all
// passwords, page by page: call it before you remove a pepper, not in a request. The store must implement
// store.RecordLister; otherwise the error matches [core.ErrMissingStoreMethods].
func (p *Provider) PepperUse(ctx context.Context) (map[string]int, error) {
	m, err := p.onlyManagement()
	if err != nil {
		return nil, err
	}
	return m.pepperUse(ctx, -1)
}

// pepperUse counts the passwords of at most that many pages, or of all pages if pages is negative.
func (m *management) pepperUse(ctx context.Context, pages int) (map[string]int, error) {
	lister := m.host.RecordLister
	if lister == nil {
		return nil, fmt.Errorf("password: count the peppers: %w", core.ErrMissingStoreMethods)
	}
	counts := map[string]int{}
	for cursor := ""; pages != 0; pages-- {
		records, next, err := lister.ListRecords(ctx, kindPassword, "", cursor, store.MaxPage)
		if err != nil {
			return nil, fmt.Errorf("password: count the peppers: %w", err)
		}
		for _, r := range records {
			var s secret
			if err := json.Unmarshal(r.Value, &s); err != nil {
				return nil, fmt.Errorf("password: decode the record of user %q: %w", r.UserID, err)
			}
			id, _ := splitPepper(string(s.Hash))
			counts[id]++
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	return counts, nil
}

// The limits of what Advise reads.
const (
	advisePages = 20
	adviseTime  = 10 * time.Second
)

// Advise calls report for each weakness of the configuration, with its fix. Package doctor calls it after New. It reads
// a part of the stored passwords, and reports peppers that they need and Options.Peppers does not contain.
func (p *Provider) Advise(report func(what, fix string)) {
	m, err := p.onlyManagement()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), adviseTime)
	defer cancel()
	counts, err := m.pepperUse(ctx, advisePages)
	if err != nil { // the doctor has a check of the store
		return
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		if _, err := m.hashes.peppers.apply(id, nil); err != nil {
			report(fmt.Sprintf("%d users cannot sign in with their passwords, which need the pepper %q", counts[id], id),
				"add the pepper to password.Options.Peppers again, after the newest one")
		}
	}
}
