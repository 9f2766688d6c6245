package organization

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// The errors of changes. A missing organization, member or invitation is [core.ErrNotFound].
var (
	// ErrName means that a name does not have 1 to 64 characters.
	ErrName = errors.New("organization: a name must have 1 to 64 characters")
	// ErrSlug means that a slug does not consist of 2 to 48 lower-case letters, digits and single hyphens.
	ErrSlug = errors.New("organization: a slug must have 2 to 48 lower-case letters, digits and single hyphens")
	// ErrSlugTaken means that another organization has the slug.
	ErrSlugTaken = errors.New("organization: another organization has the slug")
	// ErrLogo means that a logo is not an https URL of at most 512 bytes.
	ErrLogo = errors.New("organization: a logo must be an https URL of at most 512 bytes")
	// ErrMetadata means that metadata are not JSON of at most 4 KiB.
	ErrMetadata = errors.New("organization: metadata must be JSON of at most 4 KiB")
	// ErrRole means that the role is unknown, or that the function cannot give it.
	ErrRole = errors.New("organization: the role is not one of Options.Roles, or cannot be given")
	// ErrLastOwner means that the only owner would leave or be demoted.
	ErrLastOwner = errors.New("organization: the user is the last owner: make another member an owner first")
	// ErrOwners means that the organization has 20 owners.
	ErrOwners = errors.New("organization: the organization has 20 owners, which is the maximum")
	// ErrFull means that the organization has as many members as Options.Seats or Options.MaxMembers permits.
	ErrFull = errors.New("organization: all places of Options.Seats or Options.MaxMembers are taken")
	// ErrTooMany means that the user is a member of Options.MaxOrganizations organizations.
	ErrTooMany = errors.New("organization: the user is in as many organizations as Options.MaxOrganizations allows")
	// ErrMember means that the user is a member of the organization already.
	ErrMember = errors.New("organization: the user is already a member")
	// ErrInvitations means that the organization has Options.MaxInvitations pending invitations.
	ErrInvitations = errors.New("organization: as many invitations are pending as Options.MaxInvitations allows")
	// ErrEmail means that the text is not an email address.
	ErrEmail = errors.New("organization: the text is not an email address")
	// ErrAddress means that the user has not verified the invited address.
	ErrAddress = errors.New("organization: the invitation is for another address, or the address is not verified")
	// ErrUnverified means that the user has no verified address.
	ErrUnverified = errors.New("organization: the user's email address is not verified")
	// ErrRequested means that the user has asked to join already.
	ErrRequested = errors.New("organization: the user has asked to join already")
	// ErrRequests means that the organization has 200 requests to join, or the user 20.
	ErrRequests = errors.New("organization: too many requests to join")
	// ErrDomain means that the text is not a domain.
	ErrDomain = errors.New("organization: this is not a domain")
	// ErrPublicDomain means that everyone can get an address of the domain.
	ErrPublicDomain = errors.New("organization: everyone can get an address of this domain")
	// ErrDomains means that the organization has claimed 10 domains.
	ErrDomains = errors.New("organization: too many domains")
	// ErrDomainRecord means that the DNS TXT record of a domain does not exist.
	ErrDomainRecord = errors.New("organization: the TXT record of the domain does not exist")
	// ErrDomainLookup means that Options.Resolver failed.
	ErrDomainLookup = errors.New("organization: the domain could not be looked up")
	// ErrDomainWait means that the domain was looked up less than 5 seconds ago.
	ErrDomainWait = errors.New("organization: the domain was just looked up")
	// ErrDomainTaken means that another organization has verified the domain.
	ErrDomainTaken = errors.New("organization: the domain belongs to another organization")
	errDenied      = errors.New("organization: the member's role does not allow the change")
)

const (
	// maxTries is the number of attempts to change a record that other requests change too.
	maxTries = 30
	// retryPause is the longest pause before another attempt.
	retryPause = 20 * time.Millisecond
	// stale is the time after which an unfinished change was abandoned, because its process has ended.
	stale = time.Minute
)

