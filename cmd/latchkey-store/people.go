package main

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/organization"
	"github.com/latchkey-go/latchkey/providers/smtp"
)

// addressActs are the commands on an address that may have no user.
var addressActs = map[string]func(
	c *command, ctx context.Context, s *opened, address string,
) (userID string, err error){
	"create": (*command).create,
	"invite": (*command).invite,
}

func (c *command) forAddress(ctx context.Context, s *opened, name, text string) error {
	address, err := core.NormalizeEmail(text)
	if err != nil {
		return errors.New("this is not a plain email address")
	}
	if err := c.ask(name + " " + address); err != nil {
		return err
	}
	userID, err := addressActs[name](c, ctx, s, address)
	if err == nil {
		c.audit("users "+name, userID)
	}
	return err
}

// create creates a user without sign-in methods. The user signs in with a link or a code by email, or resets the
// password.
func (c *command) create(ctx context.Context, s *opened, address string) (string, error) {
	u, err := s.CreateUser(ctx, &core.User{ID: core.NewID(), Email: address, Name: c.name})
	if errors.Is(err, core.ErrConflict) {
		return "", errors.New("there is a user with this address already")
	}
	if err != nil {
		return "", err
	}
	return u.ID, c.say("%s", userLine(u))
}

// invite sends the invitation of plugins/account.
func (c *command) invite(ctx context.Context, s *opened, address string) (string, error) {
	if c.getenv("AUTH_SECRET") == "" || c.getenv("AUTH_URL") == "" {
		return "", errors.New("set AUTH_SECRET and AUTH_URL to the application's values: the link depends on them")
	}
	mailer := c.mail
	if mailer == nil {
		mailer = smtp.NewMailer(smtp.Options{})
	}
	config, accounts := c.config(s), account.New(account.Options{Mail: mailer})
	config.Plugins = []core.Plugin{accounts}
	auth, err := core.New(config)
	if err != nil {
		return "", err
	}
	if err := accounts.Invite(ctx, account.Invitation{Email: address}); err != nil {
		return "", err
	}
	if err := auth.FlushMail(ctx); err != nil {
		return "", err
	}
	return "", c.say("sent an invitation to %s", address)
}

// verifier is a plugin that marks addresses as verified.
type verifier struct{ host *core.PluginHost }

// Attach implements [core.Plugin].
func (v *verifier) Attach(h *core.PluginHost) error {
	v.host = h
	h.VerifiesEmail()
	h.EndsSessions()
	return nil
}

// verifyEmail does what a confirmation link does. It always ends all sessions, because the store cannot distinguish
// those of the address's owner.
func (c *command) verifyEmail(ctx context.Context, s *opened, u *core.User) error {
	switch {
	case u.Email == "":
		return errors.New("the user has no address")
	case !u.EmailVerified.IsZero():
		return errors.New("the address is verified already")
	}
	config, v := c.config(s), &verifier{}
	config.Session = core.SessionConfig{Strategy: core.StrategyDatabase}
	config.Plugins = []core.Plugin{v}
	if _, err := core.New(config); err != nil {
		return err
	}
	if err := v.host.MarkEmailVerified(ctx, u.ID, u.Email); err != nil {
		return err
	}
	return c.signOut(ctx, s, u)
}

// noMail is the mailer of a plugin that sends nothing here.
type noMail struct{}

// Send implements [core.Mailer].
func (noMail) Send(context.Context, core.Email) error { return errors.New("no email is sent") }

// organizations returns the plugin of an application with this store.
func (c *command) organizations(s *opened) (*organization.Organizations, error) {
	config, orgs := c.config(s), organization.New(organization.Options{Mail: noMail{}})
	config.Session = core.SessionConfig{Strategy: core.StrategyDatabase}
	config.Plugins = []core.Plugin{orgs}
	_, err := core.New(config)
	return orgs, err
}

// remove deletes a user. Organizations are data that other users share: their last owner is refused, as on the account
// page, and memberships end first. With --force the organizations stay without an owner.
func (c *command) remove(ctx context.Context, s *opened, u *core.User) error {
	orgs, err := c.organizations(s)
	if err != nil {
		return err
	}
	err = orgs.CheckDelete(ctx, u)
	var refused *core.Problem
	switch {
	case errors.As(err, &refused) && !c.force:
		return errors.New("the user is the last owner of an organization with other members: transfer it first, or give " +
			"--force")
	case refused != nil:
		err = c.say("an organization with other members has no owner now")
	case err == nil:
		err = orgs.ForgetUser(ctx, u)
	}
	if err != nil {
		return err
	}
	if err := c.signOut(ctx, s, u); err != nil { // session tokens (JWT) can be revoked only while the user exists
		return err
	}
	if err := s.DeleteUser(ctx, u.ID); err != nil {
		return err
	}
	return c.say("deleted. The application's own tables, and those of your plugins, may still have data of %s", u.ID)
}
