// A site with a page for everybody, one for its members and one for administrators, on echo.
package main

import (
	"cmp"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/labstack/echo/v5"

	authecho "github.com/latchkey-go/latchkey/adapters/echov5"
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
	server := &http.Server{
		Addr: "localhost:" + cmp.Or(os.Getenv("PORT"), "3000"), Handler: newSite(auth, box),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
	}
	log.Printf("opening http://%s (PORT=3001 takes another port)", server.Addr)
	log.Fatal(server.ListenAndServe())
}

// newSite has all pages: those of the application, and the sign-in page, callbacks and the rest under /auth.
func newSite(auth *core.Auth, letters http.Handler) *echo.Echo {
	a := authecho.New(auth)
	e := echo.New()
	a.Mount(e)
	e.GET("/mailbox", echo.WrapHandler(letters))
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
