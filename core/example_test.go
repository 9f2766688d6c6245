package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// New reports all configuration errors at once.
func ExampleNew_problems() {
	_, err := core.New(core.Config{
		Providers: []core.Provider{&core.OAuthProvider{ID: "acme", Type: core.TypeOIDC, ClientID: "id", ClientSecret: "s"}},
		Getenv:    func(string) string { return "" },
	})
	fmt.Println(errors.Is(err, core.ErrMissingSecret), errors.Is(err, core.ErrorType("InvalidEndpoints")))
	// Output: true true
}

// Additional claims have a Go type in the application and are JSON members in the token. This example is for sessions
// in cookies, the default without a Store. For database sessions, see the example of Decode.
func ExampleMembers_merge() {
	type extra struct {
		Role string `json:"role"`
	}
	config := core.Config{Session: core.SessionConfig{Strategy: core.StrategyJWT}, Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if p.User != nil { // a sign-in
				return p.Token, p.Token.Extra.Merge(extra{Role: "admin"})
			}
			return p.Token, nil
		},
		Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			var claims extra
			if err := p.Token.Extra.Decode(&claims); err != nil {
				return nil, err
			}
			return p.Session, p.Session.Extra.Set("role", claims.Role)
		},
	}}
	token, _ := config.Callbacks.JWT(context.Background(),
		core.JWTParams{Token: &core.Token{Subject: "1"}, User: &core.User{ID: "1"}})
	session, _ := config.Callbacks.Session(context.Background(),
		core.SessionParams{Token: token, Session: &core.Session{User: &core.User{Name: "Ada"}}})
	body, _ := session.MarshalJSON()
	fmt.Println(string(body))
	// Output: {"user":{"name":"Ada"},"role":"admin"}
}

// The role is a column of the user's row. This example is for the database strategy, the default with a Store that has
// sessions: there is no token, and the session callback receives the stored user.
func ExampleMembers_decode() {
	type columns struct {
		Role string `json:"role"`
	}
	config := core.Config{Session: core.SessionConfig{Strategy: core.StrategyDatabase}, Callbacks: core.Callbacks{
		Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			var own columns
			if err := p.User.Extra.Decode(&own); err != nil {
				return nil, err
			}
			return p.Session, p.Session.Extra.Set("role", own.Role)
		},
	}}
	stored := &core.User{ID: "1", Name: "Ada"}
	_ = stored.Extra.Merge(columns{Role: "admin"}) // as the store returns it
	session, _ := config.Callbacks.Session(context.Background(),
		core.SessionParams{User: stored, Session: &core.Session{User: &core.User{Name: "Ada"}}})
	body, _ := session.MarshalJSON()
	fmt.Println(string(body))
	// Output: {"user":{"name":"Ada"},"role":"admin"}
}

// Handle is what an adapter calls. It needs no network.
func ExampleAuth_Handle() {
	auth, err := core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		panic(err)
	}
	r := auth.Handle(context.Background(), &core.Request{
		Method: "GET", Target: "/auth/session", Hosts: []string{"app.example"}, Scheme: "https", Header: http.Header{},
	})
	fmt.Println(r.Status, string(r.Body))
	// Output: 200 null
}

// The provider's tokens are stored in a session token: those of the account at sign-in, and refreshed ones later.
func ExampleAuth_Refresh() {
	type tokens struct { // strings, because a core.Secret is hidden in JSON
		Provider  string    `json:"provider"`
		ID        string    `json:"provider_account_id"`
		Access    string    `json:"access_token"`
		Refresh   string    `json:"refresh_token"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	var auth *core.Auth
	config := core.Config{Session: core.SessionConfig{Strategy: core.StrategyJWT}, Callbacks: core.Callbacks{
		JWT: func(ctx context.Context, p core.JWTParams) (*core.Token, error) {
			account := p.Account
			if account == nil { // not a sign-in: read the tokens that an earlier call stored
				var t tokens
				if err := p.Token.Extra.Decode(&t); err != nil || t.Refresh == "" {
					return p.Token, err
				}
				account = &core.Account{
					Provider: t.Provider, ProviderAccountID: t.ID, AccessToken: core.Secret(t.Access),
					RefreshToken: core.Secret(t.Refresh), ExpiresAt: t.ExpiresAt,
				}
			}
			account, err := auth.Refresh(ctx, account)
			if errors.Is(err, core.ErrInvalidGrant) {
				return nil, nil // ends the session: the user must sign in again
			}
			if err != nil {
				return p.Token, nil // the provider is unavailable: continue with the old tokens
			}
			return p.Token, p.Token.Extra.Merge(tokens{
				account.Provider, account.ProviderAccountID, string(account.AccessToken), string(account.RefreshToken),
				account.ExpiresAt,
			})
		},
	}}
	auth, _ = core.New(config)
}

// The provider's tokens are in a database. Refresh reads them, refreshes them if necessary, and stores them. session is
// the result of SessionFrom in a handler.
func ExampleAuth_Refresh_database() {
	var (
		auth  *core.Auth
		store interface { // a store of a storage module
			core.Store
			store.AccountStore
		}
	)
	accessToken := func(ctx context.Context, session *core.Session) (core.Secret, error) {
		accounts, err := store.Accounts(ctx, session.User.ID)
		if err != nil {
			return "", err
		}
		for _, account := range accounts {
			if account.Provider == "google" {
				account, err := auth.Refresh(ctx, account)
				if err != nil {
					return "", err // core.ErrInvalidGrant: the user must sign in again
				}
				return account.AccessToken, nil
			}
		}
		return "", core.ErrNotFound
	}
	_ = accessToken
}
