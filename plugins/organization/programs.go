package organization

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core"
)

// PermissionOrScope returns a guard for RequirePrincipal of an adapter. In the selected organization, it allows
//
//   - members with the permission, as [Organizations.Permission] does,
//   - API keys of the organization that have the permission as a scope: keys whose NewKey.Service is its ID,
//   - API keys of such members with the same scope. If the organization requires a second factor, they are refused.
//
// The organization of a program is the one that Options.Select returns, else that of the key or the user's only one.
func (o *Organizations) PermissionOrScope(permission string) core.PrincipalGuard {
	scope := core.Scopes(permission)
	return func(ctx context.Context, p *core.Principal) error {
		if p.Session != nil {
			return o.Permission(permission)(ctx, p.Session)
		}
		id, m, err := o.ofProgram(ctx, p)
		switch {
		case err != nil:
			return err
		case id == "" || m != nil && !m.Allows(permission):
			return core.ErrForbidden
		}
		return scope(ctx, p)
	}
}

// OrganizationID returns the ID of the organization of a request behind [Organizations.PermissionOrScope], of a user or
// a program, or "" if there is none.
func (o *Organizations) OrganizationID(ctx context.Context) (string, error) {
	p, err := core.PrincipalFrom(ctx)
	if err != nil || p == nil {
		return "", err
	}
	if p.Session == nil {
		id, _, err := o.ofProgram(ctx, p)
		return id, err
	}
	m, err := o.Current(ctx)
	if err != nil || m == nil {
		return "", err
	}
	return m.OrganizationID, nil
}

// ofProgram returns the organization of a credential, and the membership of its user if it belongs to one.
func (o *Organizations) ofProgram(ctx context.Context, p *core.Principal) (id string, m *Membership, err error) {
	if p.UserID != "" {
		m, err = o.current(ctx, p.UserID)
		if err != nil || m == nil || m.secondFactor {
			return "", nil, err
		}
		return m.OrganizationID, m, nil
	}
	if !isID(p.Service) {
		return "", nil, nil
	}
	selected, err := o.selectedByRequest(ctx)
	if err != nil || selected != "" && selected != p.Service {
		return "", nil, err
	}
	known, ok := o.policies.get(p.Service, o.host.Now())
	if !ok {
		if known, err = o.readPolicy(ctx, p.Service); err != nil {
			return "", nil, err
		}
	}
	if known.deleted {
		return "", nil, nil
	}
	return p.Service, nil, nil
}

// selectedByRequest returns what Options.Select returns, with a slug resolved to an ID. A slug that does not exist is
// returned unchanged.
func (o *Organizations) selectedByRequest(ctx context.Context) (string, error) {
	r := o.host.RequestFrom(ctx)
	if r == nil {
		return "", core.ErrNoHook
	}
	if o.options.Select == nil {
		return "", nil
	}
	id := o.options.Select(r)
	if !isSlug(id) {
		return id, nil
	}
	found, err := o.bySlug(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		return id, nil
	}
	return found, err
}
