// The program of docs/passwords.md.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/smtp"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	store, err := postgres.Open(os.Getenv("DATABASE_URL"))
	if err == nil {
		err = store.Migrate(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
	passwords := password.New(password.Options{Mail: smtp.Nodemailer().Mailer()}) // EMAIL_SERVER, EMAIL_FROM
	auth, err := core.New(core.Config{                                            // AUTH_SECRET, AUTH_URL
		Store: store, Providers: []core.Provider{passwords},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux) // /auth/signin, /auth/password/sign-up, …
	server := &http.Server{Addr: ":3000", Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { <-ctx.Done(); _ = server.Shutdown(context.Background()) }()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	if err := passwords.Flush(context.Background()); err != nil { // letters that were promised
		log.Print(err)
	}
}
