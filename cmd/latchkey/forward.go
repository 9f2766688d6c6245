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

// beside is the program that has the drivers of engines, which take long to compile: this one does without them.
const beside = "latchkey-store"

// forwarded reports whether a command is one of the program beside this one.
func forwarded(args []string) bool {
	if len(args) == 0 {
		return false
	}
	return slices.Contains([]string{"schema", "migrate", "clean-up", "emails", "users"}, args[0]) ||
		args[0] == "doctor" && slices.ContainsFunc(args, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return name == "--store" || name == "-store"
		})
}

// program is how the program beside is started: as it is installed, else by the go command at the version of this one.
func program(version string, find func(string) (string, error)) ([]string, error) {
	if path, err := find(beside); err == nil {
		return []string{path}, nil
	}
	if goCommand, err := find("go"); err == nil && version != "" {
		return []string{goCommand, "run", "github.com/latchkey-go/latchkey/cmd/" + beside + "@" + version}, nil
	}
	return nil, fmt.Errorf("%[1]s is not installed: run \"go install ./cmd/%[1]s\" in a clone of Latchkey", beside)
}

// forward lets the program beside do what the arguments say, at this terminal.
func forward(ctx context.Context, args []string) error {
	words, err := program(built(), exec.LookPath)
	if err != nil {
		return err
	}
	args, address := withoutAddress(args)
	words = append(words, args...)
	command := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // what the caller of this program typed
	if address != "" {
		command.Env = append(os.Environ(), "LATCHKEY_STORE="+address)
	}
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return errors.New(beside + " has failed")
	}
	return nil
}

// withoutAddress takes the flag --store out of arguments and returns its value, which the other program receives in its
// environment: the list of processes shows arguments, and the address may have a password.
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
