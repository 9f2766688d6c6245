package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// versions is the table with the schema version. Its column readable has the version of the oldest program that can use
// the tables. The README has the rule for steps between versions.
const (
	versions = "latchkey_schema"
	readable = "readable"
)

// current is the schema version of this program, and readableFrom that of the oldest program that can use it.
const (
	current      = 2
	readableFrom = 1
)

// migration is one run of Migrate on one connection.
type migration struct {
	*engine
	conn *sql.Conn
}

// Migrate compares the tables with those that the store needs, and creates what is missing: tables, indexes, and the
// store's own columns, such as extra. So it also restores what a schema tool has dropped from the tables of an Auth.js
// adapter. It changes and deletes nothing else. It may run at every start and in several processes concurrently. If
// nothing is missing, it runs two queries. The table latchkey_schema contains the version.
//
// On a database with a later version it adds nothing, and fails unless that version declares programs of this version
// compatible. It also fails if tables lack columns that it cannot add, and if rows violate a required unique key. The
// error names table and columns.
func (s *Store) Migrate(ctx context.Context) (err error) {
	defer func() { err = store.OpError(ctx, s.dialect.Name, "migrate", err) }()
	if s.tx != nil {
		return errors.New("not within a transaction")
	}
	started := time.Now()
	if err := s.enter(ctx, writes); err != nil {
		return err
	}
	defer s.leave(writes)
	return s.retrying(ctx, started, func() error { return s.migrate(ctx) })
}

func (s *Store) migrate(ctx context.Context) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	m := &migration{s.engine, conn}
	missing, unlockedErr := m.missing(ctx)
	// MariaDB lists a table that another process is creating before its columns. So an error counts only under the lock.
	if unlockedErr != nil || len(missing) > 0 {
		locked := false
		err := s.dialect.Migrating(ctx, conn, func() error {
			locked = true
			missing, err := m.missing(ctx) // another process may have migrated meanwhile
			if err != nil {
				return err
			}
			return m.apply(ctx, missing)
		})
		switch {
		case err != nil && unlockedErr != nil && !locked:
			return unlockedErr
		case err != nil:
			return err
		}
	}
	if s.layout.Times != FoundTimes {
		return nil
	}
	found, err := s.lookForForm(ctx, conn)
	if err == nil {
		s.writtenAs.Store(int64(found))
	}
	return err
}

// Missing lists what [Store.Migrate] would create (tables, columns and indexes) and changes nothing. It returns an
// error for a problem that Migrate cannot fix.
func (s *Store) Missing(ctx context.Context) (what []string, err error) {
	defer func() { err = store.OpError(ctx, s.dialect.Name, "compare tables", err) }()
	if s.tx != nil {
		return nil, errors.New("not within a transaction")
	}
	if err := s.enter(ctx, reads); err != nil {
		return nil, err
	}
	defer s.leave(reads)
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	changes, err := (&migration{s.engine, conn}).missing(ctx)
	return named(changes), err
}

// named describes the changes in words. It omits changes that belong to a new table, and intermediate steps.
func named(changes []change) (all []string) {
	made := map[string]bool{}
	for _, c := range changes {
		switch {
		case c.what == "create":
			made[c.table] = true
			all = append(all, "table "+c.table)
		case made[c.table], c.args != nil, c.what == emptying:
		case c.unique != nil:
			all = append(all, "table "+c.table+": unique index over "+strings.Join(c.unique, ", "))
		case c.what == "create index":
			all = append(all, "table "+c.table+": index")
		default:
			all = append(all, "table "+c.table+": "+strings.TrimPrefix(c.what, "add "))
		}
	}
	return all
}

// emptying is the change that sets empty email addresses to null before a unique index on them is created.
const emptying = "empty addresses"