// retry calls try until it does not return [core.ErrConflict].
func retry(ctx context.Context, try func() error) (err error) {
	for range maxTries {
		if err = try(); !errors.Is(err, core.ErrConflict) {
			return err
		}
		if err := store.Pause(ctx, retryPause); err != nil {
			return err
		}
	}
	return err
}

// NewOrganization describes an organization for [Organizations.Create].
type NewOrganization struct {
	// OwnerID is the first owner, who must be a stored user.
	OwnerID string
	// Name, Slug, Logo and Metadata are those of [Organization]. The default of Slug is made from Name.
	Name, Slug, Logo string
	Metadata         json.RawMessage
}

// Create creates an organization. Its owner becomes a member. The errors are [ErrName], [ErrSlug], [ErrSlugTaken],
// [ErrLogo], [ErrMetadata], [ErrTooMany], and [core.ErrNotFound] if there is no such user.
func (o *Organizations) Create(ctx context.Context, n NewOrganization) (*Organization, error) {
	token, err := o.host.NewToken()
	if err != nil {
		return nil, err
	}
	if n.Slug == "" {
		n.Slug = slugOf(n.Name, token)
	}
	switch {
	case !isName(n.Name):
		return nil, ErrName
	case !isSlug(n.Slug):
		return nil, ErrSlug
	case !isLogo(n.Logo):
		return nil, ErrLogo
	case !isMetadata(n.Metadata):
		return nil, ErrMetadata
	}
	id := idPrefix + token[:22]
	m := o.newMember(id, n.OwnerID)
	org := &orgRecord{
		Organization: Organization{
			ID: id, Slug: n.Slug, Name: n.Name, Logo: n.Logo, Metadata: n.Metadata, Created: m.Joined,
			Owners: []string{n.OwnerID},
		},
		record: &store.Record{Kind: kindOrganization, Key: id},
	}
	if err := o.writeMember(ctx, m); err != nil {
		return nil, err
	}
	err = o.create(ctx, org, m)
	if err != nil { // the organization first: with it, the membership is that of an owner
		after := context.WithoutCancel(ctx)
		_, _ = o.records.DeleteRecord(after, kindOrganization, id)
		o.freeSlug(after, n.Slug, id)
		_, _ = o.records.DeleteRecord(after, kindMember, m.record.Key)
		o.memberships.forget(n.OwnerID)
		return nil, err
	}
	return &org.Organization, nil
}

// create stores a new organization, and makes its first member the owner.
func (o *Organizations) create(ctx context.Context, org *orgRecord, m *memberRecord) error {
	if err := o.checkUser(ctx, m.UserID); err != nil {
		return err
	}
	if err := o.takeSlug(ctx, org.Slug, org.ID); err != nil {
		return err
	}
	if err := o.write(ctx, org); err != nil {
		return err
	}
	m.Role = Owner
	return o.writeMember(ctx, m)
}

// checkUser returns ErrTooMany if a user has too many memberships, including the new one.
func (o *Organizations) checkUser(ctx context.Context, userID string) error {
	all, err := o.records.UserRecords(ctx, userID, kindMember)
	if err == nil && len(all) > o.options.MaxOrganizations {
		return ErrTooMany
	}
	return err
}

// slugOf returns a slug for a name. Its end is random, so that it is free.
func slugOf(name, random string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return ' '
	}, name)
	end := strings.Trim(strings.ToLower(random), "-_")
	end = strings.NewReplacer("-", "", "_", "").Replace(end)[:6]
	words := append(strings.Fields(slug), end)
	for len(strings.Join(words, "-")) > maxSlug {
		words = words[1:]
	}
	return strings.Join(words, "-")
}

// slugRecord is the value of a record of a slug.
type slugRecord struct {
	ID    string    `json:"id"`
	Taken time.Time `json:"taken"`
}

