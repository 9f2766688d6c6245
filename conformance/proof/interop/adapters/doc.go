// Package adapters runs Auth.js's database adapters from npm and Latchkey's stores on one database. Each continues with
// the rows of the other. The tests need node, npm and the database servers.
package adapters