// Locked returns a function for Dialect.Migrating, for a database that supports DDL in transactions. begin are the
// statements that begin the transaction and take the lock.
func Locked(begin ...string) func(ctx context.Context, conn *sql.Conn, do func() error) error {
	return func(ctx context.Context, conn *sql.Conn, do func() error) (err error) {
		rollBack := func() error {
			_, err := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			return err
		}
		if _, err := conn.ExecContext(ctx, begin[0]); err != nil {
			_ = rollBack() // an interrupted statement may have begun the transaction, and the connection would hold the lock
			return err
		}
		done := false
		defer func() {
			if !done {
				err = errors.Join(err, rollBack())
			}
		}()
		for _, lock := range begin[1:] {
			if _, err := conn.ExecContext(ctx, lock); err != nil {
				return err
			}
		}
		if err := do(); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, "COMMIT")
		done = err == nil
		return err
	}
}

// change is one statement that fixes the schema.
type change struct {
	table string // the name in the database
	what  string // the prefix of its error
	text  string
	args  []any
	// unique are the columns of a new unique index.
	unique []string
}

// apply runs the changes in order.
func (m *migration) apply(ctx context.Context, changes []change) error {
	for _, c := range changes {
		_, err := m.conn.ExecContext(ctx, c.text, c.args...)
		switch {
		case err == nil:
		case c.unique != nil && m.dialect.Conflict(err):
			return fmt.Errorf("table %s: rows have the same values of %v, which must be unique: "+
				"merge or remove them first, then call Migrate again", c.table, c.unique)
		default:
			return fmt.Errorf("table %s: %s: %w", c.table, c.what, err)
		}
	}
	return nil
}

// present is the state of a table in the database.
type present struct {
	columns []string
	indexes []index
}

