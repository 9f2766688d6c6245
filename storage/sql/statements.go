package sqlstore

import (
	"context"
	"database/sql"
	"slices"
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

// statements are all statements of a store.
type statements struct {
	all []*statement

	// eachEmail reads a whole table. It is not in all, and is not prepared.
	eachEmail string

	createUser, user, userByEmail, userByAccount, updateUser, userExists, deleteUser *statement
	usersAfter, usersByEmail, bytewise                                               *statement

	linkAccount, account, accounts, updateAccount, unlinkAccount, deleteAccounts *statement

	createSession, session, sessionAndUser, updateSession, deleteSession, sessions *statement
	deleteSessions, deleteExpiredSessions, expiredSessions                         *statement
	sessionsAndUsers                                                               [len(groups)]*statement

	createToken, token, useToken, deleteExpiredTokens, expiredTokens *statement

	createAuthenticator, authenticator, authenticators, updateCounter *statement
	deleteAuthenticator, deleteAuthenticators                         *statement

	createRecord, createUnownedRecord, record, updateRecord, recordToTake, takeRecord *statement
	recordsNamed                                                                      [len(groups)]*statement
	recordPair                                                                        *statement
	userRecords, userRecordsOfKind, deleteUserRecords, deleteUserRecordsOfKind        *statement
	deleteExpiredRecords, expiredRecords, recordsOfKind                               *statement
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
	byKind        = []string{"kind"}
	byVersion     = []string{"kind", "key", "version"}
	byUserAndKind = []string{"userId", "kind"}
)

// columnNames contains the column names of each table.
type columnNames map[string][]string

// without returns the columns of a table except names.
func (all columnNames) without(table string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(all[table]), func(name string) bool { return slices.Contains(names, name) })
}

// builder builds the SQL statements of an engine.
type builder struct {
	*engine
	columns columnNames
}

// build builds all statements.
func (e *engine) build() {
	b := &builder{engine: e, columns: columnNames{}}
	for _, t := range e.layout.tables(Types{}) {
		for _, c := range t.columns {
			b.columns[t.name] = append(b.columns[t.name], c.name)
		}
	}
	b.buildUsers()
	b.buildAccounts()
	b.buildSessions()
	b.buildTokens()
	b.buildAuthenticators()
	b.buildRecords()
}

func (b *builder) buildUsers() {
	s := &b.statements
	created := b.columns[users]
	if b.layout.IDs == IntegerIDs {
		created = created[1:]
	}
	s.createUser = b.write(writes, func(w *writer) {
		w.insert(users, created).add(" VALUES (").values(users, created).add(")")
		if b.layout.IDs == IntegerIDs && b.dialect.Returning {
			w.add(" RETURNING " + b.quoted(users, "id"))
		}
	})
	s.user = b.write(reads, func(w *writer) { w.selectFrom(users, b.columns[users]).where(users, byID) })
	s.userByEmail = b.write(reads, func(w *writer) { w.selectFrom(users, b.columns[users]).where(users, byEmail) })
	list := (&writer{engine: b.engine}).selectFrom(users, []string{"id", "email"})
	s.eachEmail = list.add(" WHERE " + b.quoted(users, "email") + " IS NOT NULL").text.String()
	s.userByAccount = b.write(reads, func(w *writer) {
		w.add("SELECT ").columns(users, "u.", b.columns[users]).add(" FROM ").table(accounts).add(" a JOIN ").table(users).
			add(" u ON u."+b.quoted(users, "id")+" = a."+b.quoted(accounts, "userId")).whereOf(accounts, "a.", byAccount)
	})
	s.updateUser = b.write(writes, func(w *writer) { w.update(users, b.columns.without(users, byID)).where(users, byID) })
	s.userExists = b.exists(users, byID)
	s.deleteUser = b.write(removes, func(w *writer) { w.deleteFrom(users).where(users, byID) })
	b.buildUserLists()
}

