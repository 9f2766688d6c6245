// A site with a public page, a page for members and a page for administrators, on gin.
package main

import (
	"cmp"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
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
func newSite(auth *core.Auth, mails http.Handler) *gin.Engine {
	a := authgin.New(auth)
	r := gin.Default()
	a.Mount(r)
	r.GET("/mailbox", gin.WrapH(mails))
	r.GET("/", a.Hook(), show("Welcome"))
	r.GET("/members", a.RequireSession(), show("Members"))
	r.GET("/admin", a.RequireSession(adminsOnly), show("Administration"))
	return r
}

func show(title string) gin.HandlerFunc {
	return func(c *gin.Context) {
		session, err := authgin.Session(c)
		if err != nil {
			c.String(http.StatusInternalServerError, "Please try again.")
			return
		}
		c.Header("Content-Type", "text/html; charset=utf-8")
		_ = render(c.Writer, title, session)
	}
}
