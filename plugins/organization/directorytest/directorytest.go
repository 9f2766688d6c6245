// Package directorytest has the contract of [organization.Directory] as tests.
package directorytest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// Options describes a Directory for [Run].
type Options struct {
	// Directory is the Directory, with empty tables or with rows that Run ignores.
	Directory organization.Directory
	// NewUser stores a user and returns its ID.
	NewUser func(ctx context.Context) string
	// Context returns the context of a test, for example with a transaction. The default is the context of t. Then Run
	// also makes concurrent calls.
	Context func(t *testing.T) context.Context
}

// Run tests a Directory.
func Run(t *testing.T, o Options) {
	t.Helper()
	concurrent := o.Context == nil
	if concurrent {
		o.Context = func(t *testing.T) context.Context { t.Helper(); return t.Context() }
	}
	for _, row := range []struct {
		name string
		run  func(*suite)
	}{
		{"organizations", (*suite).organizations},
		{"members", (*suite).members},
		{"pages", (*suite).pages},
		{"a conflict changes nothing", (*suite).conflicts},
	} {
		t.Run(row.name, func(t *testing.T) { row.run(&suite{t, o, o.Context(t)}) })
	}
	if concurrent {
		t.Run("concurrent changes", func(t *testing.T) { (&suite{t, o, t.Context()}).races() })
	}
}

type suite struct {
	*testing.T
	Options
	ctx context.Context //nolint:containedctx // of one test
}

func (s *suite) is(what string, err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Errorf("%s: %v, want %v", what, err, want)
	}
}

func (s *suite) organization() *organization.Row {
	s.Helper()
	owner := s.NewUser(s.ctx)
	o := &organization.Row{Organization: organization.Organization{
		ID: "org_" + core.NewID()[:22], Slug: "acme-" + core.NewID()[:8], Name: `<b>"Ácme" 東京`,
		Created: time.Date(2030, 1, 2, 3, 4, 5, 6_000_000, time.UTC), Owners: []string{owner},
	}}
	s.is("create", s.Directory.CreateOrganization(s.ctx, o), nil)
	return o
}

func (s *suite) same(got any, err error, want any) {
	s.Helper()
	if err != nil {
		s.Errorf("read: %v", err)
		return
	}
	text := func(v any) string { raw, _ := json.Marshal(v); return string(raw) }
	if text(got) != text(want) {
		s.Errorf("read %s, want %s", text(got), text(want))
	}
}

func (s *suite) organizations() {
	o := s.organization()
	if o.Version != 1 {
		s.Errorf("the version of a new organization is %d", o.Version)
	}
	got, err := s.Directory.Organization(s.ctx, o.ID)
	s.same(got, err, o)
	s.is("create again", s.Directory.CreateOrganization(s.ctx, o), core.ErrConflict)
	second := s.NewUser(s.ctx)
	o.Name, o.Logo, o.Metadata = "Other", "https://x.example/a.png", []byte(`{"b":[1,  2.50],"a":"<&>"}`)
	o.SecondFactor, o.JoinRequests, o.Deleted, o.Owners = true, true, true, append(o.Owners, second)
	s.is("update", s.Directory.UpdateOrganization(s.ctx, o), nil)
	if o.Version != 2 {
		s.Errorf("the version after an update is %d", o.Version)
	}
	got, err = s.Directory.Organization(s.ctx, o.ID)
	s.same(got, err, o)
	if err == nil && !reflect.DeepEqual(got.Owners, o.Owners) {
		s.Errorf("the owners are %v, want %v", got.Owners, o.Owners)
	}
	s.is("delete", s.Directory.DeleteOrganization(s.ctx, o.ID), nil)
	s.is("delete again", s.Directory.DeleteOrganization(s.ctx, o.ID), core.ErrNotFound)
	s.is("update a deleted one", s.Directory.UpdateOrganization(s.ctx, o), core.ErrNotFound)
	_, err = s.Directory.Organization(s.ctx, o.ID)
	s.is("read a deleted one", err, core.ErrNotFound)
}

func (s *suite) member(id, user string) *organization.MemberRow {
	s.Helper()
	m := &organization.MemberRow{
		Key: id + "." + core.NewID(), OrganizationID: id, UserID: user,
		Joined: time.Date(2030, 1, 2, 3, 4, 5, 6_000_000, time.UTC),
	}
	s.is("create a member", s.Directory.CreateMember(s.ctx, m), nil)
	return m
}

