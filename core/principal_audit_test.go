package core_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
)

// TestAuditNamesTheCredential sends requests with a credential. Audit events and log lines name its public ID, and
// never contain the token itself.
func TestAuditNamesTheCredential(t *testing.T) {
	var log strings.Builder
	var events []audit.Event
	k := valid(func(c *core.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Audit = func(_ context.Context, e audit.Event) { events = append(events, e) }
		c.Limits.Rates, c.Store = keyRate, newHouse()
		c.Session.Strategy = core.StrategyDatabase
		c.Plugins = append(c.Plugins, partFunc(func(h *core.PluginHost) error {
			h.AddAction(core.Action{Method: "POST", Name: "act", Programs: true, Handle: func(
				ctx context.Context, c *core.ActionRequest,
			) (*core.Response, error) {
				p, err := c.Principal(ctx)
				if err != nil || p == nil {
					return nil, errors.Join(err, core.ErrForbidden)
				}
				c.Audit(ctx, audit.Event{Name: audit.KeyRevoked, Outcome: audit.OK, Credential: "key:other"})
				c.Audit(ctx, audit.Event{Name: audit.TokenIssued, Outcome: audit.OK})
				h.Audit(ctx, audit.Event{Name: audit.UserDeleted, Outcome: audit.OK})
				return nil, errors.New("disk full")
			}})
			return nil
		}))
	})
	accept := k.verify
	k.verify = func(name string) (*core.Principal, error) {
		if name == "wrong" {
			return nil, nil
		}
		return accept(name)
	}
	auth := k.site(t)
	request := func(method, target, token string) *core.Request {
		return &core.Request{
			Method: method, Target: target, Hosts: []string{"app.example"}, Scheme: "https", RemoteAddr: "192.0.2.1:1",
			Header: http.Header{"Authorization": {"Bearer " + token}},
		}
	}
	visited := func(token string) *core.Visit {
		v := auth.Visit(t.Context(), request("GET", "/api", token))
		_, _ = v.RequirePrincipal(core.Scopes("orders:write"))
		return v
	}
	for _, row := range []struct {
		name string
		do   func()
		want string
		log  string
	}{
		{"an action", func() { auth.Handle(t.Context(), request("POST", "/auth/act", "key_one")) },
			"key.revoked=key:other token.issued=key:one user.deleted=", "credential=key:one"},
		{"an action with a wrong credential", func() {
			auth.Handle(t.Context(), request("POST", "/auth/act", "key_wrong"))
		}, "", ""},
		{"a handler of the application", func() {
			if _, err := auth.EndSessions(visited("key_two"), "1", core.EndOptions{}); err != nil {
				t.Fatal(err)
			}
		}, "sessions.ended=key:two", "credential=key:two"},
		{"a handler of the application with a wrong credential", func() {
			if _, err := auth.EndSessions(visited("key_wrong"), "1", core.EndOptions{}); err != nil {
				t.Fatal(err)
			}
		}, "sessions.ended=", ""},
		{"a program without a request", func() {
			if _, err := auth.EndSessions(t.Context(), "1", core.EndOptions{}); err != nil {
				t.Fatal(err)
			}
		}, "sessions.ended=", ""},
		{"another Auth", func() {
			other := siteWith(t, func(c *core.Config) {
				c.Store, c.Session.Strategy = newHouse(), core.StrategyDatabase
				c.Audit = func(_ context.Context, e audit.Event) { events = append(events, e) }
			})
			events = nil
			if _, err := other.EndSessions(visited("key_two"), "1", core.EndOptions{}); err != nil {
				t.Fatal(err)
			}
		}, "sessions.ended=", "credential=key:two"},
		{"too many requests of two credentials", func() {
			for i := range 24 {
				visited([]string{"key_three", "key_four"}[i%2])
			}
		}, "limit=key:three limit=key:four", "credential=key:three"},
	} {
		t.Run(row.name, func(t *testing.T) {
			events = nil
			log.Reset()
			row.do()
			var got []string
			for _, e := range events {
				got = append(got, fmt.Sprintf("%s=%s", e.Name, e.Credential))
				if text := fmt.Sprintf("%+v", e); strings.Contains(text, "key_") {
					t.Errorf("the event has the token: %s", text)
				}
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("the events are %q, not %q", got, row.want)
			}
			if !strings.Contains(log.String(), row.log) || strings.Contains(log.String(), "key_") ||
				row.log == "" && strings.Contains(log.String(), "credential=") {
				t.Errorf("the log is %s", log.String())
			}
		})
	}
}
