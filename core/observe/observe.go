// Package observe describes the calls that core makes to the store, to providers and to functions of the application
// that call a service. [github.com/latchkey-go/latchkey/core.Config].Observe receives each call and its outcome. The
// modules observe/otel and observe/prometheus of this repository turn them into traces and metrics.
package observe

import "time"

// Call describes a call. Its texts are taken from fixed lists and from the configuration. They contain no text from
// clients and no personal data.
type Call struct {
	// Target is the store or the kind of service that is called.
	Target Target
	// Name is the operation. For the store it is the operation as in the store's errors, for example "read session". A
	// transaction is "transaction", and core's calls within it are reported as well. For a provider it is "discover"
	// (its metadata, which are cached), "token", "refresh", "verify" (of an ID token, with cached keys), "userinfo"
	// and, with OAuth 1.0a, "request token". "challenge" is the verification of a token of core.Callbacks.Challenge.
	// "authorize" is core.CredentialsProvider.Authorize, and "mail" is core.EmailProvider.Send. For [Mail] it is the
	// mailkind.Kind.
	Name string
	// Provider is the ID of a configured provider. It is empty for calls to the store, for emails of plugins and for
	// "challenge".
	Provider string
}

// Target is the called service.
type Target string

// The targets of a [Call].
const (
	Store    Target = "store"    // a call to Config.Store
	Provider Target = "provider" // a request to a provider, or CredentialsProvider.Authorize
	Mail     Target = "mail"     // an attempt to send a core.BackgroundEmail
)

// Outcome is the result of a [Call].
type Outcome string

// The outcomes of a [Call].
const (
	OK          Outcome = "ok"          // the call succeeded
	Absent      Outcome = "absent"      // the store returned store.ErrNotFound
	Conflict    Outcome = "conflict"    // the store returned store.ErrConflict
	Refused     Outcome = "refused"     // a provider or Authorize refused, or core rolled back a transaction
	Unavailable Outcome = "unavailable" // the call failed or timed out before a response
	Canceled    Outcome = "canceled"    // the client disconnected
	Failed      Outcome = "failed"      // any other error
)

// AuthStats are values of one Auth in this process. core.Auth.Stats returns them.
type AuthStats struct {
	// RevocationAge is the time since this process last read the revocation list. Sessions that other processes have ended
	// since then are still accepted here. The list is read when requests arrive, so the age grows while there are none.
	RevocationAge time.Duration
	// RevocationRead reports whether the list was read. It is false if Session.Revocation is off, before the first read,
	// and for an Auth of core.PerRequest; RevocationAge is then 0.
	RevocationRead bool
}

// HashStats are values of password hashing in one process. The method Stats of the provider in module
// providers/password returns them. observe/prometheus and observe/otel read them from each provider that has this
// method.
type HashStats struct {
	// Slots is the maximum number of hashes that are computed concurrently. Busy is the number that is being computed now,
	// and Waiting the number of requests that wait for a slot.
	Slots, Busy, Waiting int
	// Refused is the number of requests since the start that were refused because too many were waiting or the wait was
	// too long.
	Refused uint64
}
