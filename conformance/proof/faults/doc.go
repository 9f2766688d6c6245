// Package faults lets the store fail at each step of each flow, in each way, on each engine: what the visitor is told,
// what is stored then, and what a second try does. It has tests only. `make faults`
// runs all of them on nine engines, `go test` some on the store in memory.
package faults
