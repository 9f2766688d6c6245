package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/latchkey-go/latchkey/providers/password"
)

// serve returns after a signal, when all requests and emails are done. It closes store last, because requests use it.
func serve(handler http.Handler, passwords *password.Provider, store io.Closer) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	server := &http.Server{Addr: ":3000", Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case err := <-served: // for example because the port is in use
		return err
	case <-ctx.Done():
	}
	stop() // a second signal ends the process immediately

	last, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := server.Shutdown(last)
	if emails := passwords.Flush(last); emails != nil {
		log.Print(emails) // users can request another email
	}
	return errors.Join(err, store.Close())
}
