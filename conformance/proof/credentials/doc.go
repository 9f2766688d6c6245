// Package credentials tests that the credentials of programs work on every router adapter: API keys, access tokens of
// apps, and signed access tokens with their public keys. The adapters serve real connections. The guards of organizations
// are tested in the same way. It contains only tests.
package credentials
