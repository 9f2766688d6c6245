// Package providers contains the providers: for each service its endpoints, scopes and profile mapping.
//
// Two environment variables are enough for a sign-in: providers.GitHub() reads AUTH_GITHUB_ID and AUTH_GITHUB_SECRET.
// [Options] changes a provider. Every constructor returns a plain core provider, so its fields can also be changed
// afterwards. For other services use [OIDC] or a [core.OAuthProvider] literal.
package providers

//go:generate go run marks_gen.go