// takeSlug reserves a slug. If a process has ended while it created an organization, its slug is free again.
func (o *Organizations) takeSlug(ctx context.Context, slug, id string) error {
	value, err := marshal(slugRecord{id, o.host.Now()})
	if err != nil {
		return err
	}
	err = o.records.CreateRecord(ctx, &store.Record{Kind: kindSlug, Key: slug, Value: value})
	if !errors.Is(err, core.ErrConflict) {
		return err
	}
	r, err := o.records.Record(ctx, kindSlug, slug)
	if err != nil {
		return err
	}
	var taken slugRecord
	if err := json.Unmarshal(r.Value, &taken); err != nil {
		return fmt.Errorf("organization: the record of a slug is malformed: %w", err)
	}
	switch _, err := o.read(ctx, taken.ID); {
	case taken.ID == id: // a change of the slug was interrupted
	case err == nil:
		return ErrSlugTaken
	case !errors.Is(err, core.ErrNotFound):
		return err
	case o.host.Now().Sub(taken.Taken) < stale:
		return ErrSlugTaken
	}
	r.Value, r.Expires = value, time.Time{}
	if err := o.records.UpdateRecord(ctx, r); errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return ErrSlugTaken
	} else if err != nil {
		return err
	}
	return nil
}

// freeSlug deletes a slug if it belongs to an organization.
func (o *Organizations) freeSlug(ctx context.Context, slug, id string) {
	if found, err := o.bySlug(ctx, slug); err == nil && found == id {
		_, _ = o.records.DeleteRecord(ctx, kindSlug, slug)
	}
}

// bySlug returns the ID that belongs to a slug.
func (o *Organizations) bySlug(ctx context.Context, slug string) (string, error) {
	if !isSlug(slug) {
		return "", core.ErrNotFound
	}
	r, err := o.records.Record(ctx, kindSlug, slug)
	if err != nil {
		return "", err
	}
	var taken slugRecord
	err = json.Unmarshal(r.Value, &taken)
	return taken.ID, err
}

// Get returns the organization with an ID or a slug, or [core.ErrNotFound].
func (o *Organizations) Get(ctx context.Context, idOrSlug string) (*Organization, error) {
	id := idOrSlug
	if isSlug(id) {
		var err error
		if id, err = o.bySlug(ctx, id); err != nil {
			return nil, err
		}
	}
	r, err := o.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return &r.Organization, nil
}

// Update stores the name, the logo and the metadata of an organization. The other fields are ignored. The errors are
// [ErrName], [ErrLogo], [ErrMetadata] and [core.ErrNotFound].
func (o *Organizations) Update(ctx context.Context, n Organization) error {
	switch {
	case !isName(n.Name):
		return ErrName
	case !isLogo(n.Logo):
		return ErrLogo
	case !isMetadata(n.Metadata):
		return ErrMetadata
	}
	return retry(ctx, func() error {
		r, err := o.find(ctx, n.ID)
		if err != nil {
			return err
		}
		r.Name, r.Logo, r.Metadata = n.Name, n.Logo, n.Metadata
		return o.write(ctx, r)
	})
}

// SetSlug changes the slug of an organization. The old slug is free then. The errors are [ErrSlug], [ErrSlugTaken] and
// [core.ErrNotFound].
func (o *Organizations) SetSlug(ctx context.Context, id, slug string) error {
	if !isSlug(slug) {
		return ErrSlug
	}
	taken := false
	return retry(ctx, func() error {
		r, err := o.find(ctx, id)
		if err != nil || r.Slug == slug {
			return err
		}
		// The record is read before the change: if a later change takes the old slug again, it has another version.
		old, err := o.records.Record(ctx, kindSlug, r.Slug)
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return err
		}
		if !taken {
			if err := o.takeSlug(ctx, slug, id); err != nil {
				return err
			}
			taken = true
		}
		r.Slug = slug
		if err := o.write(ctx, r); err != nil {
			return err
		}
		return o.releaseSlug(ctx, old)
	})
}

