package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

func (c *call) getenv() func(string) string {
	env := c.object("env")
	return func(name string) string { s, _ := env[name].(string); return s }
}

// codes collects a warning code. New logs warnings that several functions of Auth.js log.
type codes struct {
	slog.Handler
	of  string
	all *[]any
}

func (h codes) Enabled(context.Context, slog.Level) bool { return true }

func (h codes) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "code" && r.Level == slog.LevelWarn && a.Value.String() == h.of {
			*h.all = append(*h.all, a.Value.String())
		}
		return true
	})
	return nil
}

// actionURL checks the URL of an action. The list of providers contains it.
func actionURL(c *call) {
	header, host := headersOf(c.object("headers"))
	warnings := []any{}
	base, _ := c.get("basePath").(string)
	a, err := c.auth(func(config *core.Config) {
		config.Getenv, config.Logger = c.getenv(), slog.New(codes{of: "env-url-basepath-mismatch", all: &warnings})
		if config.BasePath = base; base == "" && config.Getenv("AUTH_URL") == "" {
			config.BasePath = "/" // the function's default; a configuration has another one
		}
		config.Providers = []core.Provider{&core.CredentialsProvider{
			ID:        "x",
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}}
	})
	if c.threw(err) {
		return
	}
	target := strings.TrimSuffix(a.BasePath(), "/") + "/providers"
	answer := ask(a, "GET", target, host, strings.TrimSuffix(or(c.text("protocol"), "https"), ":"), header, nil)
	var list map[string]struct{ SigninURL string }
	_ = json.Unmarshal(answer.Body, &list)
	c.same("result", strings.TrimSuffix(list["x"].SigninURL, "signin/x")+c.text("action"))
	if want := c.get("warnings"); want != nil || len(warnings) > 0 {
		c.same("warnings", warnings)
	}
}
