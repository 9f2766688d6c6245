package organization

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// Directory stores organizations and memberships in tables of the application. Invitations, requests to join, slugs and
// domains stay records of the store. Package directorytest has its contract as tests.
//
// A row has a Version: 1 after it was created, and one more after each update. Of concurrent updates with the same
// version exactly one succeeds; the error of the others is [core.ErrConflict]. An update of a row that does not exist
// returns [core.ErrNotFound] and does not create it. A conflict must leave a transaction in ctx usable: use a condition
// in the statement, not a violated constraint.
//
// The application can pass a transaction in ctx: then a call such as [Organizations.Create] becomes a part of it. With
// Options.MembershipAge, a change in a transaction can take that time in this process too. Outside a transaction, a
// Directory must be safe for concurrent use.
type Directory interface {
	// Organization returns an organization, or [core.ErrNotFound].
	Organization(ctx context.Context, id string) (*Row, error)
	// CreateOrganization stores an organization and sets its Version to 1, or returns [core.ErrConflict] if the ID exists.
	CreateOrganization(ctx context.Context, o *Row) error
	// UpdateOrganization stores an organization if its version is o.Version, and increments o.Version.
	UpdateOrganization(ctx context.Context, o *Row) error
	// DeleteOrganization deletes an organization, or returns [core.ErrNotFound]. Its memberships were deleted before.
	DeleteOrganization(ctx context.Context, id string) error

	// Member returns the membership with a key, or [core.ErrNotFound].
	Member(ctx context.Context, key string) (*MemberRow, error)
	// CreateMember stores a membership and sets its Version to 1, or returns [core.ErrConflict] if the key exists. It is
	// called before the organization is created, so a foreign key must be deferred to the end of a transaction. It returns
	// [core.ErrNotFound] if there is no such user.
	CreateMember(ctx context.Context, m *MemberRow) error
	// UpdateMember stores the role and the time of a membership if its version is m.Version, and increments m.Version.
	UpdateMember(ctx context.Context, m *MemberRow) error
	// DeleteMember deletes a membership, or returns [core.ErrNotFound].
	DeleteMember(ctx context.Context, key string) error
	// Members returns at most limit memberships of an organization, also those without a role. The first cursor is empty;
	// next is the cursor of the next page, and empty after the last one. A membership that exists during the whole listing
	// is returned.
	Members(ctx context.Context, organizationID, cursor string, limit int) (all []*MemberRow, next string, err error)
	// MembershipsOf returns all memberships of a user, also those without a role.
	MembershipsOf(ctx context.Context, userID string) ([]*MemberRow, error)
}

// Row is an organization in a [Directory]. All fields of Organization are stored, also Owners.
type Row struct {
	Organization
	// Deleted marks an organization whose deletion has begun. It counts as deleted.
	Deleted bool
	Version int64
}

// MemberRow is a membership in a [Directory].
type MemberRow struct {
	// Key identifies the membership: at most 80 ASCII characters, made of the ID of the organization and a hash of that of
	// the user.
	Key                    string
	OrganizationID, UserID string
	// Role is empty while the member joins or leaves. It does not decide who is an owner: Owners does.
	Role string
	// Joined has milliseconds.
	Joined  time.Time
	Version int64
}

// directoryRecords passes the records of organizations and memberships to a Directory.
type directoryRecords struct {
	store.RecordStore
	lister store.RecordLister
	in     Directory
}

func rowOf(r *store.Record) (*Row, error) {
	var v stored
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, err
	}
	return &Row{
		Organization: Organization{
			ID: r.Key, Slug: v.Slug, Name: v.Name, Logo: v.Logo, Metadata: v.Metadata, SecondFactor: v.SecondFactor,
			JoinRequests: v.JoinRequests, Created: v.Created, Owners: v.Owners,
		},
		Deleted: v.Deleted, Version: r.Version,
	}, nil
}

func (o *Row) record() (*store.Record, error) {
	value, err := marshal(stored{
		Slug: o.Slug, Name: o.Name, Logo: o.Logo, Metadata: o.Metadata, Created: o.Created, Owners: o.Owners,
		SecondFactor: o.SecondFactor, JoinRequests: o.JoinRequests, Deleted: o.Deleted,
	})
	return &store.Record{Kind: kindOrganization, Key: o.ID, Value: value, Version: o.Version}, err
}

