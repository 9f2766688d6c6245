// A site with a public page, a page for members and a page for administrators.
package main

import (
	"cmp"
	"log"
	"os"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/doctor"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

func main() {
	if err := loadEnv(); err != nil { // in development, .env sets AUTH_SECRET and ADMIN_EMAIL
		log.Fatal(err)
	}
	store, err := bboltstore.Open("app.bolt")
	if err != nil {
		log.Fatal(err)
	}
	mail, mails := newMailer()
	config := newConfig(store, mail)
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
	log.Fatal(serve(newSite(auth, mails), addr))
}
