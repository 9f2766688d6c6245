package authfiber_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/cors"
	"github.com/gofiber/fiber/v3/middleware/helmet"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
	"github.com/latchkey-go/latchkey/core"
)

// TestBehindCORSAndHelmet checks responses with CORS and helmet middleware: a browser rejects two values of
// Access-Control-Allow-Origin.
func TestBehindCORSAndHelmet(t *testing.T) {
	const spa = "https://spa.test"
	auth, err := core.New(core.Config{
		URL: "https://api.test", Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, TrustedOrigins: []string{spa},
	})
	if err != nil {
		t.Fatal(err)
	}
	f, a := fiber.New(fiber.Config{ReadBufferSize: 16 << 10}), authfiber.New(auth)
	f.Use(cors.New(cors.Config{AllowOrigins: []string{spa}, AllowCredentials: true}), helmet.New())
	a.Mount(f)
	f.Get("/guarded", a.RequireSession(), func(c fiber.Ctx) error { return c.SendString("in") })
	addr := server(f).Start(t)
	for _, path := range []string{"/auth/csrf", "/auth/session", "/auth/providers", "/auth/error", "/guarded"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", spa)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		for name, values := range res.Header {
			if name != "Set-Cookie" && name != "Vary" && len(values) > 1 {
				t.Errorf("%s: %s has the values %q", path, name, values)
			}
		}
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != spa {
			t.Errorf("%s: Access-Control-Allow-Origin is %q", path, got)
		}
		if vary := strings.Join(res.Header.Values("Vary"), ", "); strings.Count(vary, "Origin") != 1 {
			t.Errorf("%s: Vary is %q", path, vary)
		}
		if got := res.Header.Get("Referrer-Policy"); path != "/guarded" && got != "same-origin" {
			t.Errorf("%s: Referrer-Policy is %q", path, got)
		}
	}
}
