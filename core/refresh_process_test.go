package core_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestRefreshOfAnotherPerson gets an ID token with a refresh. It must have the subject of the account (OpenID Connect
// Core section 12.2). Otherwise nothing is stored.
func TestRefreshOfAnotherPerson(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, id, earlier string // the subject of the account and of its earlier ID token
		good              bool
	}{
		{"the account's", "u1", "", true},
		{"another than the account's", "u2", "", false},
		{"the earlier token's", "local-7", "u1", true},
		{"another than the earlier token's", "u1", "u2", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			op, store := &smallOP{}, &oneAccount{}
			a := openOP(t, op, core.Config{Store: store, Session: core.SessionConfig{Strategy: core.StrategyJWT}})
			account := &core.Account{
				Provider: "op", ProviderAccountID: row.id, AccessToken: "before", RefreshToken: "r1",
				ExpiresAt: a.clock.Now().Add(30 * time.Second),
			}
			if row.earlier != "" {
				account.IDToken = core.Secret(jws(`{"alg":"EdDSA"}`, map[string]any{
					"iss": "https://op.example/common", "aud": "id", "sub": row.earlier, "iat": a.clock.Now().Unix(),
				}))
			}
			store.account = *account
			fresh, err := a.Refresh(t.Context(), account)
			switch {
			case row.good && (err != nil || fresh.AccessToken != "a" || store.account.AccessToken != "a"):
				t.Errorf("error %v, stored %q", err, string(store.account.AccessToken))
			case !row.good && (err == nil || !strings.Contains(err.Error(), "sub is another") || store.updates != 0):
				t.Errorf("got %v: %v, stored %d times", fresh, err, store.updates)
			}
		})
	}
}

// TestRefreshByTwoProcesses refreshes in another process between the store lookup and the request. The provider refuses
// the used refresh token. Then the tokens that the other process has stored are returned, if they are valid.
func TestRefreshByTwoProcesses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		lasts time.Duration // lifetime of the token that the other process has stored; 0: none stored
		down  bool          // the provider is unavailable instead
		good  bool
	}{
		{"stored in between", time.Hour, false, true},
		{"nothing stored", 0, false, false},
		{"stored, and over again", 30 * time.Second, false, false},
		{"stored, and the provider is down", time.Hour, true, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			store := &oneAccount{}
			var s *rotation
			var end time.Time
			s = &rotation{answer: func(*http.Request) (int, string) {
				if row.lasts > 0 {
					other := store.account
					other.AccessToken, other.RefreshToken, other.ExpiresAt = "a2", "r2", end
					_ = store.UpdateAccount(t.Context(), &other)
				}
				if row.down {
					return 503, ""
				}
				return 400, `{"error":"invalid_grant"}`
			}}
			a, account := s.app(t, store)
			store.account, end = *account, a.clock.Now().Add(row.lasts)
			fresh, err := a.Refresh(t.Context(), account)
			switch {
			case row.good && (err != nil || fresh.AccessToken != "a2" || fresh.RefreshToken != "r2"):
				t.Errorf("got %v: %v", fresh, err)
			case !row.good && (err == nil || errors.Is(err, core.ErrInvalidGrant) == row.down):
				t.Errorf("got %v: %v", fresh, err)
			}
			if len(s.seen()) != 1 {
				t.Errorf("%d requests to the provider", len(s.seen()))
			}
		})
	}
}
