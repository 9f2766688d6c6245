// Package people holds no code: its tests take somebody the whole way with a password and an account on the store of
// each engine, without a browser: sign-up and its proof, sign-in on two devices, the end of one, a forgotten password,
// a change of address and its undo, a deletion. Accounts that are unlinked at one moment race on each engine too.
//
// Processes are killed in the middle as well: after the writes of each flow that makes something, or ends it, and
// before the answer. `go test -run TestEnds -ends` kills after each write on each engine.
//
// The HTTP service of storage/hosted is played by conformance/rig/tables.
package people
