package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Invitation is the right of the owner of an address to sign up. It is used up by the first sign-in that
// Callbacks.SignIn allows of the user who has the address and has proved it, or whose provider vouches for it,
// whichever way they come in; the inviter never sets a password.
type Invitation struct {
	// Email is the address that is invited.
	Email string
	// Data is what the application wants to know when the user signs up, such as the team that they join: 4 KiB of JSON
	// at most. It reaches no browser. nil: nothing.
	Data json.RawMessage
	// For is how long the invitation is good; zero: seven days.
	For time.Duration
	// URL is where the letter leads: a page of this site on which the invited can sign up. Empty: the sign-in page, for
	// which Config.URL has to be set.
	URL string
	// Host is the host of the site, for the letter. Empty: that of URL.
	Host string
}

// invitation is the value of a record of kind "invite", whose key is a digest of the address.
type invitation struct {
	Email string          `json:"email"`
	Data  json.RawMessage `json:"data,omitempty"`
	Made  time.Time       `json:"made"`
}

// invitations are sent to addresses, and used up by their owners.
type invitations struct {
	host    *core.Host
	records store.RecordStore
	letters *letters
}

const maxInviteData = 4 << 10

// Invite invites somebody by a letter. A second invitation of an address takes the place of the first. It needs
// Options.Mail. That the address has an account already is no error: the letter leads to the sign-in page all the same.
func (a *Account) Invite(ctx context.Context, i Invitation) error {
	return a.stories.invitations.invite(ctx, i)
}

func (v *invitations) invite(ctx context.Context, i Invitation) error {
	if v.letters.mail == nil {
		return errors.New("account: Invite needs Options.Mail: set a Mailer")
	}
	if len(i.Data) > maxInviteData || len(i.Data) > 0 && !json.Valid(i.Data) {
		return fmt.Errorf("account: Invitation.Data has to be JSON of %d bytes at most", maxInviteData)
	}
	address, err := core.NormalizeEmail(i.Email)
	if err != nil {
		return fmt.Errorf("account: Invitation.Email: %w", err)
	}
	if i.URL == "" {
		if i.URL, err = v.host.URL("signin"); err != nil {
			return fmt.Errorf("account: Invitation.URL is empty, and its default is not known: %w", err)
		}
	}
	if i.Host == "" {
		i.Host = hostOf(i.URL)
	}
	if i.For == 0 {
		i.For = inviteFor
	}
	now := v.host.Now()
	value, err := json.Marshal(invitation{Email: address, Data: i.Data, Made: now})
	if err != nil {
		return fmt.Errorf("account: Invitation.Data: %w", err)
	}
	if err := v.put(ctx, address, value, now.Add(i.For)); err != nil {
		return fmt.Errorf("account: keep the invitation: %w", err)
	}
	return v.letters.send(ctx, nil, core.Letter{
		To: address, Kind: core.LetterInvite, URL: core.Secret(i.URL), Expires: now.Add(i.For), Host: i.Host,
	})
}

// put writes the record of an invitation, over one that is there.
func (v *invitations) put(ctx context.Context, address string, value []byte, ends time.Time) error {
	if err := v.take(ctx, address); err != nil {
		return err
	}
	r := &store.Record{Kind: kindInvite, Key: v.host.Digest(kindInvite, address), Value: value, Expires: ends}
	err := v.records.CreateRecord(ctx, r)
	if errors.Is(err, core.ErrConflict) { // another invitation of the same moment
		return nil
	}
	return err
}

// Invitation returns the open invitation of an address: for Callbacks.SignIn, which lets a new user in or not, and
// gives them what Data says. Whether the address is proved is for the caller to ask: by Account.EmailProved of a
// provider, by the link of a mail, or by EmailVerified of a user of the store, as those who sign up with a password
// are when they come in. [core.ErrNotFound]: nobody has invited it, or too long ago, or it is used up.
func (a *Account) Invitation(ctx context.Context, email string) (*Invitation, error) {
	return a.stories.invitations.find(ctx, email)
}

func (v *invitations) find(ctx context.Context, email string) (*Invitation, error) {
	address, err := core.NormalizeEmail(email)
	if err != nil {
		return nil, core.ErrNotFound
	}
	for _, key := range v.host.Digests(kindInvite, address) {
		r, err := v.records.Record(ctx, kindInvite, key)
		if errors.Is(err, core.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("account: look the invitation up: %w", err)
		}
		var kept invitation
		now := v.host.Now()
		if !r.Expires.After(now) || json.Unmarshal(r.Value, &kept) != nil || kept.Email != address {
			continue
		}
		return &Invitation{Email: address, Data: kept.Data, For: r.Expires.Sub(now)}, nil
	}
	return nil, core.ErrNotFound
}

// use removes the invitation of who signs in, where the address is theirs: a stranger who says it is, in a
// profile that nobody vouches for, does not use it up. One whose first sign-in failed after their user was made still
// has it at the next.
func (v *invitations) use(ctx context.Context, u *core.User) error {
	switch _, err := v.find(ctx, u.Email); {
	case errors.Is(err, core.ErrNotFound): // nearly always
		return nil
	case err != nil:
		return err
	}
	if theirs, err := readsMail(ctx, v.host.Accounts, u); err != nil || !theirs {
		return err
	}
	return v.take(ctx, u.Email)
}

// take removes the invitation of an address, where there is one.
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
