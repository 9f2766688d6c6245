package sqltest

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	sqlstore "github.com/latchkey-go/latchkey/storage/sql"
)

// plugin is a plugin that allows guests.
type plugin struct{}

// Attach implements [core.Plugin].
func (plugin) Attach(h *core.PluginHost) error {
	h.AllowGuests(core.GuestOptions{Action: "guest", MaxAge: time.Hour})
	return nil
}

// emailRequired checks that a layout whose email column is NOT NULL is a configuration error for guests, and that the
// database then refuses users without an address.
func emailRequired(t *testing.T, d Database) {
	for _, required := range []bool{false, true} {
		s := d.Migrated(t, sqlstore.Layout{EmailRequired: required, Prefix: map[bool]string{true: "required_"}[required]})
		_, err := core.New(core.Config{
			Store: s, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Plugins: []core.Plugin{plugin{}},
			Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), InsecureNoLimits: true,
		})
		if named := err != nil && strings.Contains(err.Error(), "EmailRequired"); named != required {
			t.Errorf("EmailRequired is %t: %v", required, err)
		}
		_, err = s.CreateUser(t.Context(), &store.User{ID: "5b3f1c5e-8f0a-4d53-9d2a-0a4b1f0f7f11"})
		if refused := err != nil; refused != required {
			t.Errorf("EmailRequired is %t: a user without an address: %v", required, err)
		}
	}
}
