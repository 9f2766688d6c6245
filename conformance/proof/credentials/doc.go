// Package credentials tests that the credentials of programs work on every router adapter: API keys, access tokens of
// apps, and signed access tokens with their public keys. The guards of organizations are tested in the same way. The
// adapters serve real connections. It contains only tests.
package credentials
