// Package storm kills processes while users sign in: two servers with one store, and the store's database. A confirmed
// operation must not be lost, a link must work only once, and no user may read another user's session. It contains only
// tests. `make storm` runs them with a hundred kills for each database and prints statistics.
package storm
