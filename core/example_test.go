package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// A configuration says everything that is wrong with it at once.
func ExampleNew_problems() {
	_, err := core.New(core.Config{
		Providers: []core.Provider{&core.OAuthProvider{ID: "acme", Type: core.TypeOIDC, ClientID: "id", ClientSecret: "s"}},
		Getenv:    func(string) string { return "" },
	})
	fmt.Println(errors.Is(err, core.MissingSecret), errors.Is(err, core.InvalidEndpoints))
	// Output: true true
}

// Extra claims have a type of the application's own and are plain JSON members on the wire.
func ExampleEncode() {
	type extra struct {
		Role string `json:"role"`
	}
	config := core.Config{Callbacks: core.Callbacks{
		JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			if p.User != nil { // a sign-in
				return p.Token, core.Encode(&p.Token.Extra, extra{Role: "admin"})
			}
			return p.Token, nil
		},
		Session: func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			claims, err := core.Decode[extra](p.Token.Extra)
			if err != nil {
				return nil, err
			}
			return p.Session, p.Session.Extra.Set("role", claims.Role)
		},
	}}
	token, _ := config.Callbacks.JWT(context.Background(), core.JWTParams{Token: &core.Token{Subject: "1"}, User: &core.User{ID: "1"}})
	session, _ := config.Callbacks.Session(context.Background(), core.SessionParams{Token: token, Session: &core.Session{User: &core.User{Name: "Ada"}}})
	body, _ := session.MarshalJSON()
	fmt.Println(string(body))
	// Output: {"user":{"name":"Ada"},"role":"admin"}
}

// Handle is what an adapter calls; it needs no network.
func ExampleAuth_Handle() {
	auth, err := core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Getenv: func(string) string { return "" },
	})
	if err != nil {
		panic(err)
	}
	r := auth.Handle(context.Background(), &core.Request{Method: "GET", Target: "/auth/session", Hosts: []string{"app.example"}, Scheme: "https", Header: http.Header{}})
	fmt.Println(r.Status, string(r.Body))
	// Output: 200 null
}
