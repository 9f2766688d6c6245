//go:build race

package main

// raced is true under the race detector.
const raced = true
