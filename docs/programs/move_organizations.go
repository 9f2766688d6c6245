package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// membership is one line of the export.
type membership struct {
	Slug, Name, Logo, Email, Role string
	Metadata                      json.RawMessage
}

// roles maps the roles of the export to yours.
var roles = map[string]string{
	"owner": organization.Owner, "admin": organization.Admin, "member": organization.Member,
	"org:admin": organization.Admin, "org:member": organization.Member,
}

// move imports the whole file. It may be called again.
func move(ctx context.Context, file io.Reader, users core.Store, orgs *organization.Organizations) error {
	for lines := json.NewDecoder(file); ; {
		var m membership
		err := lines.Decode(&m)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = moveOne(ctx, m, users, orgs)
		}
		if err != nil {
			return fmt.Errorf("%s in %s: %w", m.Email, m.Slug, err)
		}
	}
}

func moveOne(ctx context.Context, m membership, users core.Store, orgs *organization.Organizations) error {
	role, ok := roles[m.Role]
	if !ok {
		return fmt.Errorf("unknown role %q: add it to Options.Roles and to the map", m.Role)
	}
	user, err := core.UserByMailbox(ctx, users, m.Email)
	if err != nil {
		return err // import the users first
	}
	org, err := orgs.Get(ctx, m.Slug)
	if errors.Is(err, core.ErrNotFound) { // the first line of an organization is that of an owner
		_, err = orgs.Create(ctx, organization.NewOrganization{
			OwnerID: user.ID, Name: m.Name, Slug: m.Slug, Logo: m.Logo, Metadata: m.Metadata,
		})
		return err
	}
	if err != nil {
		return err
	}
	current, err := orgs.MemberOf(ctx, org.ID, user.ID)
	switch {
	case err == nil && (current.Role == role || current.Role == organization.Owner):
		return nil
	case errors.Is(err, core.ErrNotFound):
		err = orgs.Add(ctx, org.ID, user.ID, organization.Member)
	}
	if err != nil {
		return err
	}
	return orgs.SetRole(ctx, org.ID, user.ID, role)
}
