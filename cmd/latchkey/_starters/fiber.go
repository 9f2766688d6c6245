// A site with a public page, a page for members and a page for administrators, on fiber.
package main

import (
	"cmp"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/adaptor"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiberv3"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/dotenv"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/doctor"
	"github.com/latchkey-go/latchkey/providers"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

func main() {
	if err := dotenv.Load(".env"); err != nil { // in development, .env sets AUTH_SECRET and ADMIN_EMAIL
		log.Fatal(err)
	}
	store, err := bboltstore.Open("app.bolt")
	if err != nil {
		log.Fatal(err)
	}
	// The mailbox shows emails instead of sending them. To send them, use smtp.NewMailer(smtp.Options{}).
	box := mailbox.NewWith(providers.WriteEmail)
	config := newConfig(store, box)
	doctor.Main(config) // "go run . doctor" checks the configuration, "go run . routes" lists the routes
	if len(os.Args) > 1 {
		log.Fatalf("unknown command %q: use doctor, routes, or none", os.Args[1])
	}
	auth, err := core.New(config)
	if err != nil {
		log.Fatal(err)
	}
	addr := "localhost:" + cmp.Or(os.Getenv("PORT"), "3000")
	log.Printf("listening on http://%s (PORT=3001 for another port)", addr)
	log.Fatal(newSite(auth, box).Listen(addr, fiber.ListenConfig{DisableStartupMessage: true}))
}

// newSite returns the router: the application's pages, and Latchkey's sign-in page and other routes under /auth.
func newSite(auth *core.Auth, mails http.Handler) *fiber.App {
	a := authfiber.New(auth)
	app := fiber.New(fiber.Config{
		ReadBufferSize:               16 << 10, // fiber's default of 4 KiB is too small for the cookies of some sign-ins
		DisablePreParseMultipartForm: true,     // lets Latchkey respond to malformed uploads
		ReadTimeout:                  15 * time.Second, WriteTimeout: time.Minute,
	})
	a.Mount(app)
	app.Get("/mailbox", adaptor.HTTPHandler(mails))
	app.Get("/", a.Hook(), show("Welcome"))
	app.Get("/members", a.RequireSession(), show("Members"))
	app.Get("/admin", a.RequireSession(adminsOnly), show("Administration"))
	return app
}

func show(title string) fiber.Handler {
	return func(c fiber.Ctx) error {
		session, err := authfiber.Session(c)
		if err != nil {
			return err
		}
		c.Set("Content-Type", "text/html; charset=utf-8")
		return render(c, title, session)
	}
}