func (s *suite) members() {
	o, other := s.organization(), s.organization()
	user := s.NewUser(s.ctx)
	m := s.member(o.ID, user)
	if m.Version != 1 {
		s.Errorf("the version of a new membership is %d", m.Version)
	}
	got, err := s.Directory.Member(s.ctx, m.Key)
	s.same(got, err, m)
	s.is("create again", s.Directory.CreateMember(s.ctx, m), core.ErrConflict)
	m.Role = organization.Admin
	s.is("update", s.Directory.UpdateMember(s.ctx, m), nil)
	got, err = s.Directory.Member(s.ctx, m.Key)
	s.same(got, err, m)
	second := s.member(other.ID, user)
	all, err := s.Directory.MembershipsOf(s.ctx, user)
	if err != nil || len(all) != 2 {
		s.Errorf("the user has %d memberships, %v", len(all), err)
	}
	if all, err = s.Directory.MembershipsOf(s.ctx, s.NewUser(s.ctx)); err != nil || len(all) != 0 {
		s.Errorf("another user has %d memberships, %v", len(all), err)
	}
	s.is("delete", s.Directory.DeleteMember(s.ctx, m.Key), nil)
	s.is("delete again", s.Directory.DeleteMember(s.ctx, m.Key), core.ErrNotFound)
	s.is("update a deleted one", s.Directory.UpdateMember(s.ctx, m), core.ErrNotFound)
	_, err = s.Directory.Member(s.ctx, m.Key)
	s.is("read a deleted one", err, core.ErrNotFound)
	got, err = s.Directory.Member(s.ctx, second.Key)
	s.same(got, err, second)
}

func (s *suite) pages() {
	o, other := s.organization(), s.organization()
	want := map[string]bool{}
	for range 25 {
		want[s.member(o.ID, s.NewUser(s.ctx)).Key] = true
	}
	s.member(other.ID, s.NewUser(s.ctx))
	pages := 0
	for cursor := ""; ; pages++ {
		all, next, err := s.Directory.Members(s.ctx, o.ID, cursor, 10)
		if err != nil || len(all) > 10 || pages > 25 {
			s.Fatalf("page %d has %d members, %v", pages, len(all), err)
		}
		for _, m := range all {
			if !want[m.Key] || m.OrganizationID != o.ID {
				s.Errorf("page %d has %s again, or of another organization", pages, m.Key)
			}
			delete(want, m.Key)
		}
		if next == "" {
			break
		}
		cursor = next
	}
	if len(want) > 0 {
		s.Errorf("%d members are missing", len(want))
	}
}

// conflicts also checks that the next statements of a transaction work.
func (s *suite) conflicts() {
	o := s.organization()
	stale := *o
	o.Name = "First"
	s.is("update", s.Directory.UpdateOrganization(s.ctx, o), nil)
	stale.Name = "Second"
	s.is("update of an old version", s.Directory.UpdateOrganization(s.ctx, &stale), core.ErrConflict)
	got, err := s.Directory.Organization(s.ctx, o.ID)
	s.same(got, err, o)

	m := s.member(o.ID, s.NewUser(s.ctx))
	old := *m
	m.Role = organization.Member
	s.is("update", s.Directory.UpdateMember(s.ctx, m), nil)
	old.Role = organization.Admin
	s.is("update of an old version", s.Directory.UpdateMember(s.ctx, &old), core.ErrConflict)
	found, err := s.Directory.Member(s.ctx, m.Key)
	s.same(found, err, m)
}

func (s *suite) races() {
	o := s.organization()
	for round := range 5 {
		current, err := s.Directory.Organization(s.ctx, o.ID)
		if err != nil {
			s.Fatal(err)
		}
		var wait sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wait.Go(func() {
				own := *current
				own.Name = fmt.Sprint("Round ", round, " ", i)
				results[i] = s.Directory.UpdateOrganization(s.ctx, &own)
			})
		}
		wait.Wait()
		won := 0
		for _, err := range results {
			if err == nil {
				won++
			} else {
				s.is("a concurrent update", err, core.ErrConflict)
			}
		}
		if won != 1 {
			s.Errorf("%d concurrent updates of one version succeeded", won)
		}
	}
}
