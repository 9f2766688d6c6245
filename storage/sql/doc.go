// Package sqlstore is the shared implementation of the stores on SQL databases: the statements of [store.Store] and its
// optional interfaces over database/sql, and the tables. A [Dialect] describes the database and a [Layout] the tables.
// Applications use the package of their database: storage/sqlite, storage/postgres or storage/mysql.
//
// [New] builds all statements. A database must support unique indexes, transactions and savepoints.
package sqlstore
