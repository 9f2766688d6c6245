// A site with a public page, a page for members and a page for administrators, on echo.
package main

import (
	"cmp"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v5"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
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
	server := &http.Server{
		Addr: "localhost:" + cmp.Or(os.Getenv("PORT"), "3000"), Handler: newSite(auth, box),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
	}
	log.Printf("listening on http://%s (PORT=3001 for another port)", server.Addr)
	log.Fatal(server.ListenAndServe())
}

// newSite returns the router: the application's pages, and Latchkey's sign-in page and other routes under /auth.
func newSite(auth *core.Auth, mails http.Handler) *echo.Echo {
	a := authecho.New(auth)
	e := echo.New()
	a.Mount(e)
	e.GET("/mailbox", echo.WrapHandler(mails))
	e.GET("/", show("Welcome"), a.Hook())
	e.GET("/members", show("Members"), a.RequireSession())
	e.GET("/admin", show("Administration"), a.RequireSession(adminsOnly))
	return e
}

func show(title string) echo.HandlerFunc {
	return func(c *echo.Context) error {
		session, err := authecho.Session(c)
		if err != nil {
			return err
		}
		c.Response().Header().Set("Content-Type", "text/html; charset=utf-8")
		return render(c.Response(), title, session)
	}
}
