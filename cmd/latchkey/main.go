// Command latchkey creates a site with Latchkey, and helps to set up and check it.
//
//	go run ./cmd/latchkey new gin ../hello
//
// It reads no configuration file, and prints no secret except a new one on request. Only the command doctor sends
// requests, to providers and to the application.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

const usage = `latchkey creates a site with Latchkey, and helps to set up and check it.

  latchkey new ROUTER FOLDER                  write a site with passwords, GitHub, a members' page and a role
  latchkey new                                list the routers
  latchkey version                            print the version of this program
  latchkey secret                             print a new AUTH_SECRET
  latchkey doctor [--url URL] [--probe] [--json]
                                              check the environment, and a running application
  latchkey schema --engine ENGINE             print the statements that create a store's tables
  latchkey migrate                            create missing tables and columns in LATCHKEY_STORE
  latchkey clean-up                           delete expired records
  latchkey emails                             list addresses that are not in the form of core.NormalizeEmail
  latchkey keys list [ADDRESS|ID]             list API keys, of a user or all
  latchkey keys revoke KEY-ID                 revoke an API key
  latchkey users list                         list all users
  latchkey users find|show|sign-out|reset-password|reset-factors|delete ADDRESS|ID
                                              show or change a user
  latchkey openapi                            print the OpenAPI document of all routes, with all plugins
  latchkey provider list                      print the IDs of all providers
  latchkey provider add ID                    print the steps to add a provider
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

// run executes the command in args. environ has the form of os.Environ.
func run(ctx context.Context, args []string, out io.Writer, environ []string) error {
	getenv := variables(environ)
	switch {
	case len(args) == 3 && args[0] == "new":
		return begin(out, args[1], args[2], built()) //nolint:gosec // the case compares the length
	case len(args) == 1 && args[0] == "new":
		return listRouters(out)
	case len(args) == 1 && (args[0] == "version" || args[0] == "--version"):
		return printVersion(out, built())
	case len(args) == 1 && args[0] == "secret":
		return secret(out)
	case len(args) == 1 && args[0] == "openapi":
		return describe(out)
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

// variables returns a lookup function for environ. If a name occurs twice, the last value counts, as in os.Getenv.
func variables(environ []string) func(name string) string {
	values := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}
