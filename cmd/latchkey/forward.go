package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// storeProgram is the name of the program with the database drivers. They take long to compile, so this program has
// none.
const storeProgram = "latchkey-store"

// forwarded reports whether latchkey-store runs this command.
func forwarded(args []string) bool {
	if len(args) == 0 {
		return false
	}
	return slices.Contains([]string{"schema", "migrate", "clean-up", "emails", "keys", "users"}, args[0]) ||
		args[0] == "doctor" && slices.ContainsFunc(args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return name == "--store" || name == "-store"
		})
}

// program returns the command line of latchkey-store: the installed program, or "go run" with this program's version.
func program(version string, find func(string) (string, error)) ([]string, error) {
	if path, err := find(storeProgram); err == nil {
		return []string{path}, nil
	}
	if goCommand, err := find("go"); err == nil && version != "" {
		return []string{goCommand, "run", "github.com/latchkey-go/latchkey/cmd/" + storeProgram + "@" + version}, nil
	}
	return nil, fmt.Errorf("%[1]s is not installed: run \"go install ./cmd/%[1]s\" in a clone of Latchkey", storeProgram)
}

// forward runs latchkey-store with these arguments on the same terminal.
func forward(ctx context.Context, args []string) error {
	words, err := program(built(), exec.LookPath)
	if err != nil {
		return err
	}
	args, address := withoutAddress(args)
	words = append(words, args...)
	command := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the caller typed these arguments
	if address != "" {
		command.Env = append(os.Environ(), "LATCHKEY_STORE="+address)
	}
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return errors.New(storeProgram + " failed")
	}
	return nil
}

// withoutAddress removes the flag --store from args and returns its value, which is passed in the environment. Other
// users of the machine can see arguments in the process list, and the address may contain a password.
func withoutAddress(args []string) (rest []string, address string) {
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		switch {
		case name != "--store" && name != "-store", !given && i+1 == len(args):
			rest = append(rest, args[i])
		case given:
			address = value
		default:
			i++
			address = args[i]
		}
	}
	return rest, address
}
