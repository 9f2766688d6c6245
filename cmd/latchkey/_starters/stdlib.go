// A site with a page for everybody, one for its members and one for administrators, on net/http.
package main

import (
	"cmp"
	"log"
	"net/http"
	"os"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
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
func newSite(auth *core.Auth, letters http.Handler) http.Handler {
	a := authhttp.New(auth)
	mux := http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /mailbox", letters)
	mux.Handle("GET /{$}", a.Hook(show("Welcome")))
	mux.Handle("GET /members", a.RequireSession(show("Members")))
	mux.Handle("GET /admin", a.Require(adminsOnly)(show("Administration")))
	return mux
}

func show(title string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, err := authhttp.Session(r)
		if err != nil {
			http.Error(w, "Please try again.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = render(w, title, session)
	})
}