// missing compares the database with the layout and returns the changes that fix the difference.
func (m *migration) missing(ctx context.Context) ([]change, error) {
	there, err := m.present(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := m.version(ctx, there[versions])
	if err != nil {
		return nil, err
	}
	related := true // the new tables have foreign keys
	for _, t := range m.layout.tables(m.dialect.Types) {
		name := m.layout.table(t.name)
		table := there[name]
		if table == nil {
			changes = append(changes, change{table: name, what: "create", text: m.create(&t, related)})
			for _, i := range t.indexes[1:] { // the first is the primary key
				changes = append(changes, change{table: name, what: "create index", text: m.createIndex(&t, &i)})
			}
			continue
		}
		related = related && t.name != users
		columns, err := m.missingColumns(&t, table)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		changes = slices.Concat(changes, columns, m.missingIndexes(&t, table))
	}
	return changes, nil
}

// present reads the existing tables of the layout and the versions table, by name.
func (m *migration) present(ctx context.Context) (there map[string]*present, err error) {
	var names []string
	var args []any
	for _, name := range []string{
		m.layout.Users, m.layout.Accounts, m.layout.Sessions, m.layout.VerificationTokens, m.layout.Authenticators,
		m.layout.Records, versions,
	} {
		args = append(args, name)
		names = append(names, "SELECT "+m.dialect.Placeholder(len(args))+" AS name")
	}
	rows, err := m.conn.QueryContext(ctx, fmt.Sprintf(m.dialect.Schema, strings.Join(names, " UNION ALL ")), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	there = map[string]*present{}
	for rows.Next() {
		var table, name, column string
		var unique bool
		var place int
		if err := rows.Scan(&table, &name, &unique, &column, &place); err != nil {
			return nil, err
		}
		p := there[table]
		if p == nil {
			p = &present{}
			there[table] = p
		}
		if name == "" {
			p.columns = append(p.columns, column)
			continue
		}
		if n := len(p.indexes); n == 0 || p.indexes[n-1].name != name {
			p.indexes = append(p.indexes, index{name: name, unique: unique})
		}
		last := &p.indexes[len(p.indexes)-1]
		last.columns = append(last.columns, column)
	}
	return there, nil
}

// version returns the changes that set the current version in the versions table. It returns an error for an
// incompatible later version.
func (m *migration) version(ctx context.Context, there *present) (changes []change, err error) {
	table, key := m.dialect.Quote(versions), m.dialect.Quote("tables")
	at, from := 0, sql.NullInt64{}
	switch {
	case there == nil:
		changes = append(changes, change{
			table: versions, what: "create",
			text: "CREATE TABLE " + table + " (" + key + " " + m.dialect.Types.Name + " NOT NULL PRIMARY KEY, " +
				"version INTEGER NOT NULL, " + readable + " INTEGER)" + m.dialect.TableSuffix,
		})
	case !slices.Contains(there.columns, readable): // created by an earlier program
		changes = append(changes, change{
			table: versions, what: "add column " + readable,
			text: "ALTER TABLE " + table + " ADD COLUMN " + readable + " INTEGER",
		})
		fallthrough
	default:
		columns := "COALESCE(MAX(version), 0), MAX(" + readable + ")"
		if len(changes) > 0 {
			columns = "COALESCE(MAX(version), 0), NULL"
		}
		query := "SELECT " + columns + " FROM " + table + " WHERE " + key + " = " + m.dialect.Placeholder(1)
		if err := m.conn.QueryRowContext(ctx, query, m.layout.Users).Scan(&at, &from); err != nil {
			return nil, err
		}
	}
	switch {
	case at > current && (!from.Valid || from.Int64 > current):
		return nil, fmt.Errorf("the schema version is %d and this program supports only %d: use a newer program", at, current)
	case at > current || at == current && from.Valid:
		return changes, nil
	}
	return append(changes,
		change{
			table: versions, what: "forget", args: []any{m.layout.Users},
			text: "DELETE FROM " + table + " WHERE " + key + " = " + m.dialect.Placeholder(1),
		},
		change{
			table: versions, what: "remember", args: []any{m.layout.Users, int64(current), int64(readableFrom)},
			text: "INSERT INTO " + table + " (" + key + ", version, " + readable + ") VALUES (" +
				m.dialect.Placeholder(1) + ", " + m.dialect.Placeholder(2) + ", " + m.dialect.Placeholder(3) + ")",
		}), nil
}

// missingColumns adds the missing columns that belong to the store. Columns of an Auth.js adapter cannot be added,
// because their values are unknown.
func (m *migration) missingColumns(t *table, there *present) (changes []change, err error) {
	name := m.layout.table(t.name)
	for _, c := range t.columns {
		column := m.layout.column(t.name, c.name)
		switch {
		case slices.Contains(there.columns, column):
		case !c.added:
			return nil, fmt.Errorf("there is no column %s: name your columns in Layout.Columns, or rename that one", column)
		default:
			text := "ALTER TABLE " + m.dialect.Quote(name) +
				" ADD COLUMN " + m.dialect.Quote(column) + " " + c.typ
			changes = append(changes, change{table: name, what: "add column " + column, text: text})
		}
	}
	return changes, nil
}

// missingIndexes adds missing indexes. A unique index over fewer columns also satisfies the requirement.
func (m *migration) missingIndexes(t *table, there *present) (changes []change) {
	name := m.layout.table(t.name)
	for _, want := range t.indexes {
		columns := make([]string, len(want.columns))
		for i, column := range want.columns {
			columns[i] = m.layout.column(t.name, column)
		}
		serves := func(i index) bool {
			if want.unique {
				return i.unique && !slices.ContainsFunc(i.columns, func(c string) bool { return !slices.Contains(columns, c) })
			}
			return i.columns[0] == columns[0]
		}
		primary := m.counted(t) && want.columns[0] == "id"
		if primary || slices.ContainsFunc(there.indexes, serves) {
			continue
		}
		made := change{table: name, what: "create index", text: m.createIndex(t, &want)}
		if want.unique {
			made.unique = columns
		}
		// A missing address is null here; empty addresses would violate the unique index.
		if t.name == users && want.name == "email" {
			email := m.quoted(users, "email")
			changes = append(changes, change{
				table: name, what: emptying,
				text: "UPDATE " + m.dialect.Quote(name) + " SET " + email + " = NULL WHERE " + email + " = ''",
			})
		}
		changes = append(changes, made)
	}
	return changes
}
