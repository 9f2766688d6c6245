//go:build race

package wire

// Raced reports whether the race detector watches this program.
const Raced = true