func (b *builder) buildUserLists() {
	s, id, email := &b.statements, b.quoted(users, "id"), b.quoted(users, "email")
	s.usersAfter = b.write(reads, func(w *writer) {
		w.selectFrom(users, b.columns[users]).add(" WHERE " + id + " > " + w.userID(w.placeholder(w.fresh())))
		w.add(" ORDER BY " + id + " LIMIT ").value(w.fresh())
	})
	s.usersByEmail = b.write(reads, func(w *writer) {
		prefix, end, after, limit := w.fresh(), w.fresh(), w.fresh(), w.fresh()
		if b.dialect.BinaryOrder != nil {
			email = b.dialect.BinaryOrder(email)
		}
		w.selectFrom(users, b.columns[users]).add(" WHERE " + email + " >= ").value(prefix)
		w.add(" AND " + email + " < ").value(end)
		w.add(" AND " + email + " > ").value(after).add(" ORDER BY " + email + " LIMIT ").value(limit)
	})
	if b.dialect.Bytewise != nil {
		s.bytewise = b.write(reads, func(w *writer) { w.add(b.dialect.Bytewise(b.dialect.Quote(b.layout.Users), email)) })
	}
}

func (b *builder) buildAccounts() {
	s := &b.statements
	s.linkAccount = b.insertOwned(accounts, b.columns[accounts])
	s.account = b.write(reads, func(w *writer) { w.selectFrom(accounts, b.columns[accounts]).where(accounts, byAccount) })
	s.accounts = b.write(reads, func(w *writer) {
		w.selectFrom(accounts, b.columns[accounts]).where(accounts, byUser).add(" ORDER BY " + b.list(accounts, byAccount))
	})
	s.updateAccount = b.write(writes, func(w *writer) {
		fixed := append([]string{"userId", "type"}, byAccount...)
		w.update(accounts, b.columns.without(accounts, fixed)).where(accounts, byAccount)
	})
	s.unlinkAccount = b.write(removes, func(w *writer) { w.deleteFrom(accounts).where(accounts, byAccount) })
	s.deleteAccounts = b.write(removes, func(w *writer) { w.deleteFrom(accounts).where(accounts, byUser) })
}

func (b *builder) buildSessions() {
	s := &b.statements
	s.createSession = b.insertOwned(sessions, b.columns[sessions])
	s.session = b.write(reads, func(w *writer) { w.selectFrom(sessions, b.columns[sessions]).where(sessions, byToken) })
	s.sessionAndUser = b.write(reads, func(w *writer) {
		b.withUser(w, false, "expires").whereOf(sessions, "s.", byToken)
	})
	if b.pool.Lookups > 0 {
		for i, n := range groups {
			s.sessionsAndUsers[i] = b.write(reads, func(w *writer) {
				b.withUser(w, b.pool.Lateral, "sessionToken", "expires").whereIn(sessions, "s.", "sessionToken", n)
			})
		}
	}
	s.updateSession = b.write(removes, func(w *writer) {
		w.update(sessions, []string{"expires"}).where(sessions, byToken)
	})
	s.deleteSession = b.take(sessions, byToken, b.columns[sessions])
	s.sessions = b.write(reads, func(w *writer) {
		w.selectFrom(sessions, b.columns[sessions]).where(sessions, byUser)
	})
	s.deleteSessions = b.write(removes, func(w *writer) { w.deleteFrom(sessions).where(sessions, byUser) })
	s.deleteExpiredSessions = b.expired(sessions)
	s.expiredSessions = b.countExpired(sessions)
}

// withUser selects columns of sessions and of the user of each, with a join or a LATERAL subquery.
func (b *builder) withUser(w *writer, lateral bool, names ...string) *writer {
	owner := "u." + b.quoted(users, "id") + " = s." + b.quoted(sessions, "userId")
	w.add("SELECT ").columns(sessions, "s.", names).add(", ").columns(users, "u.", b.columns[users]).
		add(" FROM ").table(sessions)
	if lateral {
		return w.add(" s CROSS JOIN LATERAL (SELECT * FROM ").table(users).add(" u WHERE " + owner + " LIMIT 1) u")
	}
	return w.add(" s JOIN ").table(users).add(" u ON " + owner)
}

