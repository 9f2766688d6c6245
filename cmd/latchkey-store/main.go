// Command latchkey-store creates, checks and cleans up the tables of a store, and manages its users and webhooks.
//
//	export LATCHKEY_STORE=postgres://user:password@host/app
//	go run github.com/latchkey-go/latchkey/cmd/latchkey-store@latest migrate
//
// The command latchkey runs it. It is a separate program because the database drivers take minutes to compile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
)

//nolint:gosec // the addresses in the text are examples
const usage = `latchkey-store creates, checks and cleans up the tables of a store, and manages its users, API keys and
webhooks.

  export LATCHKEY_STORE=postgres://user:password@host/app

  schema --engine postgres|mysql|sqlite     print the statements that make the tables
  migrate                                   create missing tables, columns and indexes
  clean-up                                  delete expired records
  doctor [--json]                           check the store
  emails                                    list users whose address is not in the form of core.NormalizeEmail
  users list                                list all users
  users find ADDRESS|ID|PREFIX*             print a user, or all users whose address begins with PREFIX
  users show ADDRESS|ID                     print a user with accounts, sessions, passkeys, records and activity
  users sign-out ADDRESS|ID                 end all their sessions
  users reset-password ADDRESS|ID           email them a link to set a new password. AUTH_SECRET and AUTH_URL must be
                                            the application's; EMAIL_SERVER and EMAIL_FROM are the mail settings
  users reset-factors ADDRESS|ID [--kind KIND,…]
                                            remove their passkeys and second factors, end all sessions, and email
                                            them if the settings of reset-password are set. --kind also removes
                                            records of your own plugin ("users show" lists the kinds)
  users ban ADDRESS|ID --reason TEXT [--until DATE]
                                            end their sessions, API keys and apps, and refuse sign-ins in applications
                                            with plugins/admin
  users unban ADDRESS|ID --reason TEXT      lift the ban
  users delete ADDRESS|ID [--force]         end all sessions, and delete the user and all their data in the store. The
                                            last owner of an organization (plugins/organization) needs --force. An
                                            organization.Directory of the application is not read or changed
  users verify-email ADDRESS|ID             mark their address as verified, remove sign-in methods that may belong to
                                            someone else, and end all sessions
  users create ADDRESS [--name NAME]        create a user without sign-in methods, and print the ID
  users invite ADDRESS                      email an invitation, with the settings of reset-password
  keys list [ADDRESS|ID]                    list API keys (plugins/apikey), of a user or all
  keys revoke KEY-ID                        revoke an API key; the ID is in the list, and in the key itself
  webhooks list                             list the endpoints in the store (plugins/webhooks). AUTH_SECRET must be the
                                            application's, for all commands of webhooks
  webhooks add URL [--events NAME,…]        add an endpoint, and print its ID and its secret
  webhooks test|disable|enable|rotate|delete ENDPOINT-ID
                                            send a test event, or change an endpoint
  webhooks failed ENDPOINT-ID               list the failed deliveries
  webhooks replay ENDPOINT-ID               send the failed deliveries again

LATCHKEY_STORE is postgres://…, host=… (PostgreSQL), mysql://…, redis://…, sqlite:app.db or bbolt:app.bolt. --store URL
overrides it, but is visible to other users of the machine in the process list.
An argument with an @ is an email address, any other is an ID. --id always reads it as an ID.
Commands that change a user, a key or an endpoint ask for confirmation, unless --yes is given. Every change prints an
audit line.
Long commands report progress every five seconds.
`

// errNo is returned if the user did not confirm the command.
var errNo = errors.New("nothing was changed")

// command is one run of the program.
type command struct {
	in       io.Reader
	out, log io.Writer
	getenv   func(name string) string
	// mail sends the emails of reset-password and reset-factors. If it is nil, EMAIL_SERVER is used.
	mail core.Mailer
	// clock returns the current time, ticks starts the ticker for progress lines, and slice is the time that clean-up
	// works between two of them.
	clock func() time.Time
	ticks func() (tick <-chan time.Time, stop func())
	slice time.Duration

	flags                  *flag.FlagSet
	address, engine, kinds string
	reason, until, events  string
	name                   string
	yes, asJSON, force     bool
	// id is the user's ID if --id=ID was given. If byID is set, the positional argument is an ID.
	id   string
	byID bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	c := &command{
		in: os.Stdin, out: os.Stdout, log: os.Stderr, getenv: os.Getenv, clock: time.Now, slice: every,
		ticks: func() (<-chan time.Time, func()) { t := time.NewTicker(every); return t.C, t.Stop },
	}
	err := c.run(ctx, os.Args[1:])
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "latchkey-store:", err)
		os.Exit(1)
	}
}