// releaseSlug makes a slug free, unless its record was changed since it was read.
func (o *Organizations) releaseSlug(ctx context.Context, r *store.Record) (err error) {
	if r == nil {
		return nil
	}
	r.Expires = o.host.Now()
	if r.Value, err = marshal(slugRecord{}); err != nil {
		return err
	}
	err = o.records.UpdateRecord(ctx, r)
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// RequireSecondFactor decides whether the members of an organization need a session with two different kinds of factor,
// as [core.Strong] does. Without one, the guards ask for it, [Organizations.Current] returns nil, and the pages of the
// organization are not available. It takes effect in other processes within 10 seconds.
func (o *Organizations) RequireSecondFactor(ctx context.Context, id string, required bool) error {
	return retry(ctx, func() error {
		r, err := o.find(ctx, id)
		if err != nil || r.SecondFactor == required {
			return err
		}
		r.SecondFactor = required
		return o.write(ctx, r)
	})
}

// SetRole changes the role of a member. It returns [core.ErrNotFound] if there is no such member, [ErrRole],
// [ErrLastOwner], or [ErrOwners] if the organization has 20 owners.
func (o *Organizations) SetRole(ctx context.Context, id, userID, role string) error {
	return o.change(ctx, id, userID, role, anyone)
}

// Remove removes a member. It returns [core.ErrNotFound] if there is no such member, or [ErrLastOwner]. The member
// loses access with the next request in every process.
func (o *Organizations) Remove(ctx context.Context, id, userID string) error {
	return o.change(ctx, id, userID, "", anyone)
}

// TransferOwnership makes another member an owner, and then the previous owner an admin. If the second step fails, both
// are owners. It returns [core.ErrNotFound] if one of them is not a member, or from is not an owner.
func (o *Organizations) TransferOwnership(ctx context.Context, id, from, to string) error {
	org, err := o.find(ctx, id)
	if err != nil {
		return err
	}
	if !org.owns(from) || from == to {
		return core.ErrNotFound
	}
	if err := o.change(ctx, id, to, Owner, anyone); err != nil {
		return err
	}
	return o.change(ctx, id, from, Admin, anyone)
}

func anyone(string) error { return nil }

// change changes the role of a member, or removes the member if role is empty. allow decides about the member's present
// role.
//
// The record of the organization has the owners, so that its compare-and-set decides that one owner stays. Every change
// writes this record, which was read before the membership: of two changes that contradict each other, one fails and
// starts again. The membership has the role for the guards, and is written next.
func (o *Organizations) change(ctx context.Context, id, userID, role string, allow func(current string) error) error {
	if role != "" && !o.knows(role) {
		return ErrRole
	}
	return retry(ctx, func() error {
		org, err := o.find(ctx, id)
		if err != nil {
			return err
		}
		m, err := o.member(ctx, id, userID)
		if err != nil {
			return err
		}
		current := org.roleOf(m)
		if current == "" {
			return core.ErrNotFound
		}
		if err := allow(current); err != nil {
			return err
		}
		if role == "" && current != Owner {
			return o.remove(ctx, org, m)
		}
		switch {
		case current == Owner && role != Owner:
			if err := o.dropOwner(ctx, org, userID); err != nil {
				return err
			}
		case current != Owner && role == Owner:
			if len(org.Owners) >= maxOwners {
				return ErrOwners
			}
			org.Owners = append(org.Owners, userID)
		}
		if err := o.write(ctx, org); err != nil {
			return err
		}
		if role == "" {
			return o.remove(ctx, org, m)
		}
		m.Role = role
		return o.writeMember(ctx, m)
	})
}

// dropOwner removes a user from the owners. It also removes the owners whose accounts were deleted, because one of the
// others must be a member.
func (o *Organizations) dropOwner(ctx context.Context, org *orgRecord, userID string) error {
	var others []string
	for _, id := range org.Owners {
		if id == userID {
			continue
		}
		m, err := o.member(ctx, org.ID, id)
		if err != nil {
			return err
		}
		if m != nil && m.Role != "" {
			others = append(others, id)
		}
	}
	if len(others) == 0 {
		return ErrLastOwner
	}
	org.Owners = others
	return nil
}

// remove deletes the membership of a user who is not an owner. It first takes the role, and then writes the record of
// the organization again: if another request has made the user an owner in between, the member gets the role back and
// the error is [core.ErrConflict].
func (o *Organizations) remove(ctx context.Context, org *orgRecord, m *memberRecord) error {
	if err := o.leaves(ctx, m.OrganizationID, m.UserID); err != nil {
		return err
	}
	role, joined, stays := m.Role, m.Joined, false
	m.Role, m.Joined = "", o.host.Now().UTC().Truncate(time.Millisecond)
	if err := o.writeMember(ctx, m); err != nil {
		return err
	}
	err := retry(ctx, func() error {
		err := o.write(ctx, org)
		if !errors.Is(err, core.ErrConflict) {
			return err
		}
		again, readErr := o.find(ctx, org.ID)
		if readErr != nil {
			return readErr
		}
		org, stays = again, again.owns(m.UserID)
		if stays {
			return nil
		}
		return err
	})
	switch {
	case stays:
		m.Role, m.Joined = role, joined
		return cmp.Or(o.writeMember(ctx, m), core.ErrConflict)
	case err != nil && !errors.Is(err, core.ErrNotFound): // not found: the organization was deleted
		return err
	}
	defer o.memberships.forget(m.UserID)
	return o.discard(ctx, kindMember, m.record.Key)
}

// Add makes a user a member, without an invitation. role must not be [Owner]. The errors are [ErrRole], [ErrMember],
// [ErrFull], [ErrTooMany], and [core.ErrNotFound] if there is no such organization or user.
func (o *Organizations) Add(ctx context.Context, id, userID, role string) error {
	if role == Owner || !o.knows(role) {
		return ErrRole
	}
	return o.join(ctx, id, userID, role)
}

// join makes a user a member. The membership is stored without a role first. Of several users who take the last seat,
// each sees the others then. A deletion of the organization either finds the membership, or join sees the deletion.
func (o *Organizations) join(ctx context.Context, id, userID, role string) error {
	if _, err := o.find(ctx, id); err != nil {
		return err
	}
	m := o.newMember(id, userID)
	err := o.writeMember(ctx, m)
	if errors.Is(err, core.ErrConflict) {
		if m, err = o.abandoned(ctx, id, userID); err == nil {
			err = o.writeMember(ctx, m)
		}
	}
	if err != nil {
		return err
	}
	if err = o.mayJoin(ctx, id, userID); err == nil {
		m.Role = role
		err = o.writeMember(ctx, m)
	}
	if err != nil {
		defer o.memberships.forget(userID)
		return errors.Join(err, o.discard(context.WithoutCancel(ctx), kindMember, m.record.Key))
	}
	return nil
}

// abandoned returns a membership without a role that another process has left behind.
func (o *Organizations) abandoned(ctx context.Context, id, userID string) (*memberRecord, error) {
	m, err := o.member(ctx, id, userID)
	now := o.host.Now().UTC().Truncate(time.Millisecond)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, core.ErrConflict
	case m.Role != "":
		return nil, ErrMember
	case now.Sub(m.Joined) < stale:
		return nil, core.ErrConflict
	}
	m.Joined = now
	return m, nil
}

