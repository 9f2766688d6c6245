package sqlstore

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
)

// kind is the effect of a statement. It decides how the store treats a text that the database cannot represent.
type kind int

const (
	reads   kind = iota // looks up by key: no row can have such a key
	removes             // changes or deletes by key: no row can have such a key
	writes              // stores the text: the store must reject it
)

// statement is prepared on first use and then cached, unless the driver caches statements.
type statement struct {
	text  string
	kind  kind
	args  []int      // the index of the value for each placeholder, from 0
	mu    sync.Mutex // serializes preparation
	ready atomic.Pointer[sql.Stmt]
}

func (s *statement) prepared(ctx context.Context, db *sql.DB) (*sql.Stmt, error) {
	if p := s.ready.Load(); p != nil {
		return p, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.ready.Load(); p != nil {
		return p, nil
	}
	p, err := db.PrepareContext(ctx, s.text)
	if err == nil {
		s.ready.Store(p)
	}
	return p, err
}

// textForm is a special index in args. Its value reports whether times are written as texts.
const textForm = -1

// orderedArgs returns the values in the order of the placeholders.
func (e *engine) orderedArgs(s *statement, args []any) []any {
	out := make([]any, len(s.args))
	for i, n := range s.args {
		if n == textForm {
			out[i] = e.form() != MillisTimes
			continue
		}
		out[i] = args[n]
		if at, ok := out[i].(moment); ok {
			out[i] = written(int64(at), e.form())
		}
	}
	return out
}

// statements are all statements of a store.
type statements struct {
	all []*statement

	// eachEmail reads a whole table. It is not in all, and is not prepared.
	eachEmail string

	createUser, user, userByEmail, userByAccount, updateUser, userExists, deleteUser *statement

	linkAccount, account, accounts, updateAccount, unlinkAccount, deleteAccounts *statement

	createSession, session, sessionAndUser, updateSession, deleteSession, sessions *statement
	deleteSessions, deleteExpiredSessions, expiredSessions                         *statement
	sessionsAndUsers                                                               [len(groups)]*statement

	createToken, token, useToken, deleteExpiredTokens, expiredTokens *statement

	createAuthenticator, authenticator, authenticators, updateCounter *statement
	deleteAuthenticator, deleteAuthenticators                         *statement

	createRecord, createUnownedRecord, record, updateRecord, recordToTake, takeRecord *statement
	userRecords, userRecordsOfKind, deleteUserRecords, deleteUserRecordsOfKind        *statement
	deleteExpiredRecords, expiredRecords                                              *statement
}

// The keys of lookups.
var (
	byID          = []string{"id"}
	byEmail       = []string{"email"}
	byUser        = []string{"userId"}
	byAccount     = []string{"provider", "providerAccountId"}
	byToken       = []string{"sessionToken"}
	byLink        = []string{"identifier", "token"}
	byCredential  = []string{"credentialID"}
	byName        = []string{"kind", "key"}
	byVersion     = []string{"kind", "key", "version"}
	byUserAndKind = []string{"userId", "kind"}
)