// run executes the command in args. Flags may be anywhere after the command's name.
func (c *command) run(ctx context.Context, args []string) error {
	words, err := c.parse(args)
	if err != nil {
		return err
	}
	switch {
	case len(words) == 0 || words[0] == "help":
		_, err := io.WriteString(c.out, usage)
		return err
	case len(words) == 1 && words[0] == "schema":
		return c.schema()
	case len(words) == 1 && words[0] == "migrate":
		return c.with(ctx, true, c.migrate)
	case len(words) == 1 && words[0] == "clean-up":
		return c.with(ctx, false, c.cleanUp)
	case len(words) == 1 && words[0] == "doctor":
		return c.with(ctx, false, c.doctor)
	case len(words) == 1 && words[0] == "emails":
		return c.with(ctx, false, c.emails)
	case len(words) == 2 && words[0] == "keys" && words[1] == "list":
		c.byID = c.byID || c.id != ""
		return c.with(ctx, false, func(ctx context.Context, s *opened) error { return c.listKeys(ctx, s, c.id) })
	case len(words) == 3 && words[0] == "keys" && words[1] == "list":
		return c.with(ctx, false, func(ctx context.Context, s *opened) error { return c.listKeys(ctx, s, words[2]) })
	case len(words) == 3 && words[0] == "keys" && words[1] == "revoke":
		return c.with(ctx, false, func(ctx context.Context, s *opened) error { return c.revokeKey(ctx, s, words[2]) })
	case len(words) >= 2 && words[0] == "webhooks":
		if run := c.webhooks(words[1:]); run != nil {
			return c.with(ctx, false, run)
		}
	case len(words) == 2 && words[0] == "users" && words[1] == "list":
		return c.with(ctx, false, c.listUsers)
	case len(words) == 3 && words[0] == "users" && words[1] == "find" && !c.byID && strings.HasSuffix(words[2], "*"):
		return c.with(ctx, false, func(ctx context.Context, s *opened) error { return c.findUsers(ctx, s, words[2]) })
	case c.id != "" && len(words) == 2 && words[0] == "users":
		words, c.byID = append(words, c.id), true
	}
	if len(words) == 3 && words[0] == "users" && addressActs[words[1]] != nil {
		return c.with(ctx, false, func(ctx context.Context, s *opened) error {
			return c.forAddress(ctx, s, words[1], words[2])
		})
	}
	if len(words) == 3 && words[0] == "users" && acts[words[1]] != nil {
		return c.with(ctx, false, func(ctx context.Context, s *opened) error { return c.users(ctx, s, words[1], words[2]) })
	}
	return fmt.Errorf("unknown command\n\n%s", usage)
}

// parse removes the flags from args and returns the other words.
func (c *command) parse(args []string) (words []string, err error) {
	c.flags = flag.NewFlagSet("latchkey-store", flag.ContinueOnError)
	c.flags.SetOutput(io.Discard)
	c.flags.StringVar(&c.address, "store", c.getenv("LATCHKEY_STORE"), "")
	c.flags.StringVar(&c.engine, "engine", "", "")
	c.flags.StringVar(&c.kinds, "kind", "", "")
	c.flags.StringVar(&c.reason, "reason", "", "")
	c.flags.StringVar(&c.until, "until", "", "")
	c.flags.StringVar(&c.events, "events", "", "")
	c.flags.StringVar(&c.name, "name", "", "")
	c.flags.BoolVar(&c.force, "force", false, "")
	c.flags.BoolVar(&c.yes, "yes", false, "")
	c.flags.BoolVar(&c.asJSON, "json", false, "")
	c.id, c.byID = "", false
	c.flags.BoolFunc("id", "", func(value string) error { // --id ID, ID --id and --id=ID
		if c.byID = value == "true"; !c.byID {
			c.id = value
		}
		return nil
	})
	for len(args) > 0 {
		if err := c.flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s\n\n%s", flagError(err), usage)
		}
		if args = c.flags.Args(); len(args) > 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	return words, nil
}

// flagError returns the text of an error of package flag without the argument, which may be an address with a password.
func flagError(err error) string {
	text := quoted.ReplaceAllString(err.Error(), "…")
	if flagName.MatchString(text) {
		return text
	}
	return "invalid flag"
}

var (
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	flagName = regexp.MustCompile(`^(?:flag provided but not defined: -[a-z-]+|[^@/=]*)$`)
)

// with opens the store, calls work and closes the store. Errors do not contain the password of the store's address.
func (c *command) with(ctx context.Context, makes bool, work func(context.Context, *opened) error) (err error) {
	s, err := open(c.address, makes)
	if err != nil {
		return err
	}
	defer func() { err = hidden(errors.Join(err, s.Close()), s.secrets...) }()
	return work(ctx, s)
}

// say prints a line. The store's texts contain words that users typed. Control characters and line breaks are replaced
// by question marks, so that a user's name cannot send commands to the terminal.
func (c *command) say(format string, args ...any) error {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = shown(text)
		}
	}
	_, err := fmt.Fprintf(c.out, format+"\n", args...)
	return err
}

func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text)
}
