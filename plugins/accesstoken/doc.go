// Package accesstoken is a plugin that issues short-lived signed access tokens (JSON Web Tokens, RFC 9068) for other
// services. A service verifies them with the public keys at /.well-known/jwks.json, for example with package verify,
// and needs neither a secret nor the store of this application.
//
//	tokens := accesstoken.New(accesstoken.Options{Audiences: []accesstoken.Audience{
//		{ID: "https://orders.example", Scopes: []string{"orders:read", "orders:write"}},
//	}})
//	auth, err := core.New(core.Config{Plugins: []core.Plugin{tokens}, Store: store, URL: "https://app.example", …})
//	a.MountWellKnown(mux) // serves the public keys
//
// A signed-in user, or a program with an API key, requests a token with POST <base path>/access-token. Go code calls
// [Tokens.Issue]. A token is valid for one audience and at most ten minutes. It cannot be revoked before that, unless
// the service asks for the state of the token (RFC 7662).
//
// Without Options.Signer the plugin generates the signing keys, stores them encrypted, and replaces them every 90 days.
package accesstoken
