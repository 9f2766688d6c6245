package main

import (
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/mailkind"
)

// resetsFactors checks that reset-factors removes passkeys and the records of a named kind, and nothing else.
func (c *terminal) resetsFactors(id string) {
	c.Helper()
	for _, kind := range []string{"password", "totp,session"} {
		if _, err := c.run("users", "reset-factors", id, "--yes", "--kind", kind); err == nil ||
			!strings.Contains(err.Error(), "not a second factor") {
			c.Errorf("--kind %s: %v", kind, err)
		}
	}
	if out := c.must("users", "show", id); !strings.Contains(out, "passkey  singleDevice") {
		c.Fatalf("before: %s", out)
	}
	out := c.must("users", "reset-factors", id, "--yes", "--kind", "totp")
	for _, part := range []string{"removed: 1 passkeys, 2 records", "ended: ", "told ada@example.org by email"} {
		if !strings.Contains(out, part) {
			c.Errorf("reset-factors does not say %q: %s", part, out)
		}
	}
	if len(c.letters) != 1 || c.letters[0].Kind != mailkind.FactorsReset || c.letters[0].To != "ada@example.org" ||
		c.letters[0].URL != "https://app.example.org/auth/signin" {
		c.Errorf("%d emails", len(c.letters))
	}
	out = c.must("users", "show", id)
	for _, gone := range []string{"passkey", "totp"} {
		if strings.Contains(out, gone) {
			c.Errorf("after reset-factors there is %s: %s", gone, out)
		}
	}
	for _, stays := range []string{"account  github  4711", "records  api-key: 1"} {
		if !strings.Contains(out, stays) {
			c.Errorf("after reset-factors %q is gone: %s", stays, out)
		}
	}
	url := c.env["AUTH_URL"]
	delete(c.env, "AUTH_URL")
	out = c.must("users", "reset-factors", id, "--yes")
	if !strings.Contains(out, "removed: 0 passkeys, 0 records") || !strings.Contains(out, "no email was sent") {
		c.Errorf("again, without AUTH_URL: %s", out)
	}
	c.env["AUTH_URL"], c.letters = url, nil
}

// TestNothingLeft: a user who had only passkeys has no sign-in method after a reset, and the output says so.
func TestNothingLeft(t *testing.T) {
	address := "bbolt:" + bolt(t)
	id := people(t, address)
	s, err := open(address, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.UnlinkAccount(t.Context(), "github", "4711"); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	c := newTerminal(t, address)
	if out := c.must("users", "reset-factors", id, "--yes"); !strings.Contains(out, "no provider account is left") {
		t.Errorf("it says %s", out)
	}
}
