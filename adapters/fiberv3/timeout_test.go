package authfiber_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/sse"
	"github.com/gofiber/fiber/v3/middleware/timeout"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

// TestTimeout makes fiber's timeout respond while a handler that has read the session continues. The handler may still
// write to the header of the abandoned response, so the hook must not write to it.
func TestTimeout(t *testing.T) {
	auth := newAuth(t, func(c *core.Config) { c.Session.UpdateAge = core.UpdateAlways })
	hook := authfiber.New(auth).Hook()
	onTimeout := func(c fiber.Ctx) error { return c.Status(504).SendString("too late") }
	for _, row := range []struct {
		name   string
		inside bool
		on     fiber.Handler
		status int
	}{
		{"the hook in front", false, nil, 408},
		{"the hook in front, and an answer of the application's own", false, onTimeout, 504},
		{"the hook behind", true, nil, 408},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := fiber.New()
			answered, ended := make(chan struct{}), make(chan struct{})
			var end context.CancelFunc
			handler := func(c fiber.Ctx) error {
				if s, err := authfiber.Session(c); s == nil || err != nil {
					t.Errorf("the session is %v, %v", s, err)
				}
				end()
				<-answered
				for range 100 {
					c.Set("X-Late", "late")
				}
				return nil
			}
			config := timeout.Config{Timeout: time.Hour, OnTimeout: row.on}
			ends := func(c fiber.Ctx) error { // before the timeout; ends the context as it would
				var ctx context.Context
				ctx, end = context.WithCancel(c.Context())
				c.SetContext(ctx)
				return c.Next()
			}
			held := ""
			looks := func(c fiber.Ctx) error { // before the hook
				err := c.Next()
				held = string(c.Response().Header.PeekCookie("authjs.session-token"))
				close(answered)
				return err
			}
			if row.inside {
				f.Get("/", looks, ends, timeout.New(func(c fiber.Ctx) error {
					defer close(ended)
					return c.Next()
				}, config), hook, handler)
			} else {
				f.Get("/", looks, hook, ends, timeout.New(func(c fiber.Ctx) error {
					defer close(ended)
					return handler(c)
				}, config))
			}
			r := httptest.NewRequest("GET", "http://example.com/", nil)
			for _, cookie := range authtest.Cookies(t, auth, "http://example.com", &core.User{ID: "1", Name: "Ada"}) {
				r.AddCookie(cookie)
			}
			answer := ask(t, f, r)
			<-ended
			if held != "" || answer.StatusCode != row.status || answer.Header["Set-Cookie"] != nil {
				t.Errorf("answered %d with %q; the hook has set %q", answer.StatusCode, answer.Header, held)
			}
		})
	}
}

// TestEvents reads the session before an event stream, which fiber also calls abandoned. Its cookie must be set.
func TestEvents(t *testing.T) {
	auth := newAuth(t, func(c *core.Config) { c.Session.UpdateAge = core.UpdateAlways })
	f := fiber.New()
	f.Get("/", authfiber.New(auth).Hook(), func(c fiber.Ctx) error {
		if s, err := authfiber.Session(c); s == nil || err != nil {
			t.Errorf("the session is %v, %v", s, err)
		}
		return c.Next()
	}, sse.New(sse.Config{Handler: func(_ fiber.Ctx, stream *sse.Stream) error {
		return stream.Event(sse.Event{Data: "hello"})
	}}))
	r := httptest.NewRequest("GET", "http://example.com/", nil)
	for _, cookie := range authtest.Cookies(t, auth, "http://example.com", &core.User{ID: "1", Name: "Ada"}) {
		r.AddCookie(cookie)
	}
	answer := ask(t, f, r)
	if set := strings.Join(answer.Header["Set-Cookie"], "\n"); !strings.Contains(set, "authjs.session-token=") {
		t.Errorf("answered %q with %q", answer.Body, answer.Header)
	}
}
