package account_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// TestFaults: New reports each configuration error with its fix.
func TestFaults(t *testing.T) {
	used := account.New(account.Options{})
	config := func(store core.Store, part core.Plugin) core.Config {
		return core.Config{
			URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: store,
			Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), Plugins: []core.Plugin{part},
		}
	}
	if _, err := core.New(config(memory.New(), used)); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		config core.Config
		says   []string
	}{
		"attached twice": {config(memory.New(), used), []string{"account.New for each Auth"}},
		"no store":       {config(nil, account.New(account.Options{})), []string{"set Config.Store"}},
		"a store that does little": {
			config(struct{ core.Store }{memory.New()}, account.New(account.Options{})),
			[]string{"store.RecordStore", "store.AccountStore"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := core.New(row.config)
			if err == nil {
				t.Fatal("no fault")
			}
			for _, part := range row.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
		})
	}
}

// TestWithoutAStore: New reports the missing store once, without errors that follow from it.
func TestWithoutAStore(t *testing.T) {
	_, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{"a secret of the tests, 32 bytes or more"},
		Plugins: []core.Plugin{account.New(account.Options{
			Mail: mailbox.New(), Delete: func(context.Context, *core.User) error { return nil },
		})},
		Getenv: func(string) string { return "" },
	})
	var problems *core.ConfigError
	if !errors.As(err, &problems) || len(problems.Problems) != 1 || !errors.Is(err, core.ErrMissingStore) {
		t.Errorf("New returned %v", err)
	}
}
