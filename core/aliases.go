package core

import (
	"crypto/rand"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/ui"
)

// Package store defines the contract of stores and depends on no router, database driver or provider. The types that
// applications pass to New, receive in callbacks and read from sessions have aliases here, so that applications need
// one import. The types that only authors of stores need are in package store.

// The records that applications use.
type (
	// User is a person, as described by a profile, a store or a session. See [store.User] in package core/store for its
	// fields.
	User = store.User
	// Account links a user to their account at a provider. See [store.Account] in package core/store for its fields.
	Account = store.Account
	// Members are the additional JSON members of a session, user, token or account. See [store.Members] in package
	// core/store for its methods.
	Members = store.Members
	// Secret is a text that must never be printed. See [store.Secret] in package core/store for its methods.
	Secret = store.Secret
	// ProviderType is the type of a provider and of its accounts.
	ProviderType = store.ProviderType
	// Store stores users and their accounts, which every flow needs. See [store.Store] in package core/store, which
	// defines further interfaces that a store can implement.
	Store = store.Store
)

// The provider types.
const (
	TypeOAuth       = store.TypeOAuth
	TypeOIDC        = store.TypeOIDC
	TypeEmail       = store.TypeEmail
	TypeCredentials = store.TypeCredentials
	TypeWebAuthn    = store.TypeWebAuthn
)

// The errors of stores. The first two are not failures.
var (
	// ErrNotFound is returned by a store if the record does not exist.
	ErrNotFound = store.ErrNotFound
	// ErrConflict is returned by a store if the record exists already, or was changed since it was read.
	ErrConflict = store.ErrConflict
	// ErrStoreUnavailable is wrapped by the errors of a store whose database could not be reached or did not respond in
	// time.
	ErrStoreUnavailable = store.ErrUnavailable
)

// NewID returns a new ID for a user that the application creates in the store itself: a random UUID (RFC 9562 version
// 4) in lower case, which every store accepts.
func NewID() string {
	id, _ := random.UUID(rand.Reader) // crypto/rand never fails
	return id
}

// Theme is the look of the built-in pages. See [ui.Theme] in package ui for its fields.
type Theme = ui.Theme

// Style is the look of a provider's button. The zero value is the neutral look. See [ui.Style] in package ui for its
// fields.
type Style = ui.Style

// Field is an input of a form on the sign-in page. See [ui.Field] in package ui for its fields.
type Field = ui.Field

// Token contains the claims of a session token under StrategyJWT. See Token in package core/token for its fields. That
// package also has a reader for services without an Auth.
type Token = token.Token
