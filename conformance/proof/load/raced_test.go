//go:build race

package main

// raced: under the race detector pools forget on purpose, and what they forget is allocated again.
const raced = true
