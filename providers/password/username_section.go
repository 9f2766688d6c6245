package password

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// AccountSection implements account.Section: the username, and a link to the page that changes it.
func (p *Provider) AccountSection(ctx context.Context, c *core.ActionRequest) (*ui.PageSection, error) {
	if !p.options.Usernames.On {
		return nil, nil
	}
	m, err := p.onlyManagement()
	if err != nil {
		return nil, err
	}
	session, err := c.Session(ctx)
	if err != nil || session == nil {
		return nil, err
	}
	_, has, err := m.names.load(ctx, session.UserID)
	if err != nil {
		return nil, err
	}
	return &ui.PageSection{
		ID: "username", Heading: c.Locale.Say(textUsernameLabel),
		Content: usernameSection(c.Locale, has.Name, c.URL(ID+"/username")),
	}, nil
}
