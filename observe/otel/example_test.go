package otel_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/observe/otel"
)

// The zero Options send spans and metrics to the global providers.
func Example() {
	config, err := otel.Wrap(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a secret of the example, of 32 bytes or more"},
		Logger: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}},
	}, otel.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	auth, err := core.New(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(otel.Follow(auth, config.Providers, otel.Options{}))
	// Output: <nil>
}
