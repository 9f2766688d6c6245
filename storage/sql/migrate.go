package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// versions is the table that remembers which version the tables have.
const versions = "latchkey_schema"

// steps lead from one version of the tables to the next: steps[n] leaves version n.
var steps = []func(m *migration, ctx context.Context) error{(*migration).create}

// migration is a run of Migrate on one connection.
type migration struct {
	*engine
	conn *sql.Conn
}

// Migrate makes the tables and indexes that are missing, and completes the tables of an Auth.js adapter with columns and indexes
// that it lacks. It may run at every start and from several processes at once; a database that is current is only read. The
// version is kept in the table latchkey_schema. It fails on a database of a later version, on tables that lack what cannot be
// added, and on rows that share what must be unique.
func (s *Store) Migrate(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: migrate: %w", s.Name, withEnd(ctx, err))
		}
	}()
	if s.tx != nil {
		return errors.New("not within a transaction")
	}
	if err := s.enter(ctx, writes); err != nil {
		return err
	}
	defer s.leave(writes)
	return s.retrying(ctx, func() error { return s.migrate(ctx) })
}

func (s *Store) migrate(ctx context.Context) (err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	m := &migration{s.engine, conn}
	if at, err := m.version(ctx); err != nil || at == len(steps) {
		return err
	}
	return s.Migrating(ctx, conn, func() error {
		at, err := m.version(ctx) // another process may have been faster
		if err != nil || at == len(steps) {
			return err
		}
		for ; at < len(steps); at++ {
			if err := steps[at](m, ctx); err != nil {
				return err
			}
		}
		remove := "DELETE FROM " + s.Quote(versions) + " WHERE " + s.Quote("tables") + " = " + s.Placeholder(1)
		if err := m.run(ctx, remove, s.layout.Users); err != nil {
			return err
		}
		keep := "INSERT INTO " + s.Quote(versions) + " (" + s.Quote("tables") + ", version) VALUES (" + s.Placeholder(1) + ", " + s.Placeholder(2) + ")"
		return m.run(ctx, keep, s.layout.Users, int64(at))
	})
}

// Locked is a Migrating for engines whose DDL is part of transactions.
func Locked(begin ...string) func(ctx context.Context, conn *sql.Conn, do func() error) error {
	return func(ctx context.Context, conn *sql.Conn, do func() error) (err error) {
		if _, err := conn.ExecContext(ctx, begin[0]); err != nil {
			return err
		}
		done := false
		defer func() {
			if !done {
				_, back := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
				err = errors.Join(err, back)
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

// version reads which version the tables have: 0 when they are not there or not ours yet.
func (m *migration) version(ctx context.Context) (at int, err error) {
	there, err := m.exists(ctx, versions)
	if err != nil || !there {
		return 0, err
	}
	query := "SELECT COALESCE(MAX(version), 0) FROM " + m.Quote(versions) + " WHERE " + m.Quote("tables") + " = " + m.Placeholder(1)
	err = m.conn.QueryRowContext(ctx, query, m.layout.Users).Scan(&at)
	if err == nil && at > len(steps) {
		err = fmt.Errorf("the database has version %d and this program knows %d: use a later program", at, len(steps))
	}
	return at, err
}

func (m *migration) exists(ctx context.Context, table string) (bool, error) {
	var n int
	err := m.conn.QueryRowContext(ctx, m.TableExists, table).Scan(&n)
	return n > 0, err
}

// create makes new tables, or completes what it finds.
func (m *migration) create(ctx context.Context) error {
	there, err := m.exists(ctx, versions)
	if err != nil {
		return err
	}
	if !there {
		text := "CREATE TABLE " + m.Quote(versions) + " (" + m.Quote("tables") + " " + m.Type(Name) + " NOT NULL PRIMARY KEY, version INTEGER NOT NULL)" + m.TableSuffix
		if err := m.run(ctx, text); err != nil {
			return err
		}
	}
	related := true // foreign keys point to a table that this migration makes
	for _, t := range m.layout.tables() {
		name := m.layout.table(t.name)
		there, err := m.exists(ctx, name)
		if err != nil {
			return err
		}
		if there {
			related = related && t.name != users
			err = m.complete(ctx, &t)
		} else {
			err = m.run(ctx, m.engine.create(&t, related))
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		if err := m.indexes(ctx, &t); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return nil
}

func (m *migration) run(ctx context.Context, text string, args ...any) error {
	_, err := m.conn.ExecContext(ctx, text, args...)
	return err
}

// complete adds columns that a table of another program lacks.
func (m *migration) complete(ctx context.Context, t *table) error {
	name := m.Quote(m.layout.table(t.name))
	has, err := m.columns(ctx, "SELECT * FROM "+name+" WHERE 1 = 0")
	if err != nil {
		return err
	}
	for _, c := range t.columns {
		column := m.layout.column(t.name, c.name)
		switch {
		case slices.Contains(has, column):
		case !c.added:
			return fmt.Errorf("there is no column %s: name your columns in Layout.Columns, or rename that one", column)
		default:
			if err := m.run(ctx, "ALTER TABLE "+name+" ADD COLUMN "+m.Quote(column)+" "+m.Type(c.kind)); err != nil {
				return fmt.Errorf("add column %s: %w", column, err)
			}
		}
	}
	if t.name != users {
		return nil
	}
	// An absent address is null here. Empty ones, which would clash, belong to nobody.
	email := m.quoted(users, "email")
	return m.run(ctx, "UPDATE "+name+" SET "+email+" = NULL WHERE "+email+" = ''")
}

// columns are the names of what a query returns.
func (m *migration) columns(ctx context.Context, text string) ([]string, error) {
	rows, err := m.conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	names, err := rows.Columns()
	return names, errors.Join(err, rows.Err(), rows.Close())
}

// indexes makes the indexes that are missing. A unique one over fewer columns serves as well.
func (m *migration) indexes(ctx context.Context, t *table) error {
	have, err := m.haveIndexes(ctx, m.layout.table(t.name))
	if err != nil {
		return err
	}
	for _, want := range t.indexes {
		columns := make([]string, len(want.columns))
		for i, name := range want.columns {
			columns[i] = m.layout.column(t.name, name)
		}
		served := t.columns[0].kind == Counted && want.columns[0] == "id" || slices.ContainsFunc(have, func(i index) bool {
			if want.unique {
				return i.unique && !slices.ContainsFunc(i.columns, func(c string) bool { return !slices.Contains(columns, c) })
			}
			return i.columns[0] == columns[0]
		})
		if served {
			continue
		}
		if err := m.run(ctx, m.createIndex(t, &want)); err != nil {
			if m.Conflict(err) {
				return fmt.Errorf("rows share %v, which must be unique: merge or remove them first, then migrate again", columns)
			}
			return err
		}
	}
	return nil
}

func (m *migration) haveIndexes(ctx context.Context, table string) (list []index, err error) {
	rows, err := m.conn.QueryContext(ctx, m.Indexes, table)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	for rows.Next() {
		var name, column string
		var unique bool
		if err := rows.Scan(&name, &unique, &column); err != nil {
			return nil, err
		}
		if n := len(list); n == 0 || list[n-1].name != name {
			list = append(list, index{name: name, unique: unique})
		}
		last := &list[len(list)-1]
		last.columns = append(last.columns, column)
	}
	return list, nil
}
