package organization_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/plugins/organization/directorytest"
)

// tables is a Directory in memory.
type tables struct {
	mu   sync.Mutex
	orgs map[string]organization.Row
	rows map[string]organization.MemberRow
}

func newTables() *tables {
	return &tables{orgs: map[string]organization.Row{}, rows: map[string]organization.MemberRow{}}
}

func get[T any](d *tables, m map[string]T, key string) (*T, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, ok := m[key]
	if !ok {
		return nil, core.ErrNotFound
	}
	return &v, nil
}

// put stores a row if its version is the stored one, which is 0 if there is none.
func put[T any](
	d *tables, m map[string]T, key string, row *T, version *int64, stored func(T) int64, create bool,
) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, ok := m[key]
	switch {
	case create && ok, !create && ok && stored(before) != *version:
		return core.ErrConflict
	case !create && !ok:
		return core.ErrNotFound
	case create:
		*version = 0
	}
	*version++
	m[key] = *row
	return nil
}

func remove[T any](d *tables, m map[string]T, key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := m[key]; !ok {
		return core.ErrNotFound
	}
	delete(m, key)
	return nil
}

func orgVersion(o organization.Row) int64       { return o.Version }
func rowVersion(m organization.MemberRow) int64 { return m.Version }

func (d *tables) Organization(_ context.Context, id string) (*organization.Row, error) {
	return get(d, d.orgs, id)
}

func (d *tables) CreateOrganization(_ context.Context, o *organization.Row) error {
	return put(d, d.orgs, o.ID, o, &o.Version, orgVersion, true)
}

func (d *tables) UpdateOrganization(_ context.Context, o *organization.Row) error {
	return put(d, d.orgs, o.ID, o, &o.Version, orgVersion, false)
}

func (d *tables) DeleteOrganization(_ context.Context, id string) error { return remove(d, d.orgs, id) }

func (d *tables) Member(_ context.Context, key string) (*organization.MemberRow, error) {
	return get(d, d.rows, key)
}

func (d *tables) CreateMember(_ context.Context, m *organization.MemberRow) error {
	return put(d, d.rows, m.Key, m, &m.Version, rowVersion, true)
}

func (d *tables) UpdateMember(_ context.Context, m *organization.MemberRow) error {
	return put(d, d.rows, m.Key, m, &m.Version, rowVersion, false)
}

func (d *tables) DeleteMember(_ context.Context, key string) error { return remove(d, d.rows, key) }

func (d *tables) where(match func(organization.MemberRow) bool) (all []*organization.MemberRow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := []string{}
	for key := range d.rows {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if m := d.rows[key]; match(m) {
			all = append(all, &m)
		}
	}
	return all
}

func (d *tables) Members(
	_ context.Context, id, cursor string, limit int,
) (page []*organization.MemberRow, next string, err error) {
	all := d.where(func(m organization.MemberRow) bool { return m.OrganizationID == id && m.Key > cursor })
	if len(all) > limit {
		return all[:limit], all[limit-1].Key, nil
	}
	return all, "", nil
}

func (d *tables) MembershipsOf(_ context.Context, userID string) ([]*organization.MemberRow, error) {
	return d.where(func(m organization.MemberRow) bool { return m.UserID == userID }), nil
}

// TestDirectory runs the contract with a Directory in memory, and uses the plugin with it in two processes.
func TestDirectory(t *testing.T) {
	t.Parallel()
	n := 0
	directorytest.Run(t, directorytest.Options{Directory: newTables(), NewUser: func(context.Context) string {
		n++
		return "user" + strconv.Itoa(n)
	}})

	ctx, own := t.Context(), newTables()
	change := func(_ *core.Config, o *organization.Options) { o.Directory = own }
	s := newSite(t, change)
	other := s.process(change)
	id := s.found("bob admin", "kim owner")
	ada, bob := s.as("ada"), s.as("bob")
	s.is((&client{bob.Client, other}).get("/admins"), "200")
	s.is(ada.post("invite", "organization", id, "email", "eve@example.com", "role", "accountant"), "200")
	s.is(s.as("eve").post("accept", "token", s.link()), "200")
	s.is(s.as("eve").get("/invoices"), "200")
	if len(own.orgs) != 1 || len(own.rows) != 4 {
		t.Errorf("the tables have %d organizations and %d members", len(own.orgs), len(own.rows))
	}
	if all, err := s.rows.UserRecords(ctx, "ada", "organization-member"); err != nil || len(all) != 0 {
		t.Errorf("the store has records of a member: %v, %v", all, err)
	}
	for range 20 { // one of two owners stays
		left := together(
			func() error { return s.orgs.Remove(ctx, id, "ada") },
			func() error { return other.orgs.Remove(ctx, id, "kim") },
		)
		org, err := s.orgs.Get(ctx, id)
		if err != nil || left != 1 || len(org.Owners) != 1 {
			t.Fatalf("%d owners left, and %+v, %v is there", left, org, err)
		}
		back := "ada"
		if org.Owners[0] == "ada" {
			back = "kim"
		}
		if err := errors.Join(s.orgs.Add(ctx, id, back, "member"), s.orgs.SetRole(ctx, id, back, "owner")); err != nil {
			t.Fatal(err)
		}
	}
	s.consistent(id)
	if members, _, err := s.orgs.Members(ctx, id, "", 10); err != nil || len(members) != 4 {
		t.Errorf("the members are %s, %v", fmt.Sprint(members), err)
	}
	if err := s.orgs.Delete(ctx, id); err != nil {
		t.Fatal(err)
	}
	if len(own.orgs)+len(own.rows) != 0 {
		t.Errorf("left: %v %v", own.orgs, own.rows)
	}
	s.is((&client{bob.Client, other}).get("/member", "X-Organization", id), "403 forbidden")
}
