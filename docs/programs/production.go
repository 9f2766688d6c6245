package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/providers"
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
	auth, err := core.New(core.Config{ // AUTH_SECRET, AUTH_URL, AUTH_GITHUB_ID, AUTH_GITHUB_SECRET
		Store:          store,
		Providers:      []core.Provider{providers.GitHub()},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Audit:          audit.LogTo(slog.Default()),
	})
	if err != nil {
		log.Fatal(err)
	}
	a, mux := authhttp.New(auth), http.NewServeMux()
	a.Mount(mux)
	mux.Handle("GET /{$}", a.RequireSession(http.HandlerFunc(home)))
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {}) // reads no session

	server := &http.Server{
		Addr: "127.0.0.1:3000", Handler: mux,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: time.Minute,
	}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case err := <-served: // for example because the port is in use
		log.Fatal(err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil { // waits for running requests
		log.Print(err)
	}
}

func home(w http.ResponseWriter, r *http.Request) {
	session, err := authhttp.Session(r)
	if err != nil {
		http.Error(w, "Please try again.", http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, "Hello,", session.User.Name)
}
