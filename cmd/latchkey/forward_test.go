package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestForwarded(t *testing.T) {
	for line, want := range map[string]bool{
		"schema --engine postgres": true, "migrate --store sqlite:app.db": true, "clean-up": true,
		"users find ada@example.org":   true,
		"doctor --store sqlite:app.db": true, "doctor --store=sqlite:app.db": true,
		"doctor": false, "doctor --url https://app.example.org": false,
		"secret": false, "": false,
	} {
		if got := forwarded(strings.Fields(line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}

func TestProgram(t *testing.T) {
	has := func(names ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(names, name) {
				return "/bin/" + name, nil
			}
			return "", errors.New("not found")
		}
	}
	for _, row := range []struct {
		name, version string
		find          func(string) (string, error)
		want          string // empty if an error is expected
	}{
		{"installed", "", has("latchkey-store", "go"), "/bin/latchkey-store"},
		{"of the same version", "v0.1.0", has("go"),
			"/bin/go run github.com/latchkey-go/latchkey/cmd/latchkey-store@v0.1.0"},
		{"in a checkout", "", has("go"), ""},
		{"without the go command", "v0.1.0", has(), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := program(row.version, row.find)
			if strings.Join(got, " ") != row.want || (err == nil) != (row.want != "") {
				t.Errorf("%v, %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), "go install") {
				t.Errorf("%v tells no way out", err)
			}
		})
	}
}

// TestWithoutAddress: the store's address is passed to latchkey-store in the environment.
func TestWithoutAddress(t *testing.T) {
	for line, want := range map[string][2]string{
		"migrate --store sqlite:app.db":                     {"migrate", "sqlite:app.db"},
		"doctor --store=postgres://a:b@host/app?x=y --json": {"doctor --json", "postgres://a:b@host/app?x=y"},
		"users -store redis://h find ada@example.org":       {"users find ada@example.org", "redis://h"},
		"migrate": {"migrate", ""}, "migrate --store": {"migrate --store", ""},
		"users find --stored x": {"users find --stored x", ""},
	} {
		rest, address := withoutAddress(strings.Fields(line))
		if strings.Join(rest, " ") != want[0] || address != want[1] {
			t.Errorf("%s: %q, %q", line, rest, address)
		}
	}
}
