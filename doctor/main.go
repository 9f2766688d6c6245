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

// Main gives a program the commands doctor and routes: where its first argument is one of them, Main does that, and
// ends the program with status 1 when something is wrong, else 0, and 2 for flags that it does not know. Otherwise it
// returns at once: other arguments are the program's own, and one that takes none says so to who mistypes a command.
// Call it before core.New:
//
//	go run . doctor [--probe] [--json]
//	go run . routes [--json]
func Main(config core.Config) {
	if len(os.Args) < 2 || os.Args[1] != "doctor" && os.Args[1] != "routes" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(command(ctx, config, os.Args[1:], os.Stdout, os.Stderr)) //nolint:gocritic // the context ends with the program
}

// command does what the arguments say and returns the status of the program.
func command(ctx context.Context, config core.Config, args []string, out, problems io.Writer) int {
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(problems)
	asJSON := flags.Bool("json", false, "print JSON")
	probe := false
	if args[0] == "doctor" {
		flags.BoolVar(&probe, "probe", false, "begin a sign-in at each provider")
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
