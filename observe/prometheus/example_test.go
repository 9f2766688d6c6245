package prometheus_test

import (
	"context"
	"fmt"
	"log/slog"

	client "github.com/prometheus/client_golang/prometheus"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/observe/prometheus"
)

// New(nil) uses the default registry, which promhttp.Handler serves.
func Example() {
	registry := client.NewRegistry()
	metrics, err := prometheus.New(registry)
	if err != nil {
		fmt.Println(err)
		return
	}
	auth, err := core.New(metrics.Wrap(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a secret of the example, of 32 bytes or more"},
		Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	metrics.Follow(auth)
	families, err := registry.Gather()
	for _, f := range families {
		fmt.Println(f.GetName(), len(f.GetMetric()))
	}
	fmt.Println(err)
	// Output:
	// latchkey_decisions_total 1
	// <nil>
}
