// Package core implements sign-in and sessions for web applications. It depends on no router, database driver or
// provider.
//
// # New
//
// [New] checks a [Config] and returns an [Auth], or a [ConfigError] that lists all configuration errors. An Auth is
// immutable and safe for concurrent use. It handles two kinds of requests:
//
//   - Requests to the auth routes below [Auth.BasePath], such as the sign-in page, callbacks and the session as JSON.
//     [Auth.Handle] answers them.
//   - Requests to pages of the application. [Auth.Visit] reads the user's session.
//
// Applications rarely call either one directly. The adapter for their router does (authhttp for net/http, authgin,
// authecho, authfiber). An adapter converts each incoming request to a [Request] and writes the [Response]. It makes no
// decisions.
//
// # Sessions
//
// A hook of the adapter puts a [Visit] into the request's context. [SessionFrom] reads the [Session] on first use. A
// nil session without an error means that no user is signed in. An error means that the session could not be read.
// [Visit.Require] is the guard: it returns the session, or the response to send instead.
//
// Sessions are in an encrypted cookie ([StrategyJWT]) or in the database ([StrategyDatabase]); see [SessionConfig].
// [Callbacks.JWT] and [Callbacks.Session] shape their content. [Auth.NewSession] signs a user in without a provider.
// [Auth.Token] returns the claims of a cookie or a bearer token. [Auth.SignIn] and [Auth.SignOut] handle forms of the
// application.
//
// # Providers
//
// A [Provider] is a sign-in method: [OAuthProvider] (OAuth and OpenID Connect), [EmailProvider] (email links),
// [CredentialsProvider] (for example passwords) or [WebAuthnProvider] (passkeys). Package providers has constructors
// for well-known services. [Callbacks.SignIn] allows or denies a sign-in ([Allow], [Deny], [RedirectTo]).
// [Callbacks.Limit] limits attempts. [Auth.Refresh] refreshes access tokens.
//
// # Stores
//
// Without a [Config.Store], users exist only in their session. With one, users and accounts are stored. If the store
// implements further interfaces, it also stores sessions, email links and passkeys. Package core/store defines the
// interfaces. The storage modules implement them for databases, and conformance/kit/storetest tests implementations.
//
// # Per request
//
// [PerRequest] returns an Auth that selects the configuration of each request with a function, for example for tenants.
// Adapters use it like any other Auth. [Config.Audience] separates the sessions of tenants. One application can also
// have several Auths; [VisitOf] returns the visit of one of them.
//
// # Errors
//
// An [Error] has an [ErrorType], for [errors.Is], and a cause, for the log. Browsers see only the type and a reference
// number, which is also in the log message. [ReferenceFrom] returns it for the application's own error pages.
//
// # Testing
//
// [Config.Now], Rand and Getenv replace the clock, the source of randomness and the environment.
// dev/authtest signs users in from tests, without a browser or a provider. dev/idp is an
// identity provider for tests.
//
// # Wire compatibility
//
// Endpoints, cookies, tokens and environment variables are those of Auth.js. docs/protocol.md lists the rules by
// number, docs/reference.md all options, and docs/glossary.md the terms.
package core

// For readers of the source: each step of a request is in one file. router.go finds the action, call.go reads the
// request, csrf.go and callbackurl.go check it, and actions.go lists the actions. At a sign-in callback (signin.go),
// the flow identifies the user (flow_*.go), the SignIn callback allows the sign-in, the account is linked to a user
// (link.go), and a session is issued (session_issue.go, the only place that does so). failure.go turns all errors into
// responses.
