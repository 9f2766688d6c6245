//go:build race

package core_test

// raced: under the race detector pools forget on purpose, and what they forget is allocated again.
const raced = true
