package authfiber_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/timeout"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/core"
)

// TestTimeoutLeavesNoCookieAstray: a handler that outlives fiber's timeout ends when its context is another visitor's.
func TestTimeoutLeavesNoCookieAstray(t *testing.T) {
	a := newAuth(t, func(c *core.Config) { c.Session.UpdateAge = core.Always })
	cookies, err := a.NewSession(t.Context(), &core.Request{Method: "GET", Target: "/", Hosts: []string{"127.0.0.1"}, Scheme: "http", Header: http.Header{}}, &core.User{ID: "victim"})
	if err != nil {
		t.Fatal(err)
	}
	f := fiber.New(fiber.Config{DisableStartupMessage: true})
	f.Get("/slow", timeout.New((*fiber.Ctx).Next, 20*time.Millisecond), authfiber.New(a).Hook(), func(c *fiber.Ctx) error {
		_, _ = authfiber.Session(c)
		time.Sleep(35 * time.Millisecond)
		return nil
	})
	f.Get("/page", func(c *fiber.Ctx) error { time.Sleep(40 * time.Millisecond); return c.SendString("page") })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = f.Listener(l) }()
	defer func() { _ = f.Shutdown() }()
	var all sync.WaitGroup
	var astray atomic.Int32
	ask := func(path, cookie string) {
		for range 15 {
			r, _ := http.NewRequest(http.MethodGet, "http://"+l.Addr().String()+path, nil)
			r.Header.Set("Cookie", cookie)
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				continue
			}
			if path == "/page" && strings.Contains(strings.Join(res.Header["Set-Cookie"], ""), "session-token") {
				astray.Add(1)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	}
	for range 4 {
		all.Go(func() { ask("/slow", cookies[0].Name+"="+cookies[0].Value) })
		all.Go(func() { ask("/page", "") })
	}
	all.Wait()
	if n := astray.Load(); n > 0 {
		t.Errorf("%d of 60 answers to others carry the session cookie", n)
	}
}
