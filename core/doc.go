// Package core is the engine of Latchkey: sign-in and sessions for web applications, without a router, a driver or a provider.
//
// [New] checks a [Config] and returns an [Auth], which is immutable and safe for concurrent use. [Auth.Handle] answers a [Request]
// to one of its routes with a [Response]; an adapter translates both for a router. For the application's own pages [Begin] starts a
// [Visit], which reads the session on first use, once.
//
// A request walks through these stations, each a file: it is read once (call.go) and guarded (rules.go, csrf.go,
// callbackurl.go), then the action answers (action_*.go). A sign-in callback goes on: the flow says who the visitor is
// (flow_*.go), the signIn callback allows it (allow.go), the account is linked to a user (link.go) and a session is
// issued (session_issue.go), the only place that makes one. Errors of all stations become answers in one function
// (failure.go).
//
// The wire format is that of Auth.js: endpoints, cookies, tokens, environment variables. docs/protocol.md has its rules
// by number, docs/glossary.md the words.
package core