// mayJoin returns an error if a membership that was just stored exceeds a limit, or if the organization was deleted.
func (o *Organizations) mayJoin(ctx context.Context, id, userID string) error {
	if err := o.checkUser(ctx, userID); err != nil {
		return err
	}
	org, err := o.find(ctx, id)
	if err != nil {
		return err
	}
	seats := o.options.MaxMembers
	if o.options.Seats != nil {
		n, err := o.options.Seats(ctx, &org.Organization)
		if err != nil {
			return fmt.Errorf("organization: Options.Seats: %w", err)
		}
		seats = min(seats, n)
	}
	n, err := o.count(ctx, kindMember, id)
	if err == nil && n > seats {
		return ErrFull
	}
	return err
}

// kindDeleted is the kind of records of organizations whose deletion has begun, by their ID.
const kindDeleted = "organization-deleted"

// Delete deletes an organization with its memberships, invitations and API keys. It returns [core.ErrNotFound] if there
// is no such organization. After another error the organization is either unchanged, or it counts as deleted: no member
// passes a guard, in this process immediately and in others within 10 seconds. A repeated call, or the plugin in the
// background, then deletes the rest.
func (o *Organizations) Delete(ctx context.Context, id string) error {
	err := retry(ctx, func() error {
		org, err := o.read(ctx, id)
		if err != nil || org.deleted {
			return err
		}
		r := &store.Record{Kind: kindDeleted, Key: id, Value: []byte("{}")}
		if err := o.records.CreateRecord(ctx, r); err != nil && !errors.Is(err, core.ErrConflict) {
			return err
		}
		org.deleted = true
		return o.write(ctx, org)
	})
	if err != nil {
		return err
	}
	return o.purge(ctx, id)
}

