// Package doctor examines a configuration and tells what is wrong with it, each finding with its fix.
//
//	config := core.Config{…}
//	doctor.Main(config) // go run . doctor
//	auth, err := core.New(config)
//
// It looks at secrets, the public address, cookies, providers, the store, the mail server and the clock, with the
// configuration itself and over the network: what it sends to a provider is what a sign-in would send. It stores
// nothing, mails nothing and signs nobody in. No line of it holds a secret.
package doctor
