// Package core is the engine of Latchkey: sign-in and sessions for web applications, without a router, a driver or a provider.
//
// [New] checks a [Config] and returns an [Auth], which is immutable and safe for concurrent use. [Auth.Handle] answers a [Request]
// to one of its routes with a [Response]; an adapter translates both for a router. For the application's own pages [Begin] starts a
// [Visit], which reads the session on first use, once.
//
// A request walks through these stations, each a file: route and origin (exchange.go), guards (handle.go, csrf.go, redirect.go),
// the action (action_*.go). A sign-in callback goes on: the flow says who the visitor is (flow_*.go), the signIn callback allows it
// (action_callback.go), the account is linked to a user (link.go) and a session is issued (issue.go), the only place that makes one.
// Errors of all stations become answers in one function (handle.go, fail).
//
// The wire format is that of Auth.js: endpoints, cookies, tokens, environment variables.
package core
