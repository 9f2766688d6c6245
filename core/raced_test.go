//go:build race

package core_test

// raced reports whether the race detector is on. It makes sync.Pool drop items at random, which causes more
// allocations.
const raced = true