func (b *builder) buildTokens() {
	s := &b.statements
	s.createToken = b.write(writes, func(w *writer) {
		w.insert(tokens, b.columns[tokens]).add(" VALUES (").values(tokens, b.columns[tokens]).add(")")
	})
	s.token = b.write(reads, func(w *writer) { w.selectFrom(tokens, b.columns[tokens]).where(tokens, byLink) })
	s.useToken = b.take(tokens, byLink, b.columns[tokens])
	s.deleteExpiredTokens = b.expired(tokens)
	s.expiredTokens = b.countExpired(tokens)
}

func (b *builder) buildAuthenticators() {
	s := &b.statements
	s.createAuthenticator = b.insertOwned(authenticators, b.columns[authenticators])
	s.authenticator = b.write(reads, func(w *writer) {
		w.selectFrom(authenticators, b.columns[authenticators]).where(authenticators, byCredential)
	})
	s.authenticators = b.write(reads, func(w *writer) {
		w.selectFrom(authenticators, b.columns[authenticators]).where(authenticators, byUser)
		w.add(" ORDER BY " + b.list(authenticators, byCredential))
	})
	s.updateCounter = b.write(removes, func(w *writer) {
		w.update(authenticators, []string{"counter"}).where(authenticators, byCredential)
	})
	s.deleteAuthenticator = b.write(removes, func(w *writer) {
		w.deleteFrom(authenticators).where(authenticators, byCredential)
	})
	s.deleteAuthenticators = b.write(removes, func(w *writer) {
		w.deleteFrom(authenticators).where(authenticators, byUser)
	})
}

func (b *builder) buildRecords() {
	s := &b.statements
	s.createRecord = b.insertOwned(records, b.columns[records])
	unowned := b.columns.without(records, byUser)
	s.createUnownedRecord = b.write(writes, func(w *writer) {
		w.insert(records, unowned).add(" VALUES (").values(records, unowned).add(")")
	})
	s.record = b.write(reads, func(w *writer) { w.selectFrom(records, b.columns[records]).where(records, byName) })
	if b.pool.Lookups > 0 {
		for i, n := range groups {
			s.recordsNamed[i] = b.write(reads, func(w *writer) {
				w.selectFrom(records, b.columns[records]).whereIn(records, "", "key", n)
				w.add(" AND " + w.quoted(records, "kind") + " = ").value(w.fresh())
			})
		}
	}
	s.recordPair = b.write(reads, func(w *writer) {
		w.selectFrom(records, b.columns[records]).where(records, byName).add(" UNION ALL ")
		w.selectFrom(records, b.columns[records]).where(records, byName)
	})
	s.updateRecord = b.write(writes, func(w *writer) {
		w.update(records, []string{"value", "version", "expires"}).where(records, byVersion)
	})
	taken := byName
	if !b.dialect.Returning {
		taken = byVersion // removes only the version that was read
		s.recordToTake = b.write(removes, func(w *writer) {
			w.selectFrom(records, b.columns[records]).where(records, byName).add(" FOR UPDATE")
		})
	}
	s.takeRecord = b.take(records, taken, b.columns[records])
	for _, of := range []struct {
		keys         []string
		list, delete **statement
	}{
		{byUser, &s.userRecords, &s.deleteUserRecords},
		{byUserAndKind, &s.userRecordsOfKind, &s.deleteUserRecordsOfKind},
	} {
		*of.list = b.write(reads, func(w *writer) { w.selectFrom(records, b.columns[records]).where(records, of.keys) })
		*of.delete = b.write(removes, func(w *writer) { w.deleteFrom(records).where(records, of.keys) })
	}
	s.recordsOfKind = b.write(reads, func(w *writer) {
		key, after, prefix, limit := b.quoted(records, "key"), 1, 2, 3
		w.selectFrom(records, b.columns[records]).where(records, byKind).add(" AND " + key + " > ").value(after)
		w.add(" AND SUBSTR(" + key + ", 1, LENGTH(").value(prefix).add(")) = ").value(prefix)
		w.add(" ORDER BY " + key + " LIMIT ").value(limit)
	})
	s.deleteExpiredRecords = b.expired(records)
	s.expiredRecords = b.countExpired(records)
}

