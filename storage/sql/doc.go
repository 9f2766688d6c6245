// Package sqlstore is what the stores on SQL engines have in common: the statements of the contract of [store.Store]
// and its companions over database/sql, and the tables they need. A store for an engine describes the engine in a
// [Dialect]; a [Layout] describes the tables. Applications use the store of their engine: storage/sqlite,
// storage/postgres, storage/mysql.
//
// All statements are written once, in [New]. What an engine must have: unique indexes, transactions, savepoints.
package sqlstore
