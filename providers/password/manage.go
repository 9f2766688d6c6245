package password

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// management is what programs do to the passwords of one Auth.
type management struct {
	host      *core.Host
	users     core.Store
	records   store.RecordStore
	passwords *passwords
	hashes    *hasher
	links     *resetLinks
}

// managed is that of the Auth that a program means which names none.
func (p *Provider) managed() (*management, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch all := p.live(); len(all) {
	case 0:
		return nil, errors.New("password: the provider is in no configuration yet: call core.New with it first")
	case 1:
		return all[0], nil
	}
	return nil, errors.New("password: the provider is in several configurations: make one for each of them")
}

// Import takes the hash of a user's password along, verbatim: an argon2id hash in the PHC string format, or one that
// a Verifier of Options.Import knows. Hashes of MD5 and SHA-1 without salt are refused whatever a Verifier says.
// core.ErrConflict: the user has a password already, which stays, so that an import can be repeated.
// core.ErrNotFound: there is no such user. Import proves no address. Where EmailVerified is zero the password may be
// a stranger's: it is good until somebody proves the address, by a link for example, and then its owner chooses
// another.
func (p *Provider) Import(ctx context.Context, userID, encoded string) error {
	m, err := p.managed()
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

// SendReset mails a user a link to choose a new password, which is what an administrator may do: to see or to set one
// is not. The link is of Config.URL, which has to be set. core.ErrNotFound: there is no such user, or they have no
// address.
func (p *Provider) SendReset(ctx context.Context, userID string) error {
	m, err := p.managed()
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
	l := core.Letter{
		Kind: core.LetterReset, URL: core.Secret(link), Host: hostOf(link), Theme: m.host.Theme, Locale: m.host.Locale,
	}
	return m.links.mail(ctx, user, token, l)
}

// Remove takes a user's password away, with the links to choose another; they sign in another way then, or ask for a
// reset. Sessions go on: core.Auth.EndSessions ends them. core.ErrNotFound: the user has none.
func (p *Provider) Remove(ctx context.Context, userID string) error {
	m, err := p.managed()
	if err != nil {
		return err
	}
	if _, err := m.records.DeleteRecord(ctx, kindPassword, userID); err != nil {
		return fmt.Errorf("password: remove that of user %q: %w", userID, err)
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
