package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// TestGuard requests a private page in ways that have opened private pages in other software: headers that name another
// path or method, unusual spellings of the path, methods other than GET. Only a signed-in user may see it
// (docs/protocol.md §7.9).
func TestGuard(t *testing.T) {
	for _, adapter := range wire.Adapters() {
		t.Run(adapter, func(t *testing.T) {
			within(t, func(a *attack) {
				a.adapter = adapter
				x := a.open(nil)
				stranger := x.browser("u1")
				see := func(what, method, target string, lines ...[2]string) {
					t.Helper()
					body := ""
					r := wire.Request{Method: method, Target: target, Header: append([][2]string{{"Host", "app.example"}}, lines...)}
					if method != "GET" && method != "HEAD" {
						r.Body = &body
					}
					answer, err := x.send(r)
					if err == nil && strings.Contains(string(answer.Body), wire.Secret) {
						t.Errorf("%s: %d: %s", what, answer.Status, answer.Body)
					}
					if err == nil && method == "HEAD" && answer.Status == 200 {
						t.Errorf("%s: 200", what)
					}
				}
				for _, method := range []string{
					"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get", "LOCK",
				} {
					see(method, method, "/private")
				}
				for _, target := range []string{
					"/private/", "//private", "/private//", "/./private", "/x/../private", "/private/.", "/private/..",
					"/%70rivate", "/private%2f", "/private%00", "/PRIVATE", "/private;x=1", "/private?x", "/private#x",
					"/auth/../private", "/private/x", "/private.json", "/private.", "/\\private",
					"https://app.example/private", "/private%3f", "/%2e/private",
				} {
					see(target, "GET", target)
				}
				for _, line := range [][2]string{
					{"X-Middleware-Subrequest", "middleware:middleware:middleware:middleware:middleware"},
					{"X-Original-URL", "/page"}, {"X-Rewrite-URL", "/page"},
					{"X-HTTP-Method-Override", "OPTIONS"}, {"X-Method-Override", "HEAD"},
					{"X-Forwarded-Uri", "/page"}, {"X-Forwarded-User", "ada"}, {"X-Remote-User", "ada"},
					{"Authorization", "Bearer undefined"}, {"Authorization", "Basic YWRhOmFkYQ=="},
					{"Upgrade", "websocket"}, {"Cookie", sessionCookie + "=undefined"},
					{"Cookie", sessionCookie + "=null"}, {"Cookie", sessionCookie + "={}"},
					{"Accept", "text/html"}, {"Accept", "*/*;q=0"},
				} {
					see(line[0]+": "+line[1], "GET", "/private", line)
				}
				see("another page by header", "GET", "/page", [2]string{"X-Original-URL", "/private"})
				if stranger.who() != "" {
					t.Error("a user was signed in")
				}
				stranger.signIn("ada")
				if answer := stranger.get("/private"); string(answer.Body) != wire.Secret {
					t.Errorf("who is signed in sees %d: %s", answer.Status, answer.Body)
				}
			})
		})
	}
}

// TestGuardFailsClosed: if the data source of a guard fails, no request passes (docs/protocol.md §7.7).
func TestGuardFailsClosed(t *testing.T) {
	for _, adapter := range wire.Adapters() {
		t.Run(adapter, func(t *testing.T) {
			within(t, func(a *attack) {
				a.adapter = adapter
				var breaks atomic.Int32
				x := a.open(func(c *core.Config) {
					c.Callbacks.Session = func(_ context.Context, p core.SessionParams) (*core.Session, error) {
						switch breaks.Load() {
						case 1:
							return nil, errors.New("the callback fails")
						case 2:
							panic("the callback panics")
						case 3:
							return nil, nil
						case 4:
							return &core.Session{}, nil
						}
						return p.Session, nil
					}
				})
				b := x.browser("u1")
				b.signIn("ada")
				kept := b.cookies[sessionCookie]
				for i := int32(1); i <= 4; i++ {
					breaks.Store(i)
					b.cookies[sessionCookie] = kept
					r := wire.Request{Method: "GET", Target: "/private", Header: [][2]string{{"Host", "app.example"}, b.cookieLine()}}
					answer, err := wire.Send(x, x.address, true, r)
					if err != nil || answer.Status == 200 || strings.Contains(string(answer.Body), wire.Secret) {
						t.Errorf("broken in way %d: %d, %v: %s", i, answer.Status, err, answer.Body)
					}
				}
			})
		})
	}
}
