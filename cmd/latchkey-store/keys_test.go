package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// revokesKeys lists and revokes API keys of a user and of a service.
func (c *terminal) revokesKeys(address, userID string) {
	c.Helper()
	if out := c.must("keys", "list"); !strings.Contains(out, "canary-key  malformed record") {
		c.Errorf("a malformed record: %s", out)
	}
	c.must("keys", "revoke", "canary-key", "--yes")
	for _, args := range [][]string{{"keys", "list"}, {"keys", "list", userID}} {
		if out := c.must(args...); out != "no API keys\n" {
			c.Errorf("%v without keys: %s", args, out)
		}
	}
	s, err := open(address, false)
	if err != nil {
		c.Fatal(err)
	}
	end := time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	value := `{"name":"Backup\u001b[2J","hash":"Y2FuYXJ5","last4":"k9Lm","scopes":["orders:read","a:*"],` +
		`"created":"2099-01-02T03:04:05Z","used":"2099-12-31T00:00:00Z","uses":3}`
	for _, r := range []*store.Record{
		{Kind: keyKind, Key: "Wq30000000000001", UserID: userID, Value: json.RawMessage(value), Expires: end},
		{Kind: keyKind, Key: "Wq30000000000002", Expires: end,
			Value: json.RawMessage(`{"service":"billing","name":"Invoices","hash":"Y2FuYXJ5","last4":"aaaa","scopes":["*"]}`)},
	} {
		if err := s.CreateRecord(c.Context(), r); err != nil {
			c.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		c.Fatal(err)
	}
	own := fmt.Sprintf(
		"Wq30000000000001  …k9Lm  user %s  orders:read,a:*  until 2100-01-02, last used 2099-12-31  Backup?[2J",
		userID,
	)
	service := "Wq30000000000002  …aaaa  service billing  *  until 2100-01-02, never used  Invoices"
	all := c.must("keys", "list")
	if !strings.Contains(all, own+"\n") || !strings.Contains(all, service+"\n") || strings.Contains(all, "Y2FuYXJ5") {
		c.Errorf("the list is %s", all)
	}
	for _, args := range [][]string{{"keys", "list", "ada@example.org"}, {"keys", "list", "--id=" + userID}} {
		if out := c.must(args...); out != own+"\n" {
			c.Errorf("%v: %s", args, out)
		}
	}
	c.answer = "n\n"
	if out, err := c.run("keys", "revoke", "Wq30000000000001"); !errors.Is(err, errNo) || !strings.Contains(out, "…k9Lm") {
		c.Errorf("without a confirmation: %v, %s", err, out)
	}
	c.answer = "y\n"
	if out := c.must("keys", "revoke", "Wq30000000000001"); !strings.Contains(out, "revoked") {
		c.Errorf("revoke says %s", out)
	}
	for _, id := range []string{"Wq30000000000001", "acme_live_Wq30000000000002_canary"} {
		out, err := c.run("keys", "revoke", id, "--yes")
		if err == nil || !strings.Contains(err.Error(), "no such API key") || strings.Contains(out+err.Error(), "canary") {
			c.Errorf("revoke of an unknown key: %v, %s", err, out)
		}
	}
	if out := c.must("keys", "list"); out != service+"\n" {
		c.Errorf("after the revocation: %s", out)
	}
	if !strings.Contains(c.log.String(), `"latchkey keys revoke Wq30000000000001","user":"`+userID+`","by":"grace"`) {
		c.Errorf("the audit is %s", c.log.String())
	}
}

// TestKeysOfNobody: an unknown user is an error, and so is a command that does not exist.
func TestKeysOfNobody(t *testing.T) {
	c := newTerminal(t, "bbolt:"+bolt(t))
	if _, err := c.run("keys", "list", "eve@example.org"); err == nil || errors.Is(err, core.ErrNotFound) {
		t.Errorf("an unknown user: %v", err)
	}
	for _, args := range [][]string{{"keys"}, {"keys", "revoke"}, {"keys", "rotate", "x"}} {
		if _, err := c.run(args...); err == nil || !strings.Contains(err.Error(), "unknown command") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
