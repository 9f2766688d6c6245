// Package adapters runs Auth.js's own database adapters, from npm, beside the stores of Latchkey, on one database: each
// goes on with what the other wrote. Its tests need node, npm and the database servers.
package adapters
