// Command latchkey helps to begin with Latchkey and to set it up.
//
//	go run ./cmd/latchkey new gin ../hello
//
// It reads no configuration file, sends nothing but what doctor asks providers and the application, and prints no
// secret but a new one that was asked for.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

const usage = `latchkey helps to begin with Latchkey.

  latchkey new stdlib|gin|echo|fiber FOLDER   write a site with passwords, GitHub, a members' page and a role
  latchkey new                                list the routers
  latchkey version                            print the version of this program
  latchkey secret                             print a new AUTH_SECRET
  latchkey doctor [--url URL] [--probe] [--json]
                                              say what is wrong with the environment, and with a running application
  latchkey schema --engine ENGINE             print the statements that make the tables of a store
  latchkey migrate                            make what is missing of them, in the store of LATCHKEY_STORE
  latchkey clean-up                           remove what has expired
  latchkey emails                             list addresses that are not in the form of core.NormalizeEmail
  latchkey users find|show|sign-out|reset-password|reset-factors|delete ADDRESS|ID
                                              look a user up, and act
  latchkey provider list                      print the ids of the providers there are
  latchkey provider add ID                    print what to register and to set for a provider
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Environ())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "latchkey:", err)
		os.Exit(1)
	}
}

// run does what the arguments say, in an environment of pairs such as os.Environ has.
func run(ctx context.Context, args []string, out io.Writer, environ []string) error {
	getenv := variables(environ)
	switch {
	case len(args) == 3 && args[0] == "new":
		return begin(out, args[1], args[2], built())
	case len(args) == 1 && args[0] == "new":
		return listRouters(out)
	case len(args) == 1 && (args[0] == "version" || args[0] == "--version"):
		return printVersion(out, built())
	case len(args) == 1 && args[0] == "secret":
		return secret(out)
	case forwarded(args):
		return forward(ctx, args)
	case len(args) > 0 && args[0] == "doctor":
		return examine(ctx, out, args[1:], environ)
	case len(args) == 2 && args[0] == "provider" && args[1] == "list":
		return list(out)
	case len(args) == 3 && args[0] == "provider" && args[1] == "add":
		return add(out, args[2], getenv("AUTH_URL"))
	case len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help":
		_, err := io.WriteString(out, usage)
		return err
	}
	return fmt.Errorf("unknown command\n\n%s", usage)
}

// variables reads an environment; of a name that is there twice the last counts, as for os.Getenv of a program.
func variables(environ []string) func(name string) string {
	values := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}
