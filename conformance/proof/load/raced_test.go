//go:build race

package main

// raced is true under the race detector, whose pools drop objects at random, so that there are more allocations.
const raced = true
