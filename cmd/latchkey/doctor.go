package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/doctor"
	"github.com/latchkey-go/latchkey/providers"
)

// errWrong ends the command with status 1. The report describes the problems.
var errWrong = errors.New("something is wrong: see the lines above")

// examine is the command doctor. It checks what is visible without the application's code.
func examine(ctx context.Context, out io.Writer, args []string, environ []string) error {
	flags := flag.NewFlagSet("doctor", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	address := flags.String("url", "", "")
	probe, asJSON := flags.Bool("probe", false, ""), flags.Bool("json", false, "")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		err = errors.Join(err, unknown(flags.Args()))
		return fmt.Errorf("doctor [--url https://app.example] [--probe] [--json]: %w", err)
	}
	report := environment(ctx, environ, doctor.Options{Probe: *probe})
	if *address != "" {
		report.Merge(doctor.Visit(ctx, *address, doctor.Options{}))
	}
	text := []byte(report.String())
	if *asJSON {
		text = report.JSON()
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	if report.Wrong() {
		return errWrong
	}
	return nil
}

func unknown(args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unexpected argument %q", args[0])
}

// environment checks the variables AUTH_*, with a configuration that contains only a provider of the catalogue for each
// AUTH_<ID>_ID.
func environment(ctx context.Context, environ []string, o doctor.Options) *doctor.Report {
	getenv := variables(environ)
	config := core.Config{Getenv: getenv}
	for _, e := range providers.All() {
		p, ok := providers.ByID(e.ID)
		if ok && getenv(core.EnvName(e.ID, "ID")) != "" {
			config.Providers = append(config.Providers, p)
		}
	}
	if len(config.Providers) == 0 { // the application may have providers without variables
		config.Providers = []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}}
	}
	report := doctor.Run(ctx, config, o)
	report.Lines = slices.DeleteFunc(report.Lines, func(l doctor.Line) bool {
		return l.Check == "config" || l.Check == "store" // both depend on the application's code
	})
	for _, name := range strays(getenv, environ) {
		report.Lines = append(report.Lines, doctor.Line{
			Check: "environment", State: doctor.Unknown, What: name + " is set, but the catalogue has no provider with this ID",
			Fix: "check the spelling: latchkey provider list prints all IDs. Ignore this line if your own provider reads the " +
				"variable",
		})
	}
	return report
}

// ours are Latchkey's variables that belong to no provider.
var ours = []string{
	"AUTH_SECRET", "AUTH_SECRET_1", "AUTH_SECRET_2", "AUTH_SECRET_3", "AUTH_URL", "AUTH_TRUST_HOST",
	"AUTH_REDIRECT_PROXY_URL", "AUTH_DEBUG",
}

// strays returns, sorted, the variables that look like a provider's but match no provider.
func strays(getenv func(string) string, environ []string) (names []string) {
	known := map[string]bool{}
	for _, e := range providers.All() {
		for _, what := range []string{"ID", "SECRET", "ISSUER", "KEY", "PRIVATE_KEY", "PRIVATE_KEY_FILE"} {
			known[core.EnvName(e.ID, what)] = true
		}
	}
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "AUTH_") && getenv(name) != "" && !known[name] && !slices.Contains(ours, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
