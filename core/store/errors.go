package store

import "errors"

// ErrNotFound is the one answer of a store for "there is no such record"; any other error is a failure of the store.
var ErrNotFound = errors.New("store: not found")

// ErrConflict is the answer of a store for "such a record exists already": a taken e-mail, a linked account, a known
// credential.
var ErrConflict = errors.New("store: conflict")
