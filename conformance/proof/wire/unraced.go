//go:build !race

package wire

// Raced reports whether this program was built with the race detector.
const Raced = false
