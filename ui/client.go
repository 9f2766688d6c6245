package ui

import (
	_ "embed"
)

var (
	//go:embed assets/client.js
	client string
	//go:embed assets/client.d.ts
	clientTypes string

	clientHash = hash(client)
)

// Client returns the browser client, an ES module, UTF-8: core serves it at client.js under the base path, and an
// application that bundles or serves its scripts itself keeps a copy. The slice is the caller's.
func Client() []byte { return []byte(client) }

// ClientTypes returns the types of [Client] for TypeScript: client.d.ts. The slice is the caller's.
func ClientTypes() []byte { return []byte(clientTypes) }

// ClientHash returns the hash of [Client] in the form of [StylesheetHash]: for an integrity attribute, or the parameter
// v of its address, under which caches keep it for a year.
func ClientHash() string { return clientHash }
