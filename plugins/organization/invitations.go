package organization

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
)

// Invitation is an invitation to join an organization. The owner of the address can accept it once.
type Invitation struct {
	// ID identifies the invitation within the organization. An address has at most one.
	ID             string `json:"id"`
	OrganizationID string `json:"organization"`
	Email          string `json:"email"`
	Role           string `json:"role"`
	// InvitedBy is the ID of the member who sent the invitation, or empty. If that member has lost the permission to
	// invite with this role, the invitation does not work.
	InvitedBy string    `json:"invitedBy,omitempty"`
	Created   time.Time `json:"created"`
	Expires   time.Time `json:"expires"`
}

// storedInvitation is the value of a record of an invitation.
type storedInvitation struct {
	Email     string    `json:"email"`
	Role      string    `json:"role"`
	Hash      []byte    `json:"hash"` // SHA-256 of the secret in the link
	InvitedBy string    `json:"by,omitempty"`
	Created   time.Time `json:"created"`
}

// invitation is an invitation and its record.
type invitation struct {
	Invitation
	hash   []byte
	record *store.Record
}

func readInvitation(r *store.Record) (*invitation, error) {
	id, own, _ := strings.Cut(r.Key, ".")
	var v storedInvitation
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, fmt.Errorf("organization: the record of an invitation to %s is malformed: %w", id, err)
	}
	return &invitation{
		Invitation{
			ID: own, OrganizationID: id, Email: v.Email, Role: v.Role, InvitedBy: v.InvitedBy, Created: v.Created,
			Expires: r.Expires,
		}, v.Hash, r,
	}, nil
}

const invitationIDLen = 22

func isInvitationID(s string) bool {
	return len(s) == invitationIDLen && strings.Trim(s, letters+strings.ToUpper(letters)+"0123456789_-") == ""
}

// invitation returns an invitation that has not expired.
func (o *Organizations) invitation(ctx context.Context, id, own string) (*invitation, error) {
	if !isID(id) || !isInvitationID(own) {
		return nil, core.ErrNotFound
	}
	r, err := o.records.Record(ctx, kindInvitation, id+"."+own)
	if err != nil {
		return nil, err
	}
	if !r.Expires.After(o.host.Now()) {
		return nil, core.ErrNotFound
	}
	return readInvitation(r)
}

// NewInvitation describes an invitation for [Organizations.Invite].
type NewInvitation struct {
	// OrganizationID and Email are required. Role is required and must not be [Owner].
	OrganizationID, Email, Role string
	// InvitedBy is the ID of the inviting member. If it is empty, the application invites.
	InvitedBy string
}

// Invite emails an invitation, which replaces an earlier one to the same address: its link stops working. It requires
// Config.URL. The errors are [ErrEmail], [ErrRole], [ErrInvitations] and [core.ErrNotFound].
func (o *Organizations) Invite(ctx context.Context, n NewInvitation) (*Invitation, error) {
	base, err := o.host.URL(acceptAction)
	if err != nil {
		return nil, err
	}
	i, secret, err := o.invite(ctx, n)
	if err != nil {
		return nil, err
	}
	o.host.Notify(ctx, o.invitationEmail(i, secret, base, core.Email{Locale: o.host.Locale, Host: hostOf(base)}))
	return &i.Invitation, nil
}

// invite stores an invitation.
func (o *Organizations) invite(ctx context.Context, n NewInvitation) (*invitation, string, error) {
	address, err := core.NormalizeEmail(n.Email)
	if err != nil {
		return nil, "", ErrEmail
	}
	if n.Role == Owner || !o.knows(n.Role) {
		return nil, "", ErrRole
	}
	if _, err := o.find(ctx, n.OrganizationID); err != nil {
		return nil, "", err
	}
	secret, err := o.host.NewToken()
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256([]byte(secret))
	now := o.host.Now().UTC().Truncate(time.Millisecond)
	own := o.host.Digest("organization invitation", n.OrganizationID+" "+address)[:invitationIDLen]
	value, err := marshal(storedInvitation{address, n.Role, sum[:], n.InvitedBy, now})
	if err != nil {
		return nil, "", err
	}
	r := &store.Record{
		Kind: kindInvitation, Key: n.OrganizationID + "." + own, Value: value, Expires: now.Add(o.options.InvitationTTL),
	}
	if err := retry(ctx, func() error { return o.put(ctx, r) }); err != nil {
		return nil, "", err
	}
	if r.Version == 1 { // several new invitations see each other
		count, err := o.count(ctx, kindInvitation, n.OrganizationID)
		if err == nil && count > o.options.MaxInvitations {
			err = ErrInvitations
		}
		if err == nil { // the organization could have been deleted
			_, err = o.find(ctx, n.OrganizationID)
		}
		if err != nil {
			return nil, "", errors.Join(err, o.discard(context.WithoutCancel(ctx), kindInvitation, r.Key))
		}
	}
	i, err := readInvitation(r)
	return i, secret, err
}

