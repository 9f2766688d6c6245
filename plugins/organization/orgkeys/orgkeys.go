// Package orgkeys stores the API keys of organizations with plugins/apikey.
package orgkeys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/apikey"
	"github.com/latchkey-go/latchkey/plugins/organization"
)

// Of returns Options.Keys of plugins/organization. Add k to the plugins of the same Auth. A key of an organization is
// that of a service with the organization's ID, so all limits of k apply to it.
func Of(k *apikey.Keys) organization.Keys { return keys{k} }

type keys struct{ of *apikey.Keys }

// KeyOptions implements [organization.Keys].
func (k keys) KeyOptions() organization.KeyOptions {
	var o organization.KeyOptions
	for _, s := range k.of.Scopes() {
		o.Scopes = append(o.Scopes, organization.KeyScope(s))
	}
	o.Days, o.DefaultDays = k.of.Lifetimes()
	return o
}

// ListKeys implements [organization.Keys].
func (k keys) ListKeys(ctx context.Context, organizationID string) ([]organization.Key, error) {
	found, err := k.of.OfService(ctx, organizationID)
	all := []organization.Key{}
	for i := range found {
		all = append(all, *keyOf(&found[i]))
	}
	return all, err
}

// CreateKey implements [organization.Keys].
func (k keys) CreateKey(ctx context.Context, n organization.NewKey) (*organization.Key, core.Secret, error) {
	made, text, err := k.of.Create(ctx, apikey.NewKey{
		Service: n.OrganizationID, CreatedBy: n.CreatedBy, Name: n.Name, Scopes: n.Scopes,
		TTL: time.Duration(n.Days) * 24 * time.Hour,
	})
	for cause, known := range map[error]error{
		apikey.ErrName: organization.ErrKeyName, apikey.ErrScope: organization.ErrKeyScope,
		apikey.ErrTTL: organization.ErrKeyTTL, apikey.ErrTooMany: organization.ErrKeys,
	} {
		if errors.Is(err, cause) {
			return nil, "", fmt.Errorf("%w: %w", known, err)
		}
	}
	if err != nil {
		return nil, "", err
	}
	return keyOf(made), text, nil
}

// RevokeKey implements [organization.Keys].
func (k keys) RevokeKey(ctx context.Context, organizationID, id string) error {
	return k.of.RevokeService(ctx, organizationID, id)
}

func keyOf(k *apikey.Key) *organization.Key {
	return &organization.Key{
		ID: k.ID, Name: k.Name, Last4: k.Last4, Scopes: k.Scopes, CreatedBy: k.CreatedBy, Created: k.Created,
		Expires: k.Expires, Used: k.Used,
	}
}
