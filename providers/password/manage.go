package password

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// management lets programs manage the passwords of one Auth.
type management struct {
	host      *core.PluginHost
	users     core.Store
	records   store.RecordStore
	passwords *passwords
	hashes    *hasher
	links     *resetLinks
	names     *usernames // nil without Options.Usernames
}

// onlyManagement returns the management of the provider's only Auth.
func (p *Provider) onlyManagement() (*management, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch all := p.liveManagement(); len(all) {
	case 0:
		return nil, errors.New("password: the provider has no Auth yet: call core.New first")
	case 1:
		return all[0], nil
	}
	return nil, errors.New("password: the provider belongs to several Auths: call New for each of them")
}

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
	if err := m.passwords.set(ctx, user.ID, hash, user.EmailVerified.IsZero(), nil); err != nil {
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
