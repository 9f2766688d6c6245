// Package orm tests that a store can share the connections of an ORM: GORM and bun. It contains only tests.
package orm
