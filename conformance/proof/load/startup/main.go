// Command startup measures the start of a net/http program with ten providers and without a database driver: the real
// time and the CPU time from process start to the first response, and the memory then and after many requests. It needs
// Linux.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

func main() {
	serving := flag.Bool("serve", false, "run as the measured program")
	tenants := flag.Int("tenants", 1, "number of Auths in the program")
	times := flag.Int("times", 20, "number of starts; the median counts")
	flag.Parse()
	run := func() error { return report(context.Background(), os.Stdout, *times, 20000) }
	if *serving {
		run = func() error { return serve(*tenants) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "startup:", err)
		os.Exit(1)
	}
}

// serve is the measured program. It prints its address on the first line.
func serve(tenants int) error {
	all := make([]*core.Auth, tenants)
	for i := range all {
		var err error
		if all[i], err = newAuth(i); err != nil {
			return err
		}
	}
	mux := http.NewServeMux()
	authhttp.New(all[0]).Mount(mux)
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, l.Addr()); err != nil {
		return err
	}
	err = (&http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}).Serve(l)
	return errors.Join(err, fmt.Errorf("%d tenants are served no more", len(all)))
}

// newAuth returns an Auth with ten providers for one of several tenants.
func newAuth(tenant int) (*core.Auth, error) {
	c := core.Config{
		Secrets: []core.Secret{
			"0123456789abcdef0123456789abcdef",
		}, TrustHost: core.True, Logger: slog.New(slog.DiscardHandler),
		Audience: "tenant-" + strconv.Itoa(tenant), Getenv: func(string) string { return "" },
	}
	for i := range 10 {
		id := "op" + strconv.Itoa(i)
		c.Providers = append(c.Providers, &core.OAuthProvider{
			ID: id, Name: id, Type: core.TypeOAuth, ClientID: "client", ClientSecret: "secret",
			Authorization: core.Endpoint{URL: "https://op.example/authorize"},
			Token:         core.Endpoint{URL: "https://op.example/token"},
			Userinfo:      core.Endpoint{URL: "https://op.example/userinfo"},
			Checks:        []core.Check{core.CheckPKCE, core.CheckState},
		})
	}
	return core.New(c)
}
