package sqlstore

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"sync/atomic"
	"time"
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

	createUser, user, userByEmail, userByAccount, updateUser, userExists, deleteUser *statement

	linkAccount, account, accounts, updateAccount, unlinkAccount, deleteAccounts *statement

	createSession, session, sessionAndUser, updateSession, deleteSession, sessions *statement
	deleteSessions, deleteExpiredSessions, expiredSessions                         *statement

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

// writer writes one statement. Values are numbered in the order in which the statement names them first.
type writer struct {
	*engine
	text strings.Builder
	args []int
	next int
}

func (e *engine) write(k kind, build func(w *writer)) *statement {
	w := &writer{engine: e}
	build(w)
	s := &statement{text: w.text.String(), kind: k, args: w.args}
	e.all = append(e.all, s)
	return s
}

// exists asks for a row, for handles that count only changed rows.
func (e *engine) exists(table string, keys []string) *statement {
	return e.write(reads, func(w *writer) { w.add("SELECT 1 FROM ").table(table).where(table, keys) })
}

// take removes a row and returns it, where the engine can do both at once.
func (e *engine) take(table string, keys, columns []string) *statement {
	return e.write(removes, func(w *writer) {
		w.deleteFrom(table).where(table, keys)
		if e.dialect.Returning {
			w.add(" RETURNING ").columns(table, "", columns)
		}
	})
}

// insertOwned inserts a row of a user who exists: the condition is in the statement, because an existing database may
// lack the foreign key, or an engine may not check it. The user's id is the last value.
func (e *engine) insertOwned(table string, columns []string) *statement {
	return e.write(writes, func(w *writer) {
		w.insert(table, columns).add(" SELECT ")
		for i, name := range columns {
			if i > 0 {
				w.add(", ")
			}
			if name == "userId" {
				w.add("u." + e.quoted(users, "id"))
			} else {
				w.value(w.fresh())
			}
		}
		w.filling(table)
		w.add(" FROM ").table(users).add(" u").whereOf(users, "u.", byID)
	})
}

// expired removes rows that have ended, as many as the first value says; the others are those of expiredBefore. The
// condition stands outside as well as inside of a query for the rows of a batch: a session that is extended between the
// two stays; not every version of PostgreSQL compares where a row stands once more after it has waited for the row.
// Where rows linger, the last value is when those ended with which a batch begins, and the ends of what is removed come
// back.
func (e *engine) expired(table string) *statement {
	const limit = 0
	return e.write(removes, func(w *writer) {
		w.next = limit + 1
		w.deleteFrom(table).add(" WHERE ")
		if w.dialect.Among == nil {
			w.ended(table, w.next).inOrder(table).add(" LIMIT ").value(limit)
			return
		}
		from := &writer{engine: e, args: w.args}
		from.add("FROM ").table(table).add(" WHERE ").ended(table, w.next)
		if e.lingering() {
			from.add(" AND " + w.quoted(table, "expires") + " >= ").value(w.next + 1)
		}
		from.inOrder(table).add(" LIMIT ").value(limit)
		w.args = from.args // placeholders are numbered on
		rows := w.dialect.Among(e.list(table, e.layout.primary(table)), from.text.String())
		w.add(rows+" AND (").ended(table, w.next).add(")")
		if e.lingering() {
			w.add(" RETURNING ").columns(table, "", []string{"expires"})
		}
	})
}

// lingering reports whether DeleteExpired begins each batch where the one before ended, which it can where times stand
// in the engine's own form, which it orders by.
func (e *engine) lingering() bool { return e.dialect.Lingering && e.layout.Times == NativeTimes }

// countExpired counts the rows that expired would remove, as many as the first value says at most.
func (e *engine) countExpired(table string) *statement {
	const limit = 0
	return e.write(reads, func(w *writer) {
		w.next = limit + 1
		w.add("SELECT COUNT(*) FROM (SELECT 1 FROM ").table(table).add(" WHERE ").ended(table, w.next)
		w.inOrder(table).add(" LIMIT ").value(limit).add(") AS expired")
	})
}

// ended is the condition for rows that have ended, whose values begin with first. Where integers stand beside texts
// each is compared with its own form, by ranges that an index serves; a text, which may be spelled in several ways,
// then by the time that it holds.
func (w *writer) ended(table string, first int) *writer {
	column := w.quoted(table, "expires")
	if w.bothForms() {
		kind := w.dialect.TypeOf(column)
		w.add("(" + column + " < ").value(first).add(" AND " + kind + " = 'integer')")
		w.add(" OR (" + column + " >= '' AND " + column + " < ").value(first + 1)
		return w.add(" AND " + kind + " = 'text' AND " + w.dialect.TextTime(column) + " < ").value(first + 2).add(")")
	}
	w.add(column + " < ").value(first)
	if w.dialect.TypeOf != nil && w.layout.Times == MillisTextTimes {
		w.add(" AND " + w.dialect.TypeOf(column) + " = 'text'")
	}
	return w
}

