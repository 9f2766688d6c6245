// Package faults makes the store fail at each step of each flow, in each way, on each database. It checks the response,
// the stored data, and a second attempt. It contains only tests. `make faults` runs all cases on nine databases, `go
// test` runs some of them on the in-memory store.
package faults
