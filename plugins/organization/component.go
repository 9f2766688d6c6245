package organization

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// selectedKey is the key of a request's organization.
type selectedKey struct {
	of *Organizations
	id string
}

// Selected returns the selected organization of the signed-in user, for pages and components: its name, logo and
// metadata. It is nil if [Organizations.Current] returns nil. It reads the organization once for each request, in
// addition to the membership.
func (o *Organizations) Selected(ctx context.Context) (*Organization, error) {
	m, err := o.Current(ctx)
	if err != nil || m == nil {
		return nil, err
	}
	v, err := o.host.Once(ctx, selectedKey{o, m.OrganizationID}, func() (any, error) {
		r, err := o.find(ctx, m.OrganizationID)
		if errors.Is(err, core.ErrNotFound) {
			return (*Organization)(nil), nil
		}
		if err != nil {
			return nil, err
		}
		return &r.Organization, nil
	})
	org, _ := v.(*Organization)
	return org, err
}

// Switcher is a form that selects another organization of the signed-in user and returns to the current page. It works
// without JavaScript and has no styles. It renders nothing without a signed-in user, or if the user is in fewer than
// two organizations. It fails to render without the request hook. If Options.Select returns an organization for the
// page, the selection has no effect there.
func (o *Organizations) Switcher() templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		state, ok := ui.StateFrom(ctx)
		if !ok {
			return errors.New("organization: Switcher requires the adapter's request hook before the handler")
		}
		session, err := core.SessionFrom(ctx)
		if err != nil || session == nil {
			return err
		}
		all, err := o.Of(ctx, session.UserID)
		if err != nil {
			return fmt.Errorf("organization: Switcher: %w", err)
		}
		if len(all) < 2 {
			return nil
		}
		m, err := o.current(ctx, session.UserID)
		if err != nil {
			return fmt.Errorf("organization: Switcher: %w", err)
		}
		v := &listView{view: view{locale: state.Locale, base: state.BasePath + "/" + name}, all: all}
		if m != nil {
			v.active = m.OrganizationID
		}
		if v.csrf, err = ui.CSRFToken(ctx); err != nil {
			return fmt.Errorf("organization: Switcher: %w", err)
		}
		return switcher(v, state.CallbackURL).Render(ctx, w)
	})
}
