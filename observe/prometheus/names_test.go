package prometheus_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/storetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// stores is a plugin that calls every store method that a plugin can call, for a user that does not exist.
type stores struct{ t *testing.T }

func (s stores) Attach(h *core.PluginHost) error {
	for _, face := range []any{
		h.Store, h.Accounts, h.Authenticators, h.Transactor, h.UserDeleter, h.SessionLister, h.Records(),
	} {
		v := reflect.ValueOf(face)
		for i := range v.NumMethod() {
			s.ask(v.Method(i))
		}
	}
	return nil
}

// ask calls a method with zero arguments. Its result does not matter.
func (s stores) ask(method reflect.Value) {
	defer func() { _ = recover() }()
	arguments := []reflect.Value{reflect.ValueOf(s.t.Context())}
	for n := 1; n < method.Type().NumIn(); n++ {
		arguments = append(arguments, reflect.Zero(method.Type().In(n)))
	}
	method.Call(arguments)
}

// TestCallsAreNamedAsInErrors: the label of a store call is the first word of the store's errors and their log lines.
func TestCallsAreNamedAsInErrors(t *testing.T) {
	t.Parallel()
	named := storetest.Trouble("memory").Calls(memory.New(), "", "")
	var told []string
	_, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{"a secret of the tests, 32 bytes or more"}, Store: memory.New(),
		Getenv: func(string) string { return "" }, Plugins: []core.Plugin{stores{t}},
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}},
		Observe: func(_ context.Context, c observe.Call) (context.Context, func(observe.Outcome)) {
			told = append(told, c.Name)
			return nil, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) < 20 {
		t.Errorf("told %v", told)
	}
	for _, name := range told {
		if named[name] == nil {
			t.Errorf("no store has errors of %q, but of %v", name, slices.Sorted(maps.Keys(named)))
		}
	}
}
