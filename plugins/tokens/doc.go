// Package tokens is a plugin that lets your own programs act for a user: command-line tools, desktop and mobile apps.
// The user signs in once in the browser; the program gets a short access token and a refresh token.
//
//	apps := tokens.New(tokens.Options{Apps: []tokens.App{{
//		ID: "acme-cli", Name: "Acme CLI", Device: true, RedirectURIs: []string{"http://127.0.0.1/callback"},
//		Scopes: []tokens.Scope{{Name: "orders:read", Label: "Read orders"}},
//	}}})
//	auth, err := core.New(core.Config{Plugins: []core.Plugin{apps}, Store: store, …})
//	mux.Handle("GET /api/orders", a.RequirePrincipal(core.Scopes("orders:read"))(orders))
//
// A program signs in with the authorization code flow and PKCE (RFC 6749, RFC 7636), with a redirect to the same
// computer or to an app (RFC 8252), or with the device flow (RFC 8628), for computers without a browser. Clients in Go
// use golang.org/x/oauth2.
//
// Access tokens work for the routes that RequirePrincipal of the adapter protects, within their scopes. They never work
// for routes that require a session, nor for the account page. Every request with one costs one query, so that a
// sign-in that the user ends stops working with the next request in every process.
//
// Refresh tokens work once. If a token is used a second time, an attacker may have copied it: the sign-in ends.
package tokens
