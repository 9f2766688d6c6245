package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/smtp"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	store, err := postgres.Open(os.Getenv("DATABASE_URL"), postgres.Options{})
	if err == nil {
		err = store.Migrate(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
	passwords := password.New(password.Options{Mail: smtp.NewMailer(smtp.Options{})}) // EMAIL_SERVER, EMAIL_FROM
	auth, err := core.New(core.Config{                                                // AUTH_SECRET, AUTH_URL
		Store: store, Providers: []core.Provider{passwords},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux) // /auth/signin, /auth/password/sign-up, …
	server := &http.Server{Addr: ":3000", Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case err := <-served: // for example because the port is in use
		log.Fatal(err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	// First the requests end, then their pending emails are sent.
	if err := errors.Join(server.Shutdown(last), passwords.Flush(last)); err != nil {
		log.Print(err)
	}
}