// inOrder takes those first that ended first, so that an engine walks along the index even where it thinks that most
// rows have ended. With two forms there are two ranges, which an engine would have to sort.
func (w *writer) inOrder(table string) *writer {
	if w.bothForms() {
		return w
	}
	return w.add(" ORDER BY " + w.quoted(table, "expires"))
}

// expiredBefore are the values of ended.
func (e *engine) expiredBefore(now time.Time) ([]any, error) {
	at, err := e.encodeTime(now)
	if err != nil || !e.bothForms() {
		return []any{at}, err
	}
	now = time.UnixMilli(now.UnixMilli()).UTC()
	return []any{now.UnixMilli(), now.Format(offsetForm), now.Format(compareForm)}, nil
}

func (w *writer) add(text string) *writer { w.text.WriteString(text); return w }

func (w *writer) table(name string) *writer { return w.add(w.dialect.Quote(w.layout.table(name))) }

func (w *writer) deleteFrom(table string) *writer { return w.add("DELETE FROM ").table(table) }

// fresh is the next value.
func (w *writer) fresh() int { w.next++; return w.next - 1 }

// placeholder stands for the n-th value, which may stand at several places.
func (w *writer) placeholder(n int) string {
	w.args = append(w.args, n)
	return w.dialect.Placeholder(len(w.args))
}

func (w *writer) value(n int) *writer { return w.add(w.placeholder(n)) }

// columns lists columns as they are read, of an alias when there is one.
func (w *writer) columns(table, alias string, names []string) *writer {
	for i, name := range names {
		if i > 0 {
			w.add(", ")
		}
		column := alias + w.quoted(table, name)
		if w.dialect.ReadTime != nil && w.layout.Times == NativeTimes && (name == "expires" || name == "emailVerified") {
			column = w.dialect.ReadTime(column)
		}
		w.add(column)
	}
	return w
}

func (w *writer) selectFrom(table string, names []string) *writer {
	return w.add("SELECT ").columns(table, "", names).add(" FROM ").table(table)
}

// insert is the beginning of an INSERT; values or filling come after.
func (w *writer) insert(table string, names []string) *writer {
	w.add("INSERT INTO ").table(table).add(" (" + w.list(table, names))
	if w.layout.recordID(table) {
		w.add(", " + w.dialect.Quote("id"))
	}
	if w.layout.stamped(table) {
		w.add(", " + w.dialect.Quote(w.layout.UpdatedAt))
	}
	return w.add(")")
}

// values are the values of insert.
func (w *writer) values(table string, names []string) *writer {
	for i := range names {
		if i > 0 {
			w.add(", ")
		}
		w.value(w.fresh())
	}
	return w.filling(table)
}

// filling are the values of columns that the contract does not know.
func (w *writer) filling(table string) *writer {
	if w.layout.recordID(table) {
		w.add(", ").value(w.fresh())
	}
	if w.layout.stamped(table) {
		w.add(", ").now()
	}
	return w
}

// now is the current time as the tables keep it.
func (w *writer) now() *writer {
	switch times := w.layout.Times; {
	case times == FoundTimes:
		return w.add("CASE WHEN " + w.placeholder(textForm) +
			" THEN " + w.dialect.NowText + " ELSE " + w.dialect.Now + " END")
	case w.dialect.TypeOf != nil && (times == ISOTimes || times == OffsetTimes):
		return w.add(w.dialect.NowText)
	}
	return w.add(w.dialect.Now)
}

func (w *writer) update(table string, names []string) *writer {
	w.add("UPDATE ").table(table).add(" SET ")
	for i, name := range names {
		if i > 0 {
			w.add(", ")
		}
		w.add(w.quoted(table, name) + " = ").value(w.fresh())
	}
	if w.layout.stamped(table) {
		w.add(", " + w.dialect.Quote(w.layout.UpdatedAt) + " = ").now()
	}
	return w
}

func (w *writer) where(table string, keys []string) *writer { return w.whereOf(table, "", keys) }

// whereOf compares keys exactly.
func (w *writer) whereOf(table, alias string, keys []string) *writer {
	for i, name := range keys {
		w.add([]string{" WHERE ", " AND "}[min(i, 1)])
		n, column := w.fresh(), alias+w.quoted(table, name)
		isID := name == "userId" || name == "id"
		switch {
		case isID && w.layout.IDs == IntegerIDs && w.dialect.IntegerID != nil:
			w.add(column + " = " + w.dialect.IntegerID(w.placeholder(n)))
		case isID && w.layout.IDs != TextIDs || w.dialect.Exact == nil || name == "version":
			w.add(column + " = ").value(n)
		default:
			w.add(column + " = ").value(n)
			w.add(" AND " + w.dialect.Exact(column, w.placeholder(n)))
		}
	}
	return w
}