// put creates a record, or replaces the one with its name.
func (o *Organizations) put(ctx context.Context, r *store.Record) error {
	r.Version = 0
	err := o.records.CreateRecord(ctx, r)
	if !errors.Is(err, core.ErrConflict) {
		return err
	}
	before, err := o.records.Record(ctx, r.Kind, r.Key)
	if errors.Is(err, core.ErrNotFound) {
		return core.ErrConflict
	}
	if err != nil {
		return err
	}
	r.Version = before.Version
	err = o.records.UpdateRecord(ctx, r)
	if errors.Is(err, core.ErrNotFound) {
		return core.ErrConflict
	}
	return err
}

// mailed is the data of an invitation's email in the queue, which stores it encrypted.
type mailed struct {
	Organization string `json:"organization"`
	ID           string `json:"id"`
	Secret       string `json:"secret"`
	Base         string `json:"base"`
}

// invitationEmail returns the email of an invitation. The link and the name of the organization are added in the
// background.
func (o *Organizations) invitationEmail(i *invitation, secret, base string, e core.Email) core.BackgroundEmail {
	e.To, e.Kind, e.Expires, e.Theme = i.Email, mailkind.OrganizationInvite, i.Expires, o.host.Theme
	return core.BackgroundEmail{
		Sender: name, Email: e, Subject: i.Email, Data: mailed{i.OrganizationID, i.ID, secret, base},
	}
}

// nameForEmail returns the name of an organization for the email of an invitation, or "" if the name could be a message
// of an attacker: mail clients turn domains, addresses and telephone numbers into links.
func nameForEmail(name string) string {
	digits := 0
	for i, r := range name {
		_, size := utf8.DecodeRuneInString(name[i:])
		next, _ := utf8.DecodeRuneInString(name[i+size:])
		switch {
		case strings.ContainsRune("/@:\\<>=?#", r):
			return ""
		case strings.ContainsRune(".。．｡․", r) && (unicode.IsLetter(next) || unicode.IsDigit(next)):
			return ""
		case unicode.IsDigit(r):
			digits++
		case unicode.Is(unicode.Cf, r): // invisible
			return ""
		}
	}
	if digits > 6 || !isName(name) {
		return ""
	}
	return name
}

// writeInvitation adds the link and the name. An invitation that was revoked or replaced is not sent.
func (o *Organizations) writeInvitation(ctx context.Context, e core.Email, data json.RawMessage) (core.Email, error) {
	var d mailed
	if err := json.Unmarshal(data, &d); err != nil {
		return core.Email{}, err
	}
	i, err := o.invitation(ctx, d.Organization, d.ID)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return core.Email{}, nil
	case err != nil:
		return core.Email{}, err
	case !i.has(d.Secret):
		return core.Email{}, nil
	}
	org, err := o.find(ctx, d.Organization)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return core.Email{}, nil
	case err != nil:
		return core.Email{}, err
	}
	e.Organization = nameForEmail(org.Name)
	e.URL = core.Secret(d.Base + "?token=" + d.Organization + "." + d.ID + "." + d.Secret)
	return e, nil
}

// has reports whether a secret is that of the invitation's link.
func (i *invitation) has(secret string) bool {
	sum := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(sum[:], i.hash) == 1
}

// Invitations returns the pending invitations of an organization, the newest first.
func (o *Organizations) Invitations(ctx context.Context, id string) ([]Invitation, error) {
	if _, err := o.find(ctx, id); err != nil {
		return nil, err
	}
	all := []Invitation{}
	err := o.each(ctx, kindInvitation, id, func(r *store.Record) error {
		i, err := readInvitation(r)
		if err == nil && i.Expires.After(o.host.Now()) {
			all = append(all, i.Invitation)
		}
		return err
	})
	slices.SortFunc(all, func(a, b Invitation) int { return b.Created.Compare(a.Created) })
	return all, err
}

