package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// Invitation allows the owner of an email address to sign up. The first sign-in that Callbacks.SignIn allows for a user
// with this address uses it, with any sign-in method, if the user has verified the address or the provider vouches for
// it. The inviter never sets a password.
type Invitation struct {
	// Email is the invited address.
	Email string
	// Data is data of the application for the sign-up, such as the team to join: at most 4 KiB of JSON. It is never sent
	// to a browser. It may be nil.
	Data json.RawMessage
	// For is the lifetime of the invitation. The default is seven days.
	For time.Duration
	// URL is the link in the email: a page of this site where the invited person can sign up. The default is the sign-in
	// page, which requires Config.URL.
	URL string
	// Host is the site's host, as shown in the email. The default is the host of URL.
	Host string
}

// invitation is the value of a record of kind "invite". The record's key is a digest of the address.
type invitation struct {
	Email string          `json:"email"`
	Data  json.RawMessage `json:"data,omitempty"`
	Made  time.Time       `json:"made"`
}

// invitations sends, finds and deletes invitations.
type invitations struct {
	host    *core.PluginHost
	records store.RecordStore
	sender  *sender
}

const maxInviteData = 4 << 10

func (v *invitations) invite(ctx context.Context, i Invitation) error {
	if v.sender.mail == nil {
		return errors.New("account: Invite needs Options.Mail: set a Mailer")
	}
	if len(i.Data) > maxInviteData || len(i.Data) > 0 && !json.Valid(i.Data) {
		return fmt.Errorf("account: Invitation.Data must be JSON of at most %d bytes", maxInviteData)
	}
	address, err := core.NormalizeEmail(i.Email)
	if err != nil {
		return fmt.Errorf("account: Invitation.Email: %w", err)
	}
	if i.URL == "" {
		if i.URL, err = v.host.URL("signin"); err != nil {
			return fmt.Errorf("account: Invitation.URL is empty and has no default: %w", err)
		}
	}
	if i.Host == "" {
		i.Host = hostOf(i.URL)
	}
	if i.For == 0 {
		i.For = inviteTTL
	}
	now := v.host.Now()
	value, err := json.Marshal(invitation{Email: address, Data: i.Data, Made: now})
	if err != nil {
		return fmt.Errorf("account: Invitation.Data: %w", err)
	}
	if err := v.put(ctx, address, value, now.Add(i.For)); err != nil {
		return fmt.Errorf("account: store the invitation: %w", err)
	}
	return v.sender.send(ctx, nil, core.Email{
		To: address, Kind: mailkind.Invite, URL: core.Secret(i.URL), Expires: now.Add(i.For), Host: i.Host,
	})
}

// put writes the record of an invitation and replaces an earlier one.
func (v *invitations) put(ctx context.Context, address string, value []byte, ends time.Time) error {
	var before *store.Record
	for _, key := range v.host.Digests(kindInvite, address) {
		r, err := v.records.Record(ctx, kindInvite, key)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return err
		}
		if before = r; r != nil {
			break
		}
	}
	r := &store.Record{Kind: kindInvite, Key: v.host.Digest(kindInvite, address), Value: value, Expires: ends}
	if before == nil || before.Key != r.Key { // the secret was rotated
		err := v.records.CreateRecord(ctx, r)
		if before != nil && err == nil {
			_, _ = v.records.DeleteRecord(ctx, kindInvite, before.Key)
		}
		if errors.Is(err, core.ErrConflict) { // a concurrent invitation of the same address
			return nil
		}
		return err
	}
	r.Version = before.Version
	err := v.records.UpdateRecord(ctx, r)
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

func (v *invitations) find(ctx context.Context, email string) (*Invitation, error) {
	address, err := core.NormalizeEmail(email)
	if err != nil {
		return nil, core.ErrNotFound
	}
	r, err := v.host.FindRecord(ctx, v.records, kindInvite, v.host.Digests(kindInvite, address)...)
	if errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("account: look up the invitation: %w", err)
	}
	var kept invitation
	if json.Unmarshal(r.Value, &kept) != nil || kept.Email != address {
		return nil, core.ErrNotFound
	}
	return &Invitation{Email: address, Data: kept.Data, For: r.Expires.Sub(v.host.Now())}, nil
}

// use deletes the invitation of the user who signs in, if the address is verified. An attacker who only claims the
// address, in a profile that its provider does not vouch for, does not use the invitation up. If the first sign-in
// fails after the user was created, the next one still finds the invitation.
func (v *invitations) use(ctx context.Context, u *core.User) error {
	switch _, err := v.find(ctx, u.Email); {
	case errors.Is(err, core.ErrNotFound): // the usual case
		return nil
	case err != nil:
		return err
	}
	if theirs, err := readsMail(ctx, v.host.Accounts, u); err != nil || !theirs {
		return err
	}
	return v.take(ctx, u.Email)
}

// take deletes the invitation of an address, if there is one.
func (v *invitations) take(ctx context.Context, email string) error {
	address, err := core.NormalizeEmail(email)
	if err != nil {
		return nil
	}
	for _, key := range v.host.Digests(kindInvite, address) {
		_, gone := v.records.DeleteRecord(ctx, kindInvite, key)
		if gone != nil && !errors.Is(gone, core.ErrNotFound) {
			err = gone
		}
	}
	return err
}

// hostOf returns the host of a URL, such as "app.example".
func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}
