package memory_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// The accounts of the signed-in user, with the provider's tokens. The ID of the session's user is the ID in the store.
func ExampleNew_accounts() {
	ctx := context.Background()
	store := memory.New()
	user, _ := store.CreateUser(ctx, &core.User{ID: "5b3f1c5e-8f0a-4d53-9d2a-0a4b1f0f7f11", Name: "Ada"})
	_ = store.LinkAccount(ctx, &core.Account{
		UserID: user.ID, Type: core.TypeOIDC, Provider: "google", ProviderAccountID: "1", AccessToken: "at-1",
	})
	auth, err := core.New(core.Config{
		Store: store, URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" },
	})
	if err != nil {
		panic(err)
	}
	request := &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https", Header: http.Header{},
	}
	cookies, _ := auth.NewSession(ctx, request, user)
	request.Header.Set("Cookie", cookies[0].Name+"="+cookies[0].Value)

	session, err := core.SessionFrom(auth.Visit(ctx, request)) // in a handler: the adapter's Session
	if err != nil {
		panic(err)
	}
	accounts, err := store.Accounts(ctx, session.User.ID)
	if err != nil {
		panic(err)
	}
	for _, account := range accounts {
		account, err := auth.Refresh(ctx, account)
		if err != nil {
			panic(err) // core.ErrInvalidGrant: ask the person to sign in again
		}
		fmt.Println(account.Provider, string(account.AccessToken))
	}
	// Output: google at-1
}
