// The orders example: the server for the programs in examples/cli and examples/mcp.
package main

import (
	"flag"
	"log"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/latchkey-go/latchkey/examples/internal/local"
	"github.com/latchkey-go/latchkey/examples/internal/orders"
)

func main() {
	addr := flag.String("addr", local.Addr("", os.Getenv("PORT")), "address to listen on")
	data := flag.String("data", ".latchkey", "folder of the secret")
	flag.Parse()
	if err := run(*addr, *data); err != nil {
		log.Fatal(err)
	}
}

func run(addr, data string) error {
	listener, err := local.Listen(addr)
	if err != nil {
		return err
	}
	secret, err := local.Secret(data)
	if err != nil {
		return err
	}
	s, err := orders.New(orders.Options{
		URL: local.URL(addr), Secret: secret, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	log.Printf("listening on %s: now run examples/cli or examples/mcp", local.URL(addr)) //nolint:gosec // its own address
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute,
	}
	return local.Run(func() error { return server.Serve(listener) }, server.Shutdown)
}
