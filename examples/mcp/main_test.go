package main

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/examples/internal/orders"
	"github.com/latchkey-go/latchkey/examples/internal/surf"
)

// TestTool signs in with the client of the SDK: it reads the metadata of the MCP server and of its issuer, opens the
// browser, and calls a tool with the access token.
func TestTool(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	site := "http://" + server.Listener.Addr().String()
	app, err := orders.New(orders.Options{
		URL: site, Secret: "a-secret-of-more-than-thirty-two-bytes", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Close() })
	server.Config.Handler = app
	server.Start()
	t.Cleanup(server.Close)

	browser, out := surf.New(t), &bytes.Buffer{}
	err = run(t.Context(), site+"/mcp", out, func(address string) error {
		ask := browser.SignIn(address)
		for _, text := range []string{"MCP client", "Read your orders", "The app will have access to " + site + "/mcp"} {
			if !strings.Contains(ask.Body, text) {
				t.Errorf("the page does not contain %q: %s", text, ask.Body)
			}
		}
		browser.Submit(ask, "/auth/authorize", "decision", "allow")
		return nil
	})
	if err != nil || !strings.Contains(out.String(), "Two quiet horses") {
		t.Errorf("%q, %v", out, err)
	}
	err = run(t.Context(), site+"/mcp", out, func(address string) error {
		browser.Submit(browser.Open(address), "/auth/authorize", "decision", "deny")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "you were not signed in") {
		t.Errorf("denied: %v", err)
	}
}
