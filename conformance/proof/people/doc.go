// Package people tests the life cycle of an account with a password on the store of each database, without a browser:
// sign-up and email verification, sign-in on two devices, the end of one session, a password reset, a change of address
// and its undo, and the deletion. It also tests concurrent operations on one account. It contains only tests.
//
// Some tests kill the process of a request: after the writes of each flow that creates or deletes something, and before
// the response. `go test -run TestEnds -ends` kills it after each write on each database.
//
// conformance/rig/tables replaces the HTTP service of storage/hosted.
package people
