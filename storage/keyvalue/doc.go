// Package keyvalue stores users, accounts, sessions, tokens and records in a key-value database. It is the shared
// implementation of the stores on Redis, etcd and bbolt. Applications import one of those.
//
// It requires little from an [Engine]: to read some keys and ordered sets from one snapshot, and to write some keys if
// others have not changed since they were read. This package implements everything else: indexes, retries and
// transactions.
//
// # Records
//
// A key is a kind, a slash and the name of the record. Special bytes in the name are escaped, and a name longer than
// 400 bytes is replaced by its hash.
//
//	user/ID                      the user, as JSON
//	email/ADDRESS                the ID of the user with this address
//	account/PROVIDER/ACCOUNT     the account, as JSON
//	session/TOKEN                a copy of the user, as JSON
//	expires/TOKEN                the expiry of the session, as JSON
//	token/IDENTIFIER/TOKEN       the verification token, as JSON
//	passkey/CREDENTIAL           the passkey, as JSON
//	record/KIND/KEY              the plugin record, as JSON
//	stale/ID                     see below
//	cleaned/SET                  the position of DeleteExpired in its rounds, as JSON
//
// The sets are sessions, tokens and records (those that expire), user-accounts/ID, user-sessions/ID, user-passkeys/ID
// and user-records/ID, stale, and ends. A name in ends begins with a time: then DeleteExpired should check whether a
// session, a token or a record has expired. For a session or a record, that time may be earlier than the expiry.
//
// # Copies
//
// A session and its user are read in one round trip because the session contains a copy of the user. An outdated copy
// is never used. A call that changes or deletes a user adds the user, in the same commit, to the set stale. Then the
// copies are renewed or deleted. The user is removed from the set only when all copies are done and no other call has
// changed the user meanwhile. Reading a session reads the set from the same snapshot: if it contains the user, the user
// is read instead of the copy. A copy is written only by a commit that checks that the user has not changed. So every
// copy equals its user, or the user is in the set. If a crash interrupts this, the next call that changes the user, or
// DeleteExpired, completes it.
package keyvalue
