package main

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// passkeyNames is the kind of record in which the account page keeps the names of passkeys.
const passkeyNames = "passkey"

// resetFactors is for somebody who has lost what they prove themselves with beside a password or a mailbox. Accounts of
// passkeys go first: without them a passkey opens nothing, so that what fails half-way can be done once more.
func (c *command) resetFactors(ctx context.Context, s *opened, u *core.User) error {
	kinds, err := c.factorKinds()
	if err != nil {
		return err
	}
	accounts, err := s.Accounts(ctx, u.ID)
	if err != nil {
		return err
	}
	left := 0
	for _, a := range accounts {
		if a.Type != core.TypeWebAuthn {
			left++
			continue
		}
		if err := gone(s.UnlinkAccount(ctx, a.Provider, a.ProviderAccountID)); err != nil {
			return err
		}
	}
	keys, err := s.Authenticators(ctx, u.ID)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := gone(s.DeleteAuthenticator(ctx, k.CredentialID)); err != nil {
			return err
		}
	}
	records, err := s.removeRecords(ctx, u.ID, kinds)
	if err != nil {
		return err
	}
	if err := c.say("removed: %d passkeys, %d records", len(keys), records); err != nil {
		return err
	}
	if left == 0 {
		err := c.say("no account of a provider is left: they sign in with a password or a link, where there are any")
		if err != nil {
			return err
		}
	}
	return c.signOut(ctx, s, u)
}

// factorKinds are the kinds of records to remove. A password has a command of its own, and what core keeps of sessions
// is ended with them.
func (c *command) factorKinds() ([]string, error) {
	kinds := []string{passkeyNames}
	for kind := range strings.SplitSeq(c.kinds, ",") {
		switch kind = strings.TrimSpace(kind); kind {
		case "":
		case "password", "epoch", "revoked", "session":
			return nil, errors.New("records of kind " + kind + " are no second factor: nothing was changed")
		default:
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// removeRecords removes a user's records of some kinds.
func (s *opened) removeRecords(ctx context.Context, userID string, kinds []string) (n int, err error) {
	for _, kind := range kinds {
		records, err := s.UserRecords(ctx, userID, kind)
		if err != nil {
			return n, err
		}
		for _, r := range records {
			_, err := s.DeleteRecord(ctx, r.Kind, r.Key)
			if err := gone(err); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// gone is the error of a removal; what is not there any more is as it should be.
func gone(err error) error {
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}
