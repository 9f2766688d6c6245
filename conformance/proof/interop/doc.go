// Package interop runs Auth.js and Latchkey with one secret and one cookie jar. Each continues the sessions and flows
// of the other. The tests need node and npm.
package interop
