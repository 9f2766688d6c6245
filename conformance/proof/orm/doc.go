// Package orm tests that a store can share the connections of an ORM: GORM and bun. It is a separate module because of
// the dependencies of the ORMs, and contains only tests.
package orm
