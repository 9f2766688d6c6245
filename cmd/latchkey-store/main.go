// Command latchkey-store works on what a store keeps: it makes tables, examines them, and manages users.
//
//	export LATCHKEY_STORE=postgres://user:password@host/app
//	go run github.com/latchkey-go/latchkey/cmd/latchkey-store@latest migrate
//
// It is a command of its own beside latchkey, which calls it: the drivers of the engines take minutes to compile.
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
const usage = `latchkey-store works on what a store keeps.

  export LATCHKEY_STORE=postgres://user:password@host/app

  schema --engine postgres|mysql|sqlite     print the statements that make the tables
  migrate                                   make what is missing of them
  clean-up                                  remove what has expired
  doctor [--json]                           say what is wrong with the store
  emails                                    list users whose address is not in the form of core.NormalizeEmail
  users find ADDRESS|ID                     print a user
  users show ADDRESS|ID                     and accounts, sessions, passkeys and kinds of records
  users sign-out ADDRESS|ID                 end all their sessions
  users reset-password ADDRESS|ID           mail them a link to choose another password: AUTH_SECRET and AUTH_URL are
                                            those of the application, EMAIL_SERVER and EMAIL_FROM say how
  users reset-factors ADDRESS|ID [--kind KIND,…]
                                            remove their passkeys, end all sessions; also records in which a part of
                                            yours keeps second factors, of the kinds that users show lists
  users delete ADDRESS|ID                   remove them with all that the store has of them

LATCHKEY_STORE is postgres://…, host=… (PostgreSQL), mysql://…, redis://…, sqlite:app.db or bbolt:app.bolt. --store URL
takes its place: other users of the machine see it in the list of processes.
A word with an @ is an address, any other an ID; --id takes it as an ID in any case.
What changes a user asks first, unless --yes is given. What changes anything prints a line for the audit.
Long work says every five seconds how far it is.
`

// errNo ends the command where a question was answered so.
var errNo = errors.New("nothing was changed")

// command is one call of the program.
type command struct {
	in       io.Reader
	out, log io.Writer
	getenv   func(name string) string
	// mail delivers the letter of a reset; nil: the server of EMAIL_SERVER.
	mail core.Mailer
	// clock is the time, ticks what long work says something at, and slice how long a clean-up is at it in between.
	clock func() time.Time
	ticks func() (tick <-chan time.Time, stop func())
	slice time.Duration

	flags                  *flag.FlagSet
	address, engine, kinds string
	yes, asJSON            bool
	// id is that of the user, or byID says that the word for the user is one.
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

// run does what the arguments say. Flags may stand anywhere behind the name.
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
	case c.id != "" && len(words) == 2 && words[0] == "users":
		words, c.byID = append(words, c.id), true
	}
	if len(words) == 3 && words[0] == "users" && acts[words[1]] != nil {
		return c.with(ctx, false, func(ctx context.Context, s *opened) error { return c.users(ctx, s, words[1], words[2]) })
	}
	return fmt.Errorf("there is no such command\n\n%s", usage)
}

// parse takes flags out of the arguments and returns the words between them.
func (c *command) parse(args []string) (words []string, err error) {
	c.flags = flag.NewFlagSet("latchkey-store", flag.ContinueOnError)
	c.flags.SetOutput(io.Discard)
	c.flags.StringVar(&c.address, "store", c.getenv("LATCHKEY_STORE"), "")
	c.flags.StringVar(&c.engine, "engine", "", "")
	c.flags.StringVar(&c.kinds, "kind", "", "")
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

// flagError is the text of an error of package flag without what it repeats: an address with its password, perhaps.
func flagError(err error) string {
	text := quoted.ReplaceAllString(err.Error(), "…")
	if flagName.MatchString(text) {
		return text
	}
	return "a flag cannot be read"
}

var (
	quoted   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	flagName = regexp.MustCompile(`^(?:flag provided but not defined: -[a-z-]+|[^@/=]*)$`)
)

// with opens the store for a piece of work and closes it. The password of its address is in no error.
func (c *command) with(ctx context.Context, makes bool, work func(context.Context, *opened) error) (err error) {
	s, err := open(c.address, makes)
	if err != nil {
		return err
	}
	defer func() { err = hidden(errors.Join(err, s.Close()), s.secrets...) }()
	return work(ctx, s)
}

// say prints a line. The texts in it come out of the store, and people have typed some of them: what a terminal would
// take for an order, or for the end of the line, is shown as a question mark.
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
