// Package secondfactor is a plugin that asks for a second factor after the first one of a sign-in: a code of an
// authenticator app (TOTP, RFC 6238), a passkey, or a recovery code.
//
//	factors := secondfactor.New(secondfactor.Options{})
//	auth, err := core.New(core.Config{Plugins: []core.Plugin{factors}, …})
//
// The plugin is a sign-in gate, so it applies to every sign-in method. No session exists before the second factor was
// accepted. The pages are at <base path>/second-factor and work without JavaScript; with Accept: application/json the
// same actions are an API. The account page has a section with the user's factors.
//
// Three rules always hold:
//
//   - A code is accepted once. Of any number of concurrent requests, in any number of processes, one succeeds.
//   - A user has at most 20 wrong codes a day, over all sign-ins, browsers and processes.
//   - A change of the factors requires a recent sign-in with a second factor, if the user has one.
package secondfactor

//go:generate env GOWORK=off go tool -modfile=../tools/go.mod templ generate -include-version=false
