package password

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// AccountSection implements account.Section: the username, the number of recovery codes, and links to the
// pages that change them.
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
	var codes recoverySection
	if m.codes != nil && has.Name != "" {
		codes.url = c.URL(ID + "/recovery-codes")
		if codes.left, err = m.codes.left(ctx, session.UserID); err != nil {
			return nil, err
		}
	}
	return &ui.PageSection{
		ID: "username", Heading: c.Locale.Say(textUsernameLabel),
		Content: usernameSection(c.Locale, has.Name, c.URL(ID+"/username"), codes),
	}, nil
}

// usernameData is what an administrator and the user see of the username.
type usernameData struct {
	Username string `json:"username"`
	// RecoveryCodes is the number of unused codes. It is nil without Usernames.Alone.
	RecoveryCodes *int `json:"recoveryCodes,omitempty"`
}

// recoverySection is the data of the recovery codes on the account page. url is empty if the user cannot have codes.
type recoverySection struct {
	url  string
	left int
}
