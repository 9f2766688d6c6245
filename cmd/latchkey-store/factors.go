package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// factorRecords are the record kinds that a reset removes: the names of passkeys of plugins/account, and the factors,
// recovery codes and trusted browsers of plugins/secondfactor.
var factorRecords = []string{"passkey", "factors", "recovery", "device"}

// resetFactors removes the passkeys and second factors of a user who lost their devices. Accounts of passkeys are
// deleted first: without its account a passkey cannot sign in, so a failed reset can safely run again.
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
		err := c.say("no provider account is left: the user can sign in only with a password or an email link, if " +
			"the site has them")
		if err != nil {
			return err
		}
	}
	return c.signOut(ctx, s, u)
}

// factorKinds returns the record kinds to remove. Passwords are excluded because they have their own command. Session
// records are excluded because ending the sessions deletes them.
func (c *command) factorKinds() ([]string, error) {
	kinds := slices.Clone(factorRecords)
	for kind := range strings.SplitSeq(c.kinds, ",") {
		switch kind = strings.TrimSpace(kind); kind {
		case "":
		case "password", "epoch", "revoked", "session":
			return nil, errors.New("records of kind " + kind + " are not a second factor: nothing was changed")
		default:
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// removeRecords removes the user's records of these kinds, and returns their number.
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

// gone ignores "not found" errors of a removal.
func gone(err error) error {
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}
