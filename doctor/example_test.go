package doctor_test

import (
	"context"
	"fmt"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/doctor"
)

// A report names the field and the fix. In this example the secret is missing.
func ExampleRun() {
	report := doctor.Run(context.Background(), core.Config{
		URL: "https://app.example.org", Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}},
	}, doctor.Options{})
	fmt.Print(report)
	// Output:
	// wrong    secrets  Secrets is empty
	//                   → set it, or AUTH_SECRET in the environment, to 32 random bytes (openssl rand -base64 33)
	//
	// 0 ok, 1 wrong, 0 unknown
}

// Call Main between the configuration and core.New. It returns immediately unless the argument is doctor or routes.
func ExampleMain() {
	config := core.Config{URL: "https://app.example.org"}
	doctor.Main(config)
}
