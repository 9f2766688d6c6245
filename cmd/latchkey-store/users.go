package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/doctor"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/smtp"
)

// act is a command on one user. If question is not empty, the command changes the user and asks for confirmation.
type act struct {
	question string
	do       func(c *command, ctx context.Context, s *opened, u *core.User) error
}

var acts = map[string]*act{
	"find":           {"", (*command).find},
	"show":           {"", (*command).show},
	"sign-out":       {"end all sessions of %s", (*command).signOut},
	"reset-password": {"email %s a link to set a new password", (*command).resetPassword},
	"reset-factors":  {"remove all passkeys and second factors of %s, and end all sessions", (*command).resetFactors},
	"ban":            {"ban %s, and end all sessions, API keys and apps", (*command).ban},
	"unban":          {"lift the ban of %s", (*command).unban},
	"delete":         {"delete %s with all accounts, sessions, passkeys and records", (*command).remove},
	"verify-email": {
		"mark the address of %s as verified, remove sign-in methods that may belong to someone else, and end all sessions",
		(*command).verifyEmail,
	},
}

func (c *command) users(ctx context.Context, s *opened, name, who string) error {
	u, err := c.user(ctx, s, who)
	if err != nil {
		return err
	}
	a := acts[name]
	if a.question == "" {
		return a.do(c, ctx, s, u)
	}
	if err := c.ask(fmt.Sprintf(a.question, u.Email+" ("+u.ID+")")); err != nil {
		return err
	}
	if err := a.do(c, ctx, s, u); err != nil {
		return err
	}
	c.audit("users "+name, u.ID)
	return nil
}

// user is lookUp with an error for the terminal.
func (c *command) user(ctx context.Context, s store.Store, who string) (*core.User, error) {
	u, err := c.lookUp(ctx, s, who)
	if errors.Is(err, core.ErrNotFound) {
		if strings.Contains(who, "://") || conninfo.MatchString(who) { // perhaps the address of a store
			return nil, errors.New("there is no such user")
		}
		return nil, fmt.Errorf("there is no user %s", shown(who))
	}
	return u, err
}

// lookUp finds a user by address or ID. An address is looked up as typed, then in canonical form. If these are two
// users, lookUp returns neither, and the error names both.
func (c *command) lookUp(ctx context.Context, s store.Store, who string) (*core.User, error) {
	if c.byID || !strings.Contains(who, "@") {
		return s.User(ctx, who)
	}
	typed, err := s.UserByEmail(ctx, who)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	address, invalid := core.NormalizeEmail(who)
	if invalid != nil || address == who {
		return typed, err
	}
	canonical, failed := s.UserByEmail(ctx, address)
	switch {
	case err != nil:
		return canonical, failed
	case errors.Is(failed, core.ErrNotFound), failed == nil && canonical.ID == typed.ID:
		return typed, nil
	case failed != nil:
		return nil, failed
	}
	return nil, fmt.Errorf("two users have this mailbox: %s is user %s, and %s is user %s: choose one with --id",
		shown(typed.Email), shown(typed.ID), shown(canonical.Email), shown(canonical.ID))
}

// errNoList is the error for stores that cannot list users.
var errNoList = errors.New("this store cannot list its users: PostgreSQL, MySQL and SQLite can")

