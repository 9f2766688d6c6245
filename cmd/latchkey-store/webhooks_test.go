package main

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

var printedEndpoint = regexp.MustCompile(`^(we_\S{22})\n(whsec_\S{44})\n$`)

// TestWebhooks adds, lists, changes and deletes an endpoint.
func TestWebhooks(t *testing.T) {
	address := "bbolt:" + bolt(t)
	c := newTerminal(t, address)
	if out := c.must("webhooks", "list"); out != "no endpoints\n" {
		t.Errorf("an empty list: %s", out)
	}
	for _, row := range []struct{ args, want string }{
		{"add http://example.com/", "https URL"}, {"add https://10.0.0.1/", "https URL"},
		{"add https://example.com/ --events nothing", "names of events"},
		{"disable we_1234567890123456789012", "no such endpoint"},
		{"test x", "no such endpoint"}, {"remove x", "unknown command"}, {"list x", "unknown command"},
		{"replay", "unknown command"},
	} {
		args := append([]string{"webhooks", "--yes"}, strings.Fields(row.args)...)
		if out, err := c.run(args...); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s: %s", row.args, err, row.want, out)
		}
	}
	out := c.must("webhooks", "add", "https://hooks.example.com/canary-path", "--events", "user.*,signin")
	made := printedEndpoint.FindStringSubmatch(out)
	if made == nil {
		t.Fatalf("add says %s", out)
	}
	id := made[1]
	line := func(state string) string { return id + "  https://hooks.example.com  user.*,signin  " + state + "\n" }
	if out := c.must("webhooks", "list"); out != line("active") {
		t.Errorf("the list is %s", out)
	}
	c.answer = "n\n"
	if _, err := c.run("webhooks", "disable", id); !errors.Is(err, errNo) {
		t.Errorf("without a confirmation: %v", err)
	}
	c.answer = "y\n"
	c.must("webhooks", "disable", id)
	if out := c.must("webhooks", "list"); out != line("disabled since "+time.Now().UTC().Format(time.DateOnly)) {
		t.Errorf("after disable: %s", out)
	}
	if out := c.must("webhooks", "failed", id); out != "no failed deliveries\n" {
		t.Errorf("without failed deliveries: %s", out)
	}
	fails(t, address, id)
	if out := c.must("webhooks", "failed", id); !strings.Contains(out, "user.created  3 attempts  status 500") {
		t.Errorf("failed deliveries: %s", out)
	}
	if _, err := c.run("webhooks", "replay", id, "--yes"); err == nil || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("a replay of a disabled endpoint: %v", err)
	}
	c.must("webhooks", "enable", id)
	if out := c.must("webhooks", "rotate", id); !strings.Contains(out, "whsec_") || strings.Contains(out, made[2]) {
		t.Errorf("rotate says %s", out)
	}
	c.must("webhooks", "delete", id)
	if out := c.must("webhooks", "list"); out != "no endpoints\n" {
		t.Errorf("after delete: %s", out)
	}
	for _, want := range []string{"webhooks add ", "webhooks disable ", "webhooks rotate ", "webhooks delete "} {
		if !strings.Contains(c.log.String(), "latchkey "+want+id) {
			t.Errorf("no audit line %s%s: %s", want, id, c.log.String())
		}
	}
	if strings.Contains(c.log.String(), "canary") {
		t.Errorf("the audit has the path: %s", c.log.String())
	}
	delete(c.env, "AUTH_SECRET")
	if _, err := c.run("webhooks", "list"); err == nil || !strings.Contains(err.Error(), "AUTH_SECRET") {
		t.Errorf("without the secret: %v", err)
	}
}

// fails stores a failed delivery.
func fails(t *testing.T, address, id string) {
	t.Helper()
	s, err := open(address, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	err = s.CreateRecord(t.Context(), &store.Record{
		Kind: "webhook-failed", Key: id + ".msg_0123456789012345678901", Expires: time.Now().Add(time.Hour),
		Value: json.RawMessage(
			`{"type":"user.created","body":{},"at":"2030-01-02T03:04:05Z","attempts":3,"error":"status 500"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
}
