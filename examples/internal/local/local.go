// Package local provides an address, a secret and an orderly shutdown for the examples.
package local

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Addr returns the address to listen on: that of the flag, else the port on loopback, else port 3000 on loopback.
// Loopback is the default because the examples' passwords are in their source.
func Addr(flag, port string) string {
	switch {
	case flag != "":
		return flag
	case port != "":
		return net.JoinHostPort("localhost", port)
	}
	return "localhost:3000"
}

// URL returns the address to open in a browser on this machine.
func URL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" || host == "127.0.0.1" || host == "0.0.0.0" || host == "::" {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// Closed reports whether an address to listen on cannot be reached from other machines.
func Closed(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// Listen opens the port. If it is in use, the error says how to choose another.
func Listen(addr string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: choose another address with -addr localhost:3001, or PORT=3001 in the environment", err)
	}
	return listener, err
}

// Secret creates the folder and returns AUTH_SECRET, or a secret that is created on the first run and stored in the
// folder, so that a restart signs no user out.
func Secret(folder string) (core.Secret, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	if s := os.Getenv("AUTH_SECRET"); s != "" {
		return core.Secret(s), nil
	}
	file := filepath.Join(folder, "secret")
	kept, err := os.ReadFile(file)
	if err == nil {
		return core.Secret(strings.TrimSpace(string(kept))), nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	secret := make([]byte, 33)
	_, _ = rand.Read(secret) // crypto/rand.Read never fails
	text := base64.StdEncoding.EncodeToString(secret)
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		return "", err
	}
	fmt.Printf("AUTH_SECRET is not set: made a secret for development and kept it in %s\n", file)
	return core.Secret(text), nil
}

// Run runs serve until it fails or the process receives a signal. Then it calls the functions of end in order, even if
// earlier ones fail. Together they have ten seconds.
func Run(serve func() error, end ...func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed := make(chan error, 1)
	go func() { failed <- serve() }()
	var all []error
	select {
	case err := <-failed:
		all = append(all, err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, f := range end {
		all = append(all, f(grace))
	}
	return errors.Join(all...)
}
