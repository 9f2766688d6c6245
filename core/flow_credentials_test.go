package core_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestCredentialsAloneWithAStore configures a store, credentials and no strategy: sessions live in the store, where
// users are that the application has put there. One that it has not is told of in the log with both ways out, the other
// strategy among them (docs/protocol.md §10).
func TestCredentialsAloneWithAStore(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		strategy core.Strategy
		stored   bool
		in       bool
		records  int
	}{
		{"no strategy, a stored user", "", true, true, 1},
		{"no strategy, a user of the application's", "", false, false, 0},
		{"jwt, a user of the application's", core.StrategyJWT, false, true, 0},
		{"jwt, a stored user", core.StrategyJWT, true, true, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			store := newPeople()
			ada := &core.User{ID: "1", Name: "Ada", Email: "ada@example.com"}
			if row.stored {
				if _, err := store.CreateUser(t.Context(), ada); err != nil {
					t.Fatal(err)
				}
			}
			a := newApp(t, core.Config{
				Store: store.as(power{}), Session: core.SessionConfig{Strategy: row.strategy},
				Providers: []core.Provider{&core.CredentialsProvider{
					Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return ada, nil },
				}},
			})
			b := visit(t, a)
			b.submit("/auth/callback/credentials", url.Values{"password": {"x"}})
			if (b.who() == "ada") != row.in || len(store.sessions) != row.records {
				t.Errorf("signed in as %q, %d records", b.who(), len(store.sessions))
			}
			told := strings.Contains(a.log.String(), "CreateUser") && strings.Contains(a.log.String(), "StrategyJWT")
			if told == row.in {
				t.Errorf("the log says %s", a.log)
			}
		})
	}
}
