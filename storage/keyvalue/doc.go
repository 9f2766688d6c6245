// Package keyvalue keeps users, accounts, sessions, tokens and records in an engine that knows keys and values only. It
// is what the stores of Redis, etcd and bbolt share; an application imports one of those.
//
// What it asks of an [Engine] is little: to read some keys and ordered sets at one moment, and to write some if others
// are still as they were read. All else is done here: indexes, retries, transactions.
//
// # Records
//
// A key is a kind and what identifies the record, with a slash between. Odd bytes in it are escaped, and what is longer
// than 400 bytes is replaced by its hash.
//
//	user/ID                      the user, as JSON
//	email/ADDRESS                the id of the user who has it
//	account/PROVIDER/ACCOUNT     the account, as JSON
//	session/TOKEN                a copy of the user, as JSON
//	expires/TOKEN                when the session ends, as JSON
//	token/IDENTIFIER/TOKEN       the verification token, as JSON
//	passkey/CREDENTIAL           the passkey, as JSON
//	record/KIND/KEY              the record of a part, as JSON
//	stale/ID                     see below
//	cleaned/SET                  how far DeleteExpired has come in its rounds, as JSON
//
// The sets are sessions, tokens and records (those that end), user-accounts/ID, user-sessions/ID, user-passkeys/ID and
// user-records/ID, stale, and ends, whose names begin with the time when DeleteExpired should look whether a session, a
// token or a record has ended. That of a session or a record may be earlier than its end.
//
// # Copies
//
// A session and its user are read in one round trip because the session holds a copy of the user. It is never taken for
// the user when it is out of date. A call that changes or deletes a user enters them, in the same commit, into the set
// stale; then the copies are renewed or deleted, and only when all are, and no call has changed the user again, is the
// entry removed. Reading a session reads the set at the same moment: when it names the user, the user is read. A copy
// is written only by a commit that checks that the user is still what is copied. So every copy equals its user, or the
// user is in the set. What a crash interrupts is finished by the next call that changes the user, and by DeleteExpired.
package keyvalue
