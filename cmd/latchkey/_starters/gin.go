// A site with a page for everybody, one for its members and one for administrators, on gin.
package main

import (
	"cmp"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/conformance/app/mailbox"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/doctor"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

func main() {
	store, err := bboltstore.Open("app.bolt")
	if err != nil {
		log.Fatal(err)
	}
	box := mailbox.New() // shows letters instead of sending them; later smtp.Nodemailer().Mailer()
	config := newConfig(store, box.Mailer())
	doctor.Main(config) // go run . doctor says what is wrong, go run . routes what is answered
	auth, err := core.New(config)
	if err != nil {
		log.Fatal(err)
	}
	a := authgin.New(auth)
	r := gin.Default()
	a.Mount(r) // sign-in page, callbacks and the rest, under /auth
	r.GET("/mailbox", gin.WrapH(box))
	r.GET("/", a.Hook(), show("Welcome"))
	r.GET("/members", a.RequireSession(), show("Members"))
	r.GET("/admin", a.RequireSession(adminsOnly), show("Administration"))

	server := &http.Server{
		Addr: "localhost:" + cmp.Or(os.Getenv("PORT"), "3000"), Handler: r,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
	}
	log.Printf("listening on http://%s", server.Addr)
	log.Fatal(server.ListenAndServe())
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