// purge deletes the records of an organization that is marked as deleted, its own record last.
func (o *Organizations) purge(ctx context.Context, id string) error {
	for _, kind := range []string{kindMember, kindInvitation, kindRequest, kindDomain, kindLeft} {
		err := o.each(ctx, kind, id, func(r *store.Record) error {
			if kind == kindDomain {
				if err := o.forgetDomain(ctx, id, strings.TrimPrefix(r.Key, id+".")); err != nil {
					return err
				}
			}
			if kind == kindMember {
				defer o.memberships.forget(r.UserID)
			}
			return o.discard(ctx, r.Kind, r.Key)
		})
		if err != nil {
			return err
		}
	}
	if err := o.revokeKeys(ctx, id); err != nil {
		return err
	}
	if err := o.discard(ctx, kindReported, id); err != nil {
		return err
	}
	org, err := o.read(ctx, id)
	if err == nil {
		o.freeSlug(ctx, org.Slug, id)
		err = o.discard(ctx, kindOrganization, id)
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return err
	}
	return o.discard(ctx, kindDeleted, id)
}

// discard deletes a record that may be gone already.
func (o *Organizations) discard(ctx context.Context, kind, key string) error {
	_, err := o.records.DeleteRecord(ctx, kind, key)
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// finishDeletions deletes the rest of organizations whose deletion failed or was interrupted.
func (o *Organizations) finishDeletions(ctx context.Context) error {
	if o.lister == nil {
		return nil
	}
	for cursor := ""; ; {
		page, next, err := o.lister.ListRecords(ctx, kindDeleted, "", cursor, 100)
		if err != nil {
			return err
		}
		for _, r := range page {
			org, err := o.read(ctx, r.Key)
			if err != nil && !errors.Is(err, core.ErrNotFound) {
				return err
			}
			if err == nil && !org.deleted { // it has not begun; Delete has reported that
				continue
			}
			if err := o.purge(ctx, r.Key); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
}

// CheckDelete implements account.SharedData. It returns a [*core.Problem] with the code "last_owner" if the user is the
// last owner of an organization with other members. A member who joins later is seen by ForgetUser.
func (o *Organizations) CheckDelete(ctx context.Context, u *core.User) error {
	_, _, err := o.ownedAlone(ctx, u.ID)
	return err
}

// ForgetUser ends all memberships of a user before the account is deleted, and deletes organizations without another
// member. If the user is the last owner of an organization with other members, nothing is changed, and the error is a
// [*core.Problem] with the code "last_owner". plugins/account calls it, as account.SharedData; call it yourself if you
// delete users in another way.
func (o *Organizations) ForgetUser(ctx context.Context, u *core.User) error {
	all, alone, err := o.ownedAlone(ctx, u.ID)
	if err != nil {
		return err
	}
	for _, each := range all {
		if slices.Contains(alone, each.ID) {
			err = o.Delete(ctx, each.ID)
		} else {
			err = o.Remove(ctx, each.ID, u.ID)
		}
		if errors.Is(err, ErrLastOwner) {
			return problemOf(ErrLastOwner)
		}
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return err
		}
	}
	return nil
}

// ownedAlone returns the organizations of a user, and the IDs of those that have no other member.
func (o *Organizations) ownedAlone(ctx context.Context, userID string) (all []Joined, alone []string, err error) {
	if all, err = o.Of(ctx, userID); err != nil {
		return nil, nil, err
	}
	for _, each := range all {
		if !slices.Contains(each.Owners, userID) {
			continue
		}
		err := o.dropOwner(ctx, &orgRecord{Organization: each.Organization}, userID)
		if err == nil {
			continue
		}
		if !errors.Is(err, ErrLastOwner) {
			return nil, nil, err
		}
		n, err := o.count(ctx, kindMember, each.ID)
		if err != nil {
			return nil, nil, err
		}
		if n > 1 {
			return nil, nil, problemOf(ErrLastOwner)
		}
		alone = append(alone, each.ID)
	}
	return all, alone, nil
}
