// Package providers has the ways to sign in, a small file each: endpoints, scopes and the mapping from a profile to a
// person.
//
// Two environment variables make a working sign-in: providers.GitHub() reads AUTH_GITHUB_ID and AUTH_GITHUB_SECRET.
// [Options] changes what needs changing, and as every constructor returns a plain core provider, its fields can be set
// afterwards too. A service that is missing here is one call, [OIDC], or one [core.OAuthProvider] literal.
package providers

//go:generate go run marks_gen.go
