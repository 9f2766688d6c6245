package core_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// greeter is a plugin with an action at /auth/greeter/hello and a required option.
type greeter struct{ Greeting string }

// Attach implements [core.Plugin].
func (g greeter) Attach(h *core.PluginHost) error {
	if g.Greeting == "" {
		h.AddConfigError(`Greeting is empty: set it, to "Hello" for example`)
	}
	h.AddAction(core.Action{
		Method: "GET", Name: "greeter", Verb: "hello",
		Handle: func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
			name := c.Field("name")
			if name == "" {
				return nil, &core.Problem{Status: http.StatusUnprocessableEntity, Code: "no-name", Detail: "Say who you are."}
			}
			return c.JSON(ctx, http.StatusOK, g.Greeting+" "+name), nil
		},
	})
	return nil
}

// A plugin adds actions. Core guards them, handles their errors, and reports configuration errors of the plugin.
func ExamplePlugin() {
	config := exampleConfig("https://app.example")
	config.Plugins = []core.Plugin{greeter{}}
	if _, err := core.New(config); err != nil {
		fmt.Println(err)
	}
	config.Plugins = []core.Plugin{greeter{Greeting: "Hello"}}
	auth, err := core.New(config)
	if err != nil {
		panic(err)
	}
	r := page("app.example")
	r.Header = http.Header{"Accept": {"application/json"}}
	r.Target = "/auth/greeter/hello?name=Ada"
	answer := auth.Handle(context.Background(), r)
	fmt.Println(answer.Status, string(answer.Body))
	// Output:
	// core: the configuration has 1 problem
	// 	core: InvalidConfig: Plugins[0] (core_test.greeter): Greeting is empty: set it, to "Hello" for example
	// 200 "Hello Ada"
}
