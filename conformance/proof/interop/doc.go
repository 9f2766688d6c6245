// Package interop runs Auth.js itself beside Latchkey, with one secret and one cookie jar: what one begins the other
// goes on with. Its tests need node and npm.
package interop
