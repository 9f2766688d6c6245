package password

import (
	"context"
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/core"
)

// longestHash bounds what Import takes.
const longestHash = 4096

// Import takes the hash of a user's password along, verbatim: an argon2id hash in the PHC string format, or one that
// a Verifier of Options.Import knows. Hashes of MD5 and SHA-1 without salt are refused whatever a Verifier says.
// core.ErrConflict: the user has a password already, which stays, so that an import can be repeated.
// core.ErrNotFound: there is no such user. Import proves no address. Where EmailVerified is zero the password may be
// a stranger's: it is good until somebody proves the address, by a link for example, and then its owner chooses
// another.
func (p *Provider) Import(ctx context.Context, userID, encoded string) error {
	s, err := p.one()
	if err != nil {
		return err
	}
	if err := s.importable(encoded); err != nil {
		return err
	}
	user, err := s.user(ctx, userID)
	switch {
	case err != nil:
		return err
	case user == nil:
		return fmt.Errorf("password: import for user %q: %w", userID, core.ErrNotFound)
	}
	if err := s.set(ctx, s.records, user.ID, s.setFor(encoded, user.EmailVerified.IsZero()), nil); err != nil {
		return fmt.Errorf("password: import for user %q: %w", userID, err)
	}
	return nil
}

// importable returns why a hash is not taken along. It does not repeat it.
func (s *service) importable(encoded string) error {
	switch {
	case len(encoded) > longestHash:
		return fmt.Errorf("password: import: the hash is longer than %d bytes", longestHash)
	case unsalted(encoded):
		return errors.New("password: import: the hash is MD5 or SHA-1 without a salt, which is as good as no hash: " +
			"call SendReset for its owner instead")
	}
	if e, err := parse(encoded); err == nil {
		return e.affordable(s.o.Hash)
	}
	if s.verifier(encoded) == nil {
		return errors.New("password: import: no Verifier of Options.Import knows the hash: add the one of its format")
	}
	return nil
}

// SendReset mails a user a link to choose a new password, which is what an administrator may do: to see or to set one
// is not. The link is of Config.URL, which has to be set. core.ErrNotFound: there is no such user, or they have no
// address.
func (p *Provider) SendReset(ctx context.Context, userID string) error {
	s, err := p.one()
	if err != nil {
		return err
	}
	user, err := s.user(ctx, userID)
	switch {
	case err != nil:
		return err
	case user == nil || user.Email == "":
		return fmt.Errorf("password: reset for user %q: %w", userID, core.ErrNotFound)
	}
	token, err := s.h.NewToken()
	if err != nil {
		return err
	}
	link, err := s.h.URL(ID+"/reset", "token", token)
	if err != nil {
		return fmt.Errorf("password: reset: %w", err)
	}
	l := core.Letter{
		Kind: core.LetterReset, URL: core.Secret(link), Host: hostOf(link), Theme: s.h.Theme, Locale: s.h.Locale,
	}
	return s.mailReset(ctx, user, token, l)
}

// Remove takes a user's password away, with the links to choose another; they sign in another way then, or ask for a
// reset. Sessions go on: core.Auth.EndSessions ends them. core.ErrNotFound: the user has none.
func (p *Provider) Remove(ctx context.Context, userID string) error {
	s, err := p.one()
	if err != nil {
		return err
	}
	if _, err := s.records.DeleteRecord(ctx, kindPassword, userID); err != nil {
		return fmt.Errorf("password: remove that of user %q: %w", userID, err)
	}
	if _, err := s.records.DeleteUserRecords(ctx, userID, kindReset); err != nil {
		return fmt.Errorf("password: remove the links of user %q: %w", userID, err)
	}
	return nil
}