// emails lists the users with an address that is not in canonical form, and marks each one that shares a mailbox with
// another user.
func (c *command) emails(ctx context.Context, s *opened) error {
	lister, ok := s.everything.(store.EmailLister)
	if !ok {
		return errNoList
	}
	type user struct{ id, email, canonical string }
	var odd []user
	owners := map[string][]string{} // by the canonical addresses of odd
	err := lister.EachEmail(ctx, func(id, email string) error {
		if canonical, _ := core.NormalizeEmail(email); canonical != email {
			odd, owners[canonical] = append(odd, user{id, email, canonical}), nil
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = lister.EachEmail(ctx, func(id, email string) error {
		canonical, _ := core.NormalizeEmail(email)
		if _, wanted := owners[canonical]; wanted {
			owners[canonical] = append(owners[canonical], id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, u := range odd {
		others := slices.DeleteFunc(slices.Clone(owners[u.canonical]), func(id string) bool { return id == u.id })
		switch {
		case u.canonical == "":
			err = c.say("%s  %s  is not a plain address: no sign-in matches it", u.id, u.email)
		case len(others) > 0:
			err = c.say("%s  %s  should be %s, which user %s has too", u.id, u.email, u.canonical, strings.Join(others, ", "))
		default:
			err = c.say("%s  %s  should be %s", u.id, u.email, u.canonical)
		}
		if err != nil {
			return err
		}
	}
	if len(odd) == 0 {
		return c.say("all addresses are in canonical form")
	}
	return fmt.Errorf("addresses that are not in canonical form: %d", len(odd))
}

// ask returns errNo unless the user types "yes" or --yes is given.
func (c *command) ask(what string) error {
	if c.yes {
		return nil
	}
	if _, err := fmt.Fprintf(c.out, "%s? [y/N] ", shown(what)); err != nil {
		return err
	}
	line, err := bufio.NewReader(io.LimitReader(c.in, 100)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return errNo
	}
	return nil
}

// audit writes a line of JSON with the change, the user and the operator.
func (c *command) audit(action, userID string) {
	slog.New(slog.NewJSONHandler(c.log, nil)).Info("audit", //nolint:sloglint // the program ends with its last line
		slog.String("action", "latchkey "+action), slog.String("user", userID), slog.String("by", c.getenv("USER")))
}

// listUsers prints all users.
func (c *command) listUsers(ctx context.Context, s *opened) error {
	return c.printUsers(func(cursor string) ([]*core.User, string, error) {
		return s.ListUsers(ctx, cursor, store.MaxPage)
	}, "")
}

// findUsers prints the users whose address begins with a text, which an asterisk follows. Addresses are compared
// exactly. On a store without an index for prefixes it reads all users.
func (c *command) findUsers(ctx context.Context, s *opened, pattern string) error {
	prefix := strings.TrimSuffix(pattern, "*")
	if _, _, err := s.ListUsersByEmail(ctx, prefix, "", 1); err == nil {
		return c.printUsers(func(cursor string) ([]*core.User, string, error) {
			return s.ListUsersByEmail(ctx, prefix, cursor, store.MaxPage)
		}, prefix)
	} else if !errors.Is(err, store.ErrUnsupported) {
		return err
	}
	return c.printUsers(func(cursor string) ([]*core.User, string, error) {
		return s.ListUsers(ctx, cursor, store.MaxPage)
	}, prefix)
}

// printUsers prints the users of all pages whose address begins with prefix. A store may return a user twice.
func (c *command) printUsers(page func(cursor string) ([]*core.User, string, error), prefix string) error {
	seen := map[string]bool{}
	for cursor := ""; ; {
		users, next, err := page(cursor)
		if err != nil {
			return err
		}
		for _, u := range users {
			if seen[u.ID] || !strings.HasPrefix(u.Email, prefix) {
				continue
			}
			seen[u.ID] = true
			if err := c.say("%s", userLine(u)); err != nil {
				return err
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	if len(seen) == 0 {
		return c.say("no users")
	}
	return nil
}

func (c *command) find(_ context.Context, _ *opened, u *core.User) error {
	return c.say("%s", userLine(u))
}

// userLine describes a user.
func userLine(u *core.User) string {
	verified := "not verified"
	if !u.EmailVerified.IsZero() {
		verified = "verified " + u.EmailVerified.UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf("%s  %s (%s)  %s", u.ID, u.Email, verified, u.Name)
}

// recordLines describe the records whose values show prints.
var recordLines = map[string]func(r *store.Record) (string, error){"ban": banLine, "activity": activityLines}

// activity is an entry of the recent security activity: account.Activity of plugins/account.
type activity struct {
	Time     time.Time `json:"time"`
	Event    string    `json:"event"`
	Refused  bool      `json:"refused"`
	Count    int       `json:"count"`
	Provider string    `json:"provider"`
	Browser  string    `json:"browser"`
	System   string    `json:"system"`
	Network  string    `json:"network"`
	Support  bool      `json:"support"`
}

// activityLines describes the recent security activity that plugins/account stores (account.Options.Activity).
func activityLines(r *store.Record) (string, error) {
	var list []activity
	if err := json.Unmarshal(r.Value, &list); err != nil {
		return "", err
	}
	lines := make([]string, 0, len(list))
	for _, a := range list {
		text := []string{"activity " + a.Time.UTC().Format(time.RFC3339), a.Event}
		if a.Refused {
			text = append(text, fmt.Sprintf("refused ×%d", a.Count))
		}
		if a.Support {
			text = append(text, "by an administrator")
		}
		for _, part := range []string{a.Provider, a.Network, a.Browser, a.System} {
			if part != "" {
				text = append(text, part)
			}
		}
		lines = append(lines, strings.Join(text, "  "))
	}
	return strings.Join(lines, "\n"), nil
}

// show prints the store's data of a user, without tokens. Of records it prints only bans and the recent activity.
func (c *command) show(ctx context.Context, s *opened, u *core.User) error {
	accounts, err := s.Accounts(ctx, u.ID)
	sessions, sessionsErr := s.Sessions(ctx, u.ID)
	passkeys, passkeysErr := s.Authenticators(ctx, u.ID)
	records, recordsErr := s.UserRecords(ctx, u.ID, "")
	if err := errors.Join(err, sessionsErr, passkeysErr, recordsErr); err != nil {
		return err
	}
	if err := c.find(ctx, s, u); err != nil {
		return err
	}
	for _, a := range accounts {
		if err := c.say("account  %s  %s", a.Provider, a.ProviderAccountID); err != nil {
			return err
		}
	}
	for _, each := range sessions {
		if err := c.say("session  until %s", each.Expires.UTC().Format(time.RFC3339)); err != nil {
			return err
		}
	}
	for _, p := range passkeys {
		if err := c.say("passkey  %s", p.CredentialDeviceType); err != nil {
			return err
		}
	}
	kinds := map[string]int{}
	for _, r := range records {
		kinds[r.Kind]++
		describe := recordLines[r.Kind]
		if describe == nil {
			continue
		}
		lines, err := describe(r)
		if err == nil {
			err = c.say("%s", lines)
		}
		if err != nil {
			return err
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if err := c.say("records  %s: %d", kind, kinds[kind]); err != nil {
			return err
		}
	}
	return nil
}

// config returns a configuration with this store. The secret matters only if something is encrypted with it. Ending
// sessions encrypts nothing.
func (c *command) config(s *opened) core.Config {
	secrets := []core.Secret(nil)
	if c.getenv("AUTH_SECRET") == "" {
		secrets = []core.Secret{core.Secret(rand.Text() + rand.Text())}
	}
	return core.Config{
		Store: s.everything, Secrets: secrets, Getenv: c.getenv, Logger: slog.New(slog.DiscardHandler), CleanUp: core.False,
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}},
	}
}

// signOut ends sessions under both strategies, because the store does not show which one the application uses.
func (c *command) signOut(ctx context.Context, s *opened, u *core.User) error {
	ended := 0
	for _, session := range []core.SessionConfig{
		{Strategy: core.StrategyDatabase}, {Strategy: core.StrategyJWT, Revocation: core.Revocation{On: core.True}},
	} {
		config := c.config(s)
		config.Session = session
		auth, err := core.New(config)
		if err != nil {
			return err
		}
		n, err := auth.EndSessions(ctx, u.ID, core.EndOptions{})
		if err != nil {
			return err
		}
		ended += n
	}
	return c.say("ended: %d. Session tokens (JWT) end within seconds if Session.Revocation is on, otherwise when they "+
		"expire",
		ended)
}

// resetPassword sends the same link as the page "Reset your password".
func (c *command) resetPassword(ctx context.Context, s *opened, u *core.User) error {
	if c.getenv("AUTH_SECRET") == "" || c.getenv("AUTH_URL") == "" {
		return errors.New("set AUTH_SECRET and AUTH_URL to the application's values: the link depends on them")
	}
	mailer := c.mail
	if mailer == nil {
		mailer = smtp.NewMailer(smtp.Options{})
	}
	config, way := c.config(s), password.New(password.Options{Mail: mailer})
	config.Providers = []core.Provider{way}
	if _, err := core.New(config); err != nil {
		return err
	}
	if err := way.SendReset(ctx, u.ID); err != nil {
		return err
	}
	return c.say("sent a link to %s", u.Email)
}

// doctor checks only the store.
func (c *command) doctor(ctx context.Context, s *opened) error {
	config := c.config(s)
	config.URL = "http://localhost:3000"
	report := doctor.Run(ctx, config, doctor.Options{})
	report.Lines = slices.DeleteFunc(report.Lines, func(l doctor.Line) bool { return l.Check != "store" })
	for i := range report.Lines {
		report.Lines[i].What = hide(report.Lines[i].What, s.secrets)
	}
	text := report.String()
	if c.asJSON {
		text = string(report.JSON())
	}
	if _, err := io.WriteString(c.out, text); err != nil {
		return err
	}
	if report.Wrong() {
		return errors.New("something is wrong: see the lines above")
	}
	return nil
}
