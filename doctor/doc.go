// Package doctor checks a configuration and reports each problem with its fix.
//
//	config := core.Config{…}
//	doctor.Main(config) // go run . doctor
//	auth, err := core.New(config)
//
// It checks secrets, the public address, cookies, providers, the store, the mail server and the clock, both in the
// configuration and over the network. It sends providers only requests that a sign-in would send. It stores nothing,
// sends no email and signs no user in. Its findings contain no secrets.
package doctor
