package store

import (
	"context"
	"unicode/utf8"
)

// MaxPage is the maximum limit of a page of records or users.
const MaxPage = 1000

// PageLimit returns limit if it is between 1 and [MaxPage], and otherwise the nearer of the two. Stores call it at the
// start of each method that returns pages.
func PageLimit(limit int) int { return min(max(limit, 1), MaxPage) }

// PrefixEnd returns the smallest text that is greater than all texts with the prefix, in the order of bytes. It returns
// "" if there is none, for example for an empty prefix.
func PrefixEnd(prefix string) string {
	runes := []rune(prefix)
	for i := len(runes) - 1; i >= 0; i-- {
		switch next := runes[i] + 1; {
		case next == 0xd800: // surrogates are not in UTF-8
			return string(runes[:i]) + "\ue000"
		case next <= utf8.MaxRune:
			return string(runes[:i]) + string(next)
		}
	}
	return ""
}

// UserFinder lists users, for administration and exports. Core does not call it. To find the user with an exact
// address, call UserByEmail of [Store], or UserByMailbox of package core if the address may have another form.
//
// Both methods return about limit users; see [PageLimit]. The first cursor is empty; next is the cursor of the next
// page, and empty after the last one. A page can have fewer users than limit, or none, although more pages follow. A
// cursor is valid for the method and the prefix that it was returned for, also after users were created or deleted. For
// any other cursor, the result is [ErrCursor] or an arbitrary page of users. A cursor contains at most the ID or the
// address of a user, so it may be sent to a client.
type UserFinder interface {
	// ListUsers returns all users, in the order of an existing index: by ID, or in another order if the database has no
	// index that is sorted by ID (Redis, DynamoDB). A user that exists during the whole listing is returned once. A user
	// that is created or deleted in between may be returned or not.
	//
	// On Redis, a user can be returned again if many keys are deleted during the listing.
	ListUsers(ctx context.Context, cursor string, limit int) (users []*User, next string, err error)
	// ListUsersByEmail returns the users whose email address begins with prefix, sorted by address. Addresses are compared
	// exactly, so the caller should lower-case the prefix, as core lower-cases addresses. An empty prefix matches every
	// address. A user who has the same address during the whole listing is returned once.
	//
	// It returns [ErrUnsupported] if the database has no index that finds a prefix: reading every user would be too slow
	// for a request. The store's README has the conditions.
	ListUsersByEmail(ctx context.Context, prefix, cursor string, limit int) (users []*User, next string, err error)
}

// RecordLister lists the records of a kind, for queues and for administration. Core's outbox needs it to find the
// emails of a process that has stopped.
type RecordLister interface {
	// ListRecords returns about limit records of a kind whose keys begin with prefix, which may be empty; see [PageLimit].
	// The first cursor is empty; next is the cursor of the next page, and empty after the last one. The order is that of
	// the store. A page can have fewer records than limit, or none, although more pages follow.
	//
	// Expired records are returned too. A record that exists during the whole listing is returned, and can be returned
	// twice; a record that is written or deleted in between may be returned or not. A cursor can contain keys of other
	// rows, for example the token of a session: do not send it to a client.
	ListRecords(ctx context.Context, kind, prefix, cursor string, limit int) (records []*Record, next string, err error)
}
