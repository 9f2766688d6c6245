// Package orm proves that a store shares the connections of an ORM: GORM and bun. It is a module of its own because of
// what these bring along, and has tests only.
package orm
