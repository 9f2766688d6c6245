// A site with a page for everybody, one for its members and one for administrators, on fiber.
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
	"github.com/latchkey-go/latchkey/conformance/app/mailbox"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/doctor"
	"github.com/latchkey-go/latchkey/providers"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

func main() {
	store, err := bboltstore.Open("app.bolt")
	if err != nil {
		log.Fatal(err)
	}
	box := mailbox.NewWith(providers.WriteLetter) // shows emails instead of sending them; later smtp.Nodemailer().Mailer()
	config := newConfig(store, box.Mailer())
	doctor.Main(config) // go run . doctor says what is wrong, go run . routes what is answered
	if len(os.Args) > 1 {
		log.Fatalf("there is no command %q: go run . doctor, go run . routes, or nothing", os.Args[1])
	}
	auth, err := core.New(config)
	if err != nil {
		log.Fatal(err)
	}
	addr := "localhost:" + cmp.Or(os.Getenv("PORT"), "3000")
	log.Printf("opening http://%s (PORT=3001 takes another port)", addr)
	log.Fatal(newSite(auth, box).Listen(addr, fiber.ListenConfig{DisableStartupMessage: true}))
}

// newSite has all pages: those of the application, and the sign-in page, callbacks and the rest under /auth.
func newSite(auth *core.Auth, letters http.Handler) *fiber.App {
	a := authfiber.New(auth)
	app := fiber.New(fiber.Config{
		ReadBufferSize:               16 << 10, // fiber's 4 KiB are too few for the cookies of some sign-ins
		DisablePreParseMultipartForm: true,     // so that malformed uploads are answered by Latchkey
		ReadTimeout:                  15 * time.Second, WriteTimeout: time.Minute,
	})
	a.Mount(app)
	app.Get("/mailbox", adaptor.HTTPHandler(letters))
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
