// Package factors tests that no sign-in method creates a session before the second factor: each method, under each
// policy of plugins/secondfactor, through each router adapter and with both session strategies. The adapters serve real
// connections. OpenID Connect uses the development provider, and passkeys are verified. It contains only tests.
package factors
