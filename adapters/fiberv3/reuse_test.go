package authfiber_test

import (
	"bufio"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/valyala/fasthttp"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

// TestContextOfAnotherRequest makes the handler return when its context has been released, or already belongs to the
// next request. This happens if a timeout responds and the handler continues. The hook's cookies must be dropped, so
// that the other user does not get them.
func TestContextOfAnotherRequest(t *testing.T) {
	auth := newAuth(t, func(c *core.Config) { c.Session.UpdateAge = core.UpdateAlways })
	for _, reused := range []bool{false, true} {
		f := fiber.New()
		var first, second fasthttp.RequestCtx
		first.Init(&fasthttp.Request{}, nil, nil)
		cookie := authtest.Cookies(t, auth, "http://example.com", &core.User{ID: "1", Name: "Ada"})[0]
		raw := "GET / HTTP/1.1\r\nHost: example.com\r\nCookie: " + cookie.Name + "=" + cookie.Value + "\r\n\r\n"
		if err := first.Request.Read(bufio.NewReader(strings.NewReader(raw))); err != nil {
			t.Fatal(err)
		}
		handled := false
		f.Get("/", authfiber.New(auth).Hook(), func(c fiber.Ctx) error {
			handled = true
			if s, err := authfiber.Session(c); s == nil || err != nil {
				t.Errorf("the session is %v, %v", s, err)
			}
			own, ok := c.(fiber.CustomCtx)
			if !ok {
				t.Fatalf("the context is a %T", c)
			}
			f.ReleaseCtx(own)
			if reused {
				for range 100 { // until the pool returns the same context
					if f.AcquireCtx(&second) == own {
						break
					}
				}
			}
			return nil
		})
		func() {
			defer func() { _ = recover() }() // fiber itself continues with the released context
			f.Handler()(&first)
		}()
		if !handled {
			t.Fatal("the handler was not asked")
		}
		for _, ctx := range []*fasthttp.RequestCtx{&first, &second} {
			if got := ctx.Response.Header.PeekCookie("authjs.session-token"); len(got) > 0 {
				t.Errorf("an answer sets %q", got)
			}
		}
	}
}
