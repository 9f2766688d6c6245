package sqlstore

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
)

// kind is what a statement does, and so what a text means that the engine cannot keep.
type kind int

const (
	reads   kind = iota // looks up by keys: nothing has such a key
	removes             // changes or removes what is found by keys: likewise
	writes              // keeps the texts it is given: it must refuse
)

// statement is prepared when it is first used and kept from then on, unless the driver does that.
type statement struct {
	text  string
	kind  kind
	args  []int      // which value stands at each placeholder, counted from 0
	mu    sync.Mutex // one preparation at a time
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

// textForm stands for a value of its own in args: whether times are written as texts.
const textForm = -1

// placed puts the values where the placeholders are.
func (e *engine) placed(s *statement, args []any) []any {
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

// statements are all that a store ever asks.
type statements struct {
	all []*statement

	// eachEmail reads a whole table: it is not among all, and not prepared.
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

// The keys that rows are found by.
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
