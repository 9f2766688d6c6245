// Package core is the engine of Latchkey: sign-in and sessions for web applications, without a router, a driver or a
// provider.
//
// # New
//
// [New] checks a [Config] and returns an [Auth], or a [ConfigError] that names every fault at once. An Auth is
// immutable and safe for concurrent use. It serves two kinds of requests:
//
//   - those to its own routes, below [Auth.BasePath]: sign-in page, callbacks, session JSON. [Auth.Handle] answers
//     them.
//   - those to the pages of the application: [Auth.Visit] reads the session of their visitor.
//
// Applications seldom call either: the adapter of their router does (authhttp for net/http, authgin, authecho,
// authfiber). An adapter makes a [Request] of what came in, writes the [Response], and decides nothing.
//
// # Sessions
//
// A hook of the adapter puts a [Visit] into the request's context. [SessionFrom] reads the [Session] from there, on
// first use, once: nil without an error means that no visitor is signed in, an error that this could not be found out.
// [Visit.Require] is the guard: the session, or the answer to give in its place.
//
// Sessions live in an encrypted cookie ([StrategyJWT]) or in the database ([StrategyDatabase]), as [SessionConfig]
// says. [Callbacks.JWT] and [Callbacks.Session] shape what they hold. [Auth.NewSession] signs a user in outside the
// flows, [Auth.Token] reads the claims of a cookie or a bearer token, [Auth.SignIn] and [Auth.SignOut] answer forms of
// the application.
//
// # Providers
//
// A [Provider] is one way to sign in: [OAuthProvider] (OAuth and OpenID Connect), [EmailProvider] (links by e-mail),
// [CredentialsProvider] (passwords and the like) and [WebAuthnProvider] (passkeys). Package providers has constructors
// for well-known services. [Callbacks.SignIn] allows or denies a sign-in ([Allow], [Deny], [GoTo]), [Callbacks.Limit]
// bounds attempts, [Auth.Refresh] keeps access tokens fresh.
//
// # Stores
//
// Without a [Config.Store] users are known from their session alone. With one they are kept, and with further
// interfaces sessions, e-mail links and passkeys are kept too. The contract is package core/store; the storage modules
// fulfil it for databases, and conformance/kit/storetest holds a store against it.
//
// # Per request
//
// [PerRequest] returns an Auth that lets a function choose the configuration of each request, for tenants: adapters
// take it as any other. [Config.Audience] keeps the sessions of tenants apart. Several Auths also live side by side in
// one application; [VisitOf] finds the visit of one of them.
//
// # Errors
//
// An [Error] has an [ErrorType], which [errors.Is] finds, and a cause for the log. Browsers see the type alone, and a
// reference: [ReferenceFrom] returns it for the application's own pages, and the line in the log has it too.
//
// # Testing
//
// [Config.Now], Rand and Getenv replace clock, randomness and environment. conformance/app/authtest signs users in from
// tests, without a browser and without a provider, and conformance/app/idp is a provider to sign in with.
//
// # On the wire
//
// Endpoints, cookies, tokens and environment variables are those of Auth.js. docs/protocol.md has the rules by number,
// docs/reference.md all options, docs/glossary.md the words.
package core

// For readers of the source: a request walks through these stations, each a file: it is read once (call.go) and guarded
// (router.go, csrf.go, callbackurl.go), then the action answers (actions.go). A sign-in callback (action_callback.go)
// goes on: the flow says who the visitor is (flow_*.go), the signIn callback allows it, the account is linked to a user
// (link.go) and a session is issued (session.go), the only place that makes one. Errors of all stations become
// answers in one function (failure.go).
