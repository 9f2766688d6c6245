// Package storm kills processes while people sign in: two servers on one store, and the engine of the store. What a
// visitor was told is done stays done, a link is good once, and nobody reads another person's session. It has tests
// only; `make storm` runs them with a hundred kills for each engine and prints figures.
package storm
