package doctor

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/latchkey-go/latchkey/core"
)

// Main adds the commands doctor and routes to a program. Call it before core.New:
//
//	go run . doctor [--probe] [--json]
//	go run . routes [--json]
//
// If the program's first argument is one of these commands, Main runs it and exits: with status 0, with 1 if a check is
// wrong, or with 2 for an unknown flag. Otherwise Main returns immediately and the program handles its own arguments. A
// program without arguments should report an unknown argument, so that a mistyped command does not start the server.
func Main(config core.Config) {
	if len(os.Args) < 2 || os.Args[1] != "doctor" && os.Args[1] != "routes" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, config, os.Args[1:], os.Stdout, os.Stderr)) //nolint:gocritic // the context ends with the program
}

// command executes the command in args and returns the exit status.
func command(ctx context.Context, config core.Config, args []string, out, problems io.Writer) int {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(problems)
	asJSON := flags.Bool("json", false, "print JSON")
	probe := false
	if args[0] == "doctor" {
		flags.BoolVar(&probe, "probe", false, "start a sign-in at each provider")
	}
	if err := flags.Parse(args[1:]); err != nil {
		return 2
	}
	if args[0] == "routes" {
		return printRoutes(config, *asJSON, out, problems)
	}
	report := Run(ctx, config, Options{Probe: probe})
	if *asJSON {
		_, _ = out.Write(report.JSON())
	} else {
		_, _ = io.WriteString(out, report.String())
	}
	if report.Wrong() {
		return 1
	}
	return 0
}

func printRoutes(config core.Config, asJSON bool, out, problems io.Writer) int {
	routes, err := Routes(config)
	if err != nil {
		_, _ = fmt.Fprintln(problems, err)
		return 1
	}
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		_ = encoder.Encode(routes)
		return 0
	}
	_, _ = io.WriteString(out, Table(routes))
	return 0
}
