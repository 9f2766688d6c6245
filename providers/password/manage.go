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
	"github.com/latchkey-go/latchkey/ui"
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
	m, user, err := p.managed(ctx, "import", userID)
	if err != nil {
		return err
	}
	hash, err := m.hashes.admit(encoded)
	if err != nil {
		return err
	}
	if err := m.passwords.set(ctx, user.ID, hash, isUnproved(user), nil); err != nil {
		return fmt.Errorf("password: import for user %q: %w", userID, err)
	}
	return nil
}

// managed returns the management of the provider's only Auth, and one of its users. The error of an unknown user
// contains what.
func (p *Provider) managed(ctx context.Context, what, userID string) (*management, *core.User, error) {
	m, err := p.onlyManagement()
	if err != nil {
		return nil, nil, err
	}
	user, err := userByID(ctx, m.users, userID)
	if err == nil && user == nil {
		err = fmt.Errorf("password: %s for user %q: %w", what, userID, core.ErrNotFound)
	}
	return m, user, err
}

// newLink creates a reset link and returns its URL.
func (m *management) newLink(ctx context.Context, user *core.User) (link string, record *store.Record, err error) {
	token, err := m.host.NewToken()
	if err != nil {
		return "", nil, err
	}
	if link, err = m.host.URL(ID+"/reset", "token", token); err != nil {
		return "", nil, fmt.Errorf("password: reset: %w", err)
	}
	record, err = m.links.create(ctx, user, token, false)
	return link, record, err
}

// SendReset emails a user a link to choose a new password. It lets an administrator help a user without learning or
// setting the password. It requires Config.URL. It returns core.ErrNotFound if there is no such user or the user has no
// address.
func (p *Provider) SendReset(ctx context.Context, userID string) error {
	m, user, err := p.managed(ctx, "reset", userID)
	switch {
	case err != nil:
		return err
	case user.Email == "":
		return fmt.Errorf("password: reset for user %q: %w", userID, core.ErrNotFound)
	}
	link, record, err := m.newLink(ctx, user)
	if err != nil {
		return err
	}
	email := core.Email{
		Kind: mailkind.Reset, To: user.Email, URL: core.Secret(link), Expires: record.Expires, Theme: m.host.Theme,
		Locale: m.host.Locale,
	}
	if u, err := url.Parse(link); err == nil {
		email.Host = u.Host
	}
	if err := email.Send(ctx, p.options.Mail); err != nil {
		m.links.drop(context.WithoutCancel(ctx), kindReset, record.Key)
		return err
	}
	return nil
}

// ResetLink returns a link to choose a new password, for a user without an email address. An administrator who has
// verified who the user is gives it to them. It works once, and expires after Options.ResetTTL. It requires Config.URL.
// It returns [core.ErrNotFound] if there is no such user, and an error if the user has an address: use SendReset.
func (p *Provider) ResetLink(ctx context.Context, userID string) (core.Secret, error) {
	m, user, err := p.managed(ctx, "reset", userID)
	switch {
	case err != nil:
		return "", err
	case user.Email != "":
		return "", fmt.Errorf("password: reset for user %q: the user has an email address: use SendReset", userID)
	}
	link, _, err := m.newLink(ctx, user)
	if err != nil {
		return "", err
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

// AccountSection implements account.Section: the username, the number of recovery codes, and links to the
// pages that change them.
func (p *Provider) AccountSection(ctx context.Context, c *core.ActionRequest) (*ui.PageSection, error) {
	if !p.options.Usernames.On {
		return nil, nil
	}
	m, err := p.onlyManagement()
	if err != nil {
		return nil, err
	}
	session, err := c.Session(ctx)
	if err != nil || session == nil {
		return nil, err
	}
	has, err := m.names.data(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	var codes recoverySection
	if has.RecoveryCodes != nil && has.Username != "" {
		codes = recoverySection{c.URL(ID + "/recovery-codes"), *has.RecoveryCodes}
	}
	return &ui.PageSection{
		ID: "username", Heading: c.Locale.Say(textUsernameLabel),
		Content: usernameSection(c.Locale, has.Username, c.URL(ID+"/username"), codes),
	}, nil
}

// recoverySection is the data of the recovery codes on the account page. url is empty if the user cannot have codes.
type recoverySection struct {
	url  string
	left int
}
