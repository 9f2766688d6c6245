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

// Client returns the browser client, an ES module in UTF-8. Core serves it at client.js under the base path.
// Applications that bundle their scripts use a copy. The caller owns the slice.
func Client() []byte { return []byte(client) }

// ClientTypes returns client.d.ts, the TypeScript types of [Client]. The caller owns the slice.
func ClientTypes() []byte { return []byte(clientTypes) }

// ClientHash returns the hash of [Client] in the format of [StylesheetHash], for an integrity attribute or for the
// query parameter v of its URL. With that parameter, caches store the client for a year.
func ClientHash() string { return clientHash }