func memberRowOf(r *store.Record) (*MemberRow, error) {
	m, err := readMember(r)
	if err != nil {
		return nil, err
	}
	return &MemberRow{
		Key: r.Key, OrganizationID: m.OrganizationID, UserID: m.UserID, Role: m.Role, Joined: m.Joined,
		Version: r.Version,
	}, nil
}

func (m *MemberRow) record() (*store.Record, error) {
	value, err := marshal(storedMember{m.Role, m.Joined})
	return &store.Record{Kind: kindMember, Key: m.Key, UserID: m.UserID, Value: value, Version: m.Version}, err
}

// write passes a record to the function for its kind, and copies the new version.
func (d *directoryRecords) write(
	r *store.Record, organization func(*Row) error, member func(*MemberRow) error,
) error {
	if err := r.Check(); err != nil {
		return err
	}
	if r.Kind == kindOrganization {
		o, err := rowOf(r)
		if err == nil {
			err = organization(o)
		}
		if err == nil {
			r.Version = o.Version
		}
		return err
	}
	m, err := memberRowOf(r)
	if err == nil {
		err = member(m)
	}
	if err == nil {
		r.Version = m.Version
	}
	return err
}

// CreateRecord implements [store.RecordStore].
func (d *directoryRecords) CreateRecord(ctx context.Context, r *store.Record) error {
	if r.Kind != kindOrganization && r.Kind != kindMember {
		return d.RecordStore.CreateRecord(ctx, r)
	}
	return d.write(r, func(o *Row) error { return d.in.CreateOrganization(ctx, o) },
		func(m *MemberRow) error { return d.in.CreateMember(ctx, m) })
}

// UpdateRecord implements [store.RecordStore].
func (d *directoryRecords) UpdateRecord(ctx context.Context, r *store.Record) error {
	if r.Kind != kindOrganization && r.Kind != kindMember {
		return d.RecordStore.UpdateRecord(ctx, r)
	}
	return d.write(r, func(o *Row) error { return d.in.UpdateOrganization(ctx, o) },
		func(m *MemberRow) error { return d.in.UpdateMember(ctx, m) })
}

// Record implements [store.RecordStore].
func (d *directoryRecords) Record(ctx context.Context, kind, key string) (*store.Record, error) {
	switch kind {
	case kindOrganization:
		o, err := d.in.Organization(ctx, key)
		if err != nil {
			return nil, err
		}
		return o.record()
	case kindMember:
		m, err := d.in.Member(ctx, key)
		if err != nil {
			return nil, err
		}
		return m.record()
	}
	return d.RecordStore.Record(ctx, kind, key)
}

// DeleteRecord implements [store.RecordStore]. The returned organizations and memberships have only a key.
func (d *directoryRecords) DeleteRecord(ctx context.Context, kind, key string) (*store.Record, error) {
	switch kind {
	case kindOrganization:
		return &store.Record{Kind: kind, Key: key}, d.in.DeleteOrganization(ctx, key)
	case kindMember:
		return &store.Record{Kind: kind, Key: key}, d.in.DeleteMember(ctx, key)
	}
	return d.RecordStore.DeleteRecord(ctx, kind, key)
}

// UserRecords implements [store.RecordStore].
func (d *directoryRecords) UserRecords(ctx context.Context, userID, kind string) ([]*store.Record, error) {
	if kind != kindMember {
		return d.RecordStore.UserRecords(ctx, userID, kind)
	}
	found, err := d.in.MembershipsOf(ctx, userID)
	if err != nil {
		return nil, err
	}
	return memberRecords(found)
}

func memberRecords(found []*MemberRow) (all []*store.Record, err error) {
	for _, m := range found {
		r, err := m.record()
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// ListRecords implements [store.RecordLister]. The prefix of memberships is the ID of an organization and a dot.
func (d *directoryRecords) ListRecords(
	ctx context.Context, kind, prefix, cursor string, limit int,
) ([]*store.Record, string, error) {
	if kind != kindMember {
		if d.lister == nil {
			return nil, "", errors.New("organization: the store does not list records")
		}
		return d.lister.ListRecords(ctx, kind, prefix, cursor, limit)
	}
	found, next, err := d.in.Members(ctx, strings.TrimSuffix(prefix, "."), cursor, limit)
	if err != nil {
		return nil, "", err
	}
	all, err := memberRecords(found)
	return all, next, err
}