// RevokeInvitation deletes an invitation. It returns [core.ErrNotFound] if there is none, or if it was accepted.
func (o *Organizations) RevokeInvitation(ctx context.Context, organizationID, id string) error {
	if !isID(organizationID) || !isInvitationID(id) {
		return core.ErrNotFound
	}
	_, err := o.records.DeleteRecord(ctx, kindInvitation, organizationID+"."+id)
	return err
}

// presented returns the invitation of a link that works: it has not expired, and its sender may still invite.
func (o *Organizations) presented(ctx context.Context, token string) (*invitation, *orgRecord, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, nil, core.ErrNotFound
	}
	i, err := o.invitation(ctx, parts[0], parts[1])
	if err != nil {
		return nil, nil, err
	}
	if !i.has(parts[2]) {
		return nil, nil, core.ErrNotFound
	}
	org, err := o.find(ctx, i.OrganizationID)
	if err != nil {
		return nil, nil, err
	}
	if i.InvitedBy == "" {
		return i, org, nil
	}
	by, err := o.member(ctx, i.OrganizationID, i.InvitedBy)
	if err != nil {
		return nil, nil, err
	}
	if role := org.roleOf(by); !o.allows(role, Invite) || !o.covers(role, i.Role) {
		return nil, nil, core.ErrNotFound
	}
	return i, org, nil
}

// checkAddress returns ErrAddress unless a user has verified the invited address. A person who has got hold of the link
// cannot use it.
func (o *Organizations) checkAddress(ctx context.Context, i *invitation, userID string) error {
	u, err := o.host.Store.User(ctx, userID)
	if err != nil {
		return err
	}
	if !core.SameMailbox(u.Email, i.Email) {
		return ErrAddress
	}
	if !u.EmailVerified.IsZero() {
		return nil
	}
	if o.host.Accounts == nil {
		return ErrAddress
	}
	accounts, err := o.host.Accounts.Accounts(ctx, userID)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(accounts, func(a *core.Account) bool { return core.SameMailbox(a.VerifiedEmail, i.Email) }) {
		return nil
	}
	return ErrAddress
}

// Accept makes a user a member with the token of an invitation's link, and returns the organization. The user must have
// verified the invited address. The errors are [core.ErrNotFound] for an invitation that does not work, [ErrAddress],
// [ErrMember], [ErrFull] and [ErrTooMany].
func (o *Organizations) Accept(ctx context.Context, token, userID string) (*Organization, error) {
	i, org, err := o.presented(ctx, token)
	if err != nil {
		return nil, err
	}
	if err := o.checkAddress(ctx, i, userID); err != nil {
		return nil, err
	}
	if m, err := o.member(ctx, org.ID, userID); err != nil || org.roleOf(m) != "" {
		return nil, cmp.Or(err, ErrMember)
	}
	// Of several requests with the link, and a revocation, one deletes the record. It does so before the user joins: if
	// the process ends in between, the user needs another invitation, and none is used twice.
	r, err := o.records.DeleteRecord(ctx, kindInvitation, i.record.Key)
	if err != nil {
		return nil, err
	}
	taken, err := readInvitation(r)
	if err == nil && subtle.ConstantTimeCompare(taken.hash, i.hash) != 1 { // it was sent again meanwhile
		err = core.ErrNotFound
	}
	if err == nil {
		err = o.join(ctx, org.ID, userID, taken.Role)
	}
	if err == nil {
		return &org.Organization, nil
	}
	if errors.Is(err, core.ErrNotFound) { // the organization was deleted
		return nil, err
	}
	restored := &store.Record{Kind: r.Kind, Key: r.Key, Value: r.Value, Expires: r.Expires}
	if again := o.records.CreateRecord(context.WithoutCancel(ctx), restored); again != nil &&
		!errors.Is(again, core.ErrConflict) { // conflict: a newer invitation
		err = errors.Join(err, again)
	}
	return nil, err
}

// hostOf returns the host of a URL, such as "app.example".
func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}
