// Package verify verifies the access tokens of plugins/accesstoken, and those of any other issuer of JSON Web Tokens
// with the profile of RFC 9068, in services that receive them. It imports the standard library only.
//
//	verifier, err := verify.New(verify.Options{Issuer: "https://app.example", Audience: "https://orders.example"})
//	mux.Handle("GET /orders", verifier.Require("orders:read")(orders))
//
// The handler gets the user with [FromContext]. The public keys are requested from the issuer, once for all concurrent
// requests, and stored in memory as long as the issuer allows. A service needs no secret, and the issuer receives no
// request for a token, unless Options.Introspection is set.
//
// Package verifytest is an issuer for tests.
package verify
