// Package apikey is a plugin for API keys: credentials for programs, which users create on a page and send as
// "Authorization: Bearer <key>".
//
//	keys := apikey.New(apikey.Options{
//		Prefix: "acme_live",
//		Scopes: []apikey.Scope{{Name: "orders:read", Label: "Read orders"}, {Name: "orders:write", Label: "Change orders"}},
//	})
//	auth, err := core.New(core.Config{Plugins: []core.Plugin{keys}, Store: store, …})
//	mux.Handle("GET /api/orders", a.RequirePrincipal(core.Scopes("orders:read"))(orders))
//
// Users create, rotate and revoke their keys at <base path>/api-keys. A key works for the routes that RequirePrincipal
// of the adapter protects, within its scopes. It never works for routes that require a session, for the account page,
// or for the page of the keys.
//
// A key consists of a prefix, a public ID, a secret of 190 bits and a checksum:
// "acme_live_Wq3…_k9L…". The store has the SHA-256 of the secret only. Every request costs one query, so that a revoked
// key stops working with the next request in every process.
package apikey
