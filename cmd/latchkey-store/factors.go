package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/smtp"
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
	n, err := c.newNotice(s) // first: a configuration error must change nothing
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
	if err := c.signOut(ctx, s, u); err != nil {
		return err
	}
	return c.tellReset(ctx, n, u)
}

// notice is a plugin that emails a user about the reset.
type notice struct {
	mailer core.Mailer
	host   *core.PluginHost
	mu     sync.Mutex
	sent   []string // addresses
}

// newNotice returns nil if the settings of the application or of its mail server are missing.
func (c *command) newNotice(s *opened) (*notice, error) {
	n := &notice{mailer: c.mail}
	if c.getenv("AUTH_SECRET") == "" || c.getenv("AUTH_URL") == "" || n.mailer == nil && c.getenv("EMAIL_SERVER") == "" {
		return nil, nil
	}
	if n.mailer == nil {
		n.mailer = smtp.NewMailer(smtp.Options{})
	}
	config := c.config(s)
	config.Plugins = []core.Plugin{n}
	_, err := core.New(config)
	return n, err
}

// Attach implements [core.Plugin].
func (n *notice) Attach(h *core.PluginHost) error {
	n.host = h
	if m, ok := n.mailer.(core.ConfiguredMailer); ok {
		if err := m.Configure(h.Getenv); err != nil {
			return err
		}
	}
	h.NotifyMethodChanges("signin", n)
	return nil
}

// Send implements [core.Mailer].
func (n *notice) Send(ctx context.Context, e core.Email) error {
	err := n.mailer.Send(ctx, e)
	if err == nil && e.Kind == mailkind.FactorsReset {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.sent = append(n.sent, e.To)
	}
	return err
}

// tellReset emails the user. An email that cannot be sent now stays in the store, and the application sends it.
func (c *command) tellReset(ctx context.Context, n *notice, u *core.User) error {
	if n == nil {
		return c.say("no email was sent: tell the user yourself, or set AUTH_SECRET, AUTH_URL, EMAIL_SERVER and EMAIL_FROM " +
			"to the application's values before the next reset")
	}
	n.host.NotifySecurity(ctx, core.SecurityNotice{Kind: mailkind.FactorsReset, UserID: u.ID})
	if err := n.host.Auth.FlushMail(ctx); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if address, _ := core.NormalizeEmail(u.Email); !slices.Contains(n.sent, address) {
		return c.say("no email was sent yet: the address is not verified, or the mail server does not accept it now")
	}
	return c.say("told %s by email", u.Email)
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