func (b *builder) write(k kind, build func(w *writer)) *statement {
	w := &writer{engine: b.engine}
	build(w)
	s := &statement{text: w.text.String(), kind: k, args: w.args}
	b.all = append(b.all, s)
	return s
}

// exists selects a constant from a row with these keys, for databases that count only changed rows.
func (b *builder) exists(table string, keys []string) *statement {
	return b.write(reads, func(w *writer) { w.add("SELECT 1 FROM ").table(table).where(table, keys) })
}

// take deletes a row, and returns it if the database supports RETURNING.
func (b *builder) take(table string, keys, columns []string) *statement {
	return b.write(removes, func(w *writer) {
		w.deleteFrom(table).where(table, keys)
		if b.dialect.Returning {
			w.add(" RETURNING ").columns(table, "", columns)
		}
	})
}

// insertOwned inserts a row only if its user exists. The statement itself has the condition, because an existing
// database may lack the foreign key or not check it. The user's ID is the last value.
func (b *builder) insertOwned(table string, columns []string) *statement {
	return b.write(writes, func(w *writer) {
		w.insert(table, columns).add(" SELECT ")
		for i, name := range columns {
			if i > 0 {
				w.add(", ")
			}
			if name == "userId" {
				w.add("u." + b.quoted(users, "id"))
			} else {
				w.value(w.fresh())
			}
		}
		w.filling(table)
		w.add(" FROM ").table(users).add(" u").whereOf(users, "u.", byID)
	})
}

// expired deletes a batch of expired rows. The first value is the size of the batch; the others are those of
// expiredBefore. The condition is both outside and inside the subquery that selects the batch, so that a session that
// is extended in between is not deleted: not every version of PostgreSQL checks the position of a row again after it
// has waited for the row.
//
// With Dialect.Lingering, the batch starts at the expiry in the last value, and the statement returns the expiry of
// each deleted row.
func (b *builder) expired(table string) *statement {
	const limit = 0
	return b.write(removes, func(w *writer) {
		w.next = limit + 1
		w.deleteFrom(table).add(" WHERE ")
		if w.dialect.Among == nil {
			w.ended(table, w.next).inOrder(table).add(" LIMIT ").value(limit)
			return
		}
		from := &writer{engine: b.engine, args: w.args}
		from.add("FROM ").table(table).add(" WHERE ").ended(table, w.next)
		if b.lingering() {
			from.add(" AND " + w.quoted(table, "expires") + " >= ").value(w.next + 1)
		}
		from.inOrder(table).add(" LIMIT ").value(limit)
		w.args = from.args // continues the numbering of placeholders
		rows := w.dialect.Among(b.list(table, b.layout.primary(table)), from.text.String())
		w.add(rows+" AND (").ended(table, w.next).add(")")
		if b.lingering() {
			w.add(" RETURNING ").columns(table, "", []string{"expires"})
		}
	})
}

// primary returns the primary key of a table.
func (l *Layout) primary(name string) []string {
	list := l.tables(Types{})
	return list[slices.IndexFunc(list, func(t table) bool { return t.name == name })].primary
}

// countExpired counts the rows that expired would delete. The first value is the maximum to count.
func (b *builder) countExpired(table string) *statement {
	const limit = 0
	return b.write(reads, func(w *writer) {
		w.next = limit + 1
		w.add("SELECT COUNT(*) FROM (SELECT 1 FROM ").table(table).add(" WHERE ").ended(table, w.next)
		w.inOrder(table).add(" LIMIT ").value(limit).add(") AS expired")
	})
}
