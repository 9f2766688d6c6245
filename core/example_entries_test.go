package core_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/latchkey-go/latchkey/core"
)

// exampleConfig returns a configuration with passwords.
func exampleConfig(url string) core.Config {
	return core.Config{
		URL: url, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}},
	}
}

// page returns a request to a page of the application, as an adapter creates it.
func page(host string) *core.Request {
	return &core.Request{
		Method: "GET", Target: "/account", Hosts: []string{host}, Scheme: "https",
		Header: http.Header{"Accept": {"text/html"}},
	}
}

// An Auth handles requests to its own routes and reads the session of all others. The adapter for a router does both.
func ExampleNew() {
	auth, err := core.New(exampleConfig("https://app.example"))
	if err != nil {
		panic(err)
	}
	r := page("app.example")
	r.Target = "/auth/providers"
	fmt.Println(auth.BasePath(), auth.Handle(context.Background(), r).Status)
	session, err := auth.Visit(context.Background(), r).Session()
	fmt.Println(session, err)
	// Output:
	// /auth 200
	// <nil> <nil>
}

// The guard of an adapter. Handlers after it use the visit as their context.
func ExampleVisit_Require() {
	auth, err := core.New(exampleConfig("https://app.example"))
	if err != nil {
		panic(err)
	}
	visit := auth.Visit(context.Background(), page("app.example"))
	if _, refusal := visit.Require(); refusal != nil {
		fmt.Println(refusal.Status, refusal.Redirect)
	}
	// Output: 303 https://app.example/auth/signin?error=SessionRequired&callbackUrl=%2Faccount
}

// A registration form signs its user in. The handler sets the cookies.
func ExampleAuth_NewSession() {
	auth, err := core.New(exampleConfig("https://app.example"))
	if err != nil {
		panic(err)
	}
	request := page("app.example")
	cookies, err := auth.NewSession(context.Background(), request, &core.User{ID: "1", Name: "Ada"})
	if err != nil {
		panic(err)
	}
	request.Header.Set("Cookie", cookies[0].Name+"="+cookies[0].Value) // the browser's next request
	session, err := core.SessionFrom(auth.Visit(context.Background(), request))
	if err != nil {
		panic(err)
	}
	token, err := auth.Token(context.Background(), request)
	if err != nil {
		panic(err)
	}
	fmt.Println(session.User.Name, token.Subject)
	// Output: Ada 1
}

// Each tenant has its own host. The Auths are created once, and the audience separates their sessions.
func ExamplePerRequest() {
	tenants := map[string]*core.Auth{}
	for _, host := range []string{"one.example", "two.example"} {
		config := exampleConfig("https://" + host)
		config.Audience = host
		tenant, err := core.New(config)
		if err != nil {
			panic(err)
		}
		tenants[host] = tenant
	}
	auth := core.PerRequest("/auth", func(_ context.Context, r *core.Request) (*core.Auth, error) {
		if len(r.Hosts) == 1 && tenants[r.Hosts[0]] != nil {
			return tenants[r.Hosts[0]], nil
		}
		return nil, errors.New("no tenant for this host")
	})
	for _, host := range []string{"one.example", "three.example"} {
		r := page(host)
		r.Target = "/auth/signin"
		fmt.Println(host, auth.Handle(context.Background(), r).Status)
	}
	// Output:
	// one.example 200
	// three.example 500
}
