package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/admin"
)

// programRecords are the kinds of the records of programs that act for a user: API keys of plugins/apikey, and the
// codes and refresh tokens of plugins/tokens.
var programRecords = []string{keyKind, "app-code", "app-approval", "app-grant"}

// bans returns the plugin of an application with this store.
func (c *command) bans(s *opened) (*admin.Admin, error) {
	config := c.config(s)
	config.Session = core.SessionConfig{Strategy: core.StrategyDatabase}
	admins := admin.New(admin.Options{Guard: func(context.Context, *core.Session) error { return core.ErrForbidden }})
	config.Plugins = []core.Plugin{admins}
	_, err := core.New(config)
	return admins, err
}

// ban bans a user, and ends their sessions under both strategies. The application must have the plugin admin.
func (c *command) ban(ctx context.Context, s *opened, u *core.User) error {
	b := admin.Ban{Reason: c.reason}
	if c.until != "" {
		var err error
		if b.Until, err = time.Parse(time.DateOnly, c.until); err != nil {
			return errors.New("--until must be a date, such as 2030-01-31")
		}
	}
	admins, err := c.bans(s)
	if err != nil {
		return err
	}
	if err := admins.Ban(ctx, u.ID, b); err != nil {
		return reasoned(err)
	}
	n, err := s.removeRecords(ctx, u.ID, programRecords)
	if err != nil {
		return err
	}
	if err := c.signOut(ctx, s, u); err != nil {
		return err
	}
	return c.say("banned, API keys and apps ended: %d. Sign-ins are refused if the application has plugins/admin", n)
}

func (c *command) unban(ctx context.Context, s *opened, u *core.User) error {
	admins, err := c.bans(s)
	if err != nil {
		return err
	}
	err = admins.Unban(ctx, u.ID, "", c.reason)
	if errors.Is(err, core.ErrNotFound) {
		return errors.New("the user is not banned")
	}
	return reasoned(err)
}

// reasoned explains the errors of the flags.
func reasoned(err error) error {
	switch {
	case errors.Is(err, admin.ErrReason):
		return errors.New("give a reason of at most 200 characters with --reason")
	case errors.Is(err, admin.ErrUntil):
		return errors.New("--until must be in the future")
	}
	return err
}

// banLine describes the record of a ban.
func banLine(r *store.Record) (string, error) {
	var b admin.Ban
	if err := json.Unmarshal(r.Value, &b); err != nil {
		return "", err
	}
	until := "without an end date"
	if !b.Until.IsZero() {
		until = "until " + b.Until.UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf("banned   %s  %s", until, b.Reason), nil
}
